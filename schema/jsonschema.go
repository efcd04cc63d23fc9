package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/encoding/jsonschema"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// JSONSchema is the profile's shape as a JSON Schema (draft 2020-12), for
// editors: descriptions, defaults, enumerations, patterns and bounds, and no
// field that is not known. It accepts each profile that Load accepts, and leaves
// out the rules that span fields. The error is a failure of ours.
func JSONSchema() ([]byte, error) {
	s, err := compile()
	if err != nil {
		return nil, err
	}
	root, err := s.export()
	if err != nil {
		return nil, fmt.Errorf("export the schema: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, root.appendJSON(nil), "", "  "); err != nil {
		return nil, fmt.Errorf("export the schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// exporter adds to what CUE generates: defaults, the keys and values of free
// mappings, which CUE leaves open, and what is expected of a value.
type exporter struct {
	schema *compiled
	defs   *node // the definitions so far, by name
	done   map[*node]bool
}

func (s *compiled) export() (*node, error) {
	e := &exporter{schema: s, defs: &node{kind: mapping}, done: map[*node]bool{}}
	root, err := e.generate(s.profile.value)
	if err != nil {
		return nil, err
	}
	if err := e.complete(root, s.profile); err != nil {
		return nil, err
	}
	if err := e.defaults(root, s.defaults); err != nil {
		return nil, err
	}
	e.unchain()
	slices.SortFunc(e.defs.fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	root.set("$defs", e.defs)
	return root, nil
}

// generate is what CUE makes of a value; the definitions that it refers to are
// put with the others.
func (e *exporter) generate(v cue.Value) (*node, error) {
	expr, err := jsonschema.Generate(v, &jsonschema.GenerateConfig{Version: jsonschema.VersionDraft2020_12})
	if err != nil {
		return nil, err
	}
	n := new(cueReader).node(e.schema.ctx.BuildExpr(expr), diag.Pos{}, 0)
	plain(n)
	if defs := n.get("$defs"); defs != nil {
		for _, d := range defs.fields {
			if e.defs.get(d.key) == nil {
				e.defs.set(d.key, d.value)
			}
		}
	}
	n.remove("$defs")
	return n, nil
}

// plain writes numbers without the exponent that CUE gives them.
func plain(n *node) {
	for _, f := range n.fields {
		plain(f.value)
	}
	for _, item := range n.items {
		plain(item)
	}
	if n.kind == number {
		if exact, ok := new(big.Rat).SetString(n.literal); ok {
			n.literal = profile.Exact(exact)
		}
	}
}

// complete adds to n, and to what is below it, what the shape says more.
func (e *exporter) complete(n *node, s *shape) error {
	n = e.resolve(n)
	if e.done[n] {
		return nil
	}
	e.done[n] = true
	if s.each != nil {
		return e.free(n, s)
	}
	if s.item != nil {
		items, err := e.below(n, "items")
		if err != nil {
			return err
		}
		return e.complete(items, s.item)
	}
	for _, name := range s.names {
		property, err := e.below(n, "properties", name)
		if err != nil {
			return err
		}
		property.describe(s.fields[name])
		if err := e.complete(property, s.fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// free says what the keys and the values of a mapping with free keys are.
func (e *exporter) free(n *node, s *shape) error {
	for _, part := range []struct {
		keyword string
		shape   *shape
	}{{"propertyNames", s.keys}, {"additionalProperties", s.each}} {
		generated, err := e.generate(part.shape.value)
		if err != nil {
			return err
		}
		generated.remove("$schema")
		generated.describe(part.shape)
		n.set(part.keyword, generated)
		if err := e.complete(generated, part.shape); err != nil {
			return err
		}
	}
	return nil
}

// describe says what stands there and what is expected: editors know no other
// words for a pattern than the pattern. CUE's own may be those of another place
// that refers to the same definition.
func (n *node) describe(s *shape) {
	words := s.doc
	if s.expect != "" {
		words += " Expected: " + s.expect + "."
	}
	n.remove("description")
	if words != "" {
		n.fields = slices.Insert(n.fields, 0, field{"description", &node{kind: text, literal: strings.TrimSpace(words)}})
	}
}

// unchain takes the description from definitions that others are made from:
// editors show the innermost, and the field's own would not be seen.
func (e *exporter) unchain() {
	for _, d := range e.defs.fields {
		if d.value.get("$ref") != nil {
			e.resolve(d.value).remove("description")
		}
	}
}

// defaults adds those of g to the properties at and below n.
func (e *exporter) defaults(n *node, g *gap) error {
	if g.value != nil {
		n.set("default", g.value)
		return nil
	}
	if g.item != nil {
		items, err := e.below(n, "items")
		if err != nil {
			return err
		}
		return e.defaults(items, g.item)
	}
	for _, f := range g.fields {
		property, err := e.below(n, "properties", f.key)
		if err != nil {
			return err
		}
		if err := e.defaults(property, f.gap); err != nil {
			return err
		}
	}
	return nil
}

// below is what stands below n, or below the definition or the alternatives of n.
func (e *exporter) below(n *node, path ...string) (*node, error) {
	n = e.resolve(n)
	at := n
	for _, keyword := range path {
		if at != nil {
			at = at.get(keyword)
		}
	}
	if at != nil {
		return at, nil
	}
	for _, combined := range []string{"allOf", "anyOf"} {
		if members := n.get(combined); members != nil {
			for _, member := range members.items {
				if at, err := e.below(member, path...); err == nil {
					return at, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("CUE has generated no %s", strings.Join(path, " "))
}

// resolve is the definition that n refers to, or n.
func (e *exporter) resolve(n *node) *node {
	for ref := n.get("$ref"); ref != nil; ref = n.get("$ref") {
		definition := e.defs.get(strings.TrimPrefix(ref.literal, "#/$defs/"))
		if definition == nil {
			return n
		}
		n = definition
	}
	return n
}
