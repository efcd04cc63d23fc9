package schema

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/meshgen/meshgen/internal/diag"
)

// walk goes once over a profile beside the schema's shape. It finds unknown,
// missing and duplicate fields itself, for CUE shows them in rounds, and judges
// each value by its own constraint, so that no error hides another.
// What it refuses it takes out of the tree: what is left decodes.
type walk struct {
	schema    *compiled
	positions map[string]diag.Pos
	lasts     map[string]int  // last lines, by path
	refused   map[string]bool // lists, by path, of which nothing is left
	findings  diag.List
}

// full reports whether there are as many findings as are shown. One mistake made
// everywhere is not worth the time and the memory of the rest.
func (w *walk) full() bool { return len(w.findings) >= maxFindings }

func (w *walk) report(at diag.Pos, id, subject, message string) *diag.Finding {
	w.findings = append(w.findings, diag.Finding{
		Severity: diag.Error, ID: id, Pos: at, Subject: subject, Message: message,
	})
	return &w.findings[len(w.findings)-1]
}

// document walks the whole profile; it is false when the root is something else
// and no more can be said.
func (w *walk) document(root *node) bool {
	if root.kind != mapping {
		w.report(root.pos, InvalidValue, "", "the file is "+describe(root)+", expected a mapping").Hint = "write a ClusterProfile: apiVersion, kind, metadata and spec"
		return false
	}
	if !slices.ContainsFunc(root.fields, func(f field) bool { return w.schema.profile.fields[f.key] != nil }) {
		w.foreign(root)
		return false
	}
	for _, name := range []string{"apiVersion", "kind"} {
		n := root.get(name)
		if n == nil || w.schema.profile.fields[name].accepts(n) {
			continue
		}
		if n.kind != rejected {
			w.invalid(n, w.schema.profile.fields[name], name)
		}
		return false
	}
	known := w.node(root, w.schema.profile, "")
	if isCUE(root) {
		w.unnamed(root.get("metadata").get("name"))
	}
	return known
}

func isCUE(root *node) bool { return path.Ext(root.pos.File) == ".cue" }

// unnamed says at a CUE profile without a name that it may be the part that profiles
// share: that is one until a region gives it its name.
func (w *walk) unnamed(name *node) {
	if name != nil && name.kind != incomplete {
		return
	}
	for i, f := range w.findings {
		if f.Subject == "metadata" || f.Subject == "metadata.name" {
			w.findings[i].Hint += "; or, if profiles share this, name the file otherwise: " + anyFile
		}
	}
}

// foreign refuses a file that is a profile by its name alone, such as a CUE package
// of definitions that profiles share. It is not passed over: a cluster whose profile
// is passed over seems gone.
func (w *walk) foreign(root *node) {
	f := w.report(root.pos, NotAProfile, "", "the file has a profile's name and none of a profile's fields "+strings.Join(w.schema.profile.names, ", "))
	f.Hint = "write a ClusterProfile, or name the file otherwise"
	if isCUE(root) {
		f.Hint += ": " + anyFile
	}
}

const anyFile = "CUE takes every file of a package, whatever it is called"

// node reports whether the node may stay in the tree.
func (w *walk) node(n *node, s *shape, path string) bool {
	if path != "" {
		w.positions[path] = n.pos
	}
	if n.last > 0 {
		w.lasts[path] = n.last
	}
	switch {
	case n.kind == rejected || w.full():
		return false
	case n.kind == mapping && s.kinds&cue.StructKind != 0:
		w.mapping(n, s, path)
		return true
	case n.kind == list && s.kinds&cue.ListKind != 0 && s.holds(n):
		w.list(n, s, path)
		return true
	case s.accepts(n):
		return true
	}
	w.invalid(n, s, path)
	w.refused[path] = s.kinds == cue.ListKind
	return false
}

func (w *walk) list(n *node, s *shape, path string) {
	kept := n.items[:0]
	for i, item := range n.items {
		if w.node(item, s.item, itemPath(path, i)) {
			kept = append(kept, item)
			continue
		}
		// Nothing may move up: later items keep the index of their positions.
		if s.item.kinds == cue.StructKind {
			kept = append(kept, &node{kind: mapping, pos: item.pos})
		} else {
			kept = append(kept, &node{kind: text, pos: item.pos})
		}
	}
	n.items = kept
}

func (w *walk) mapping(n *node, s *shape, path string) {
	first := map[string]diag.Pos{}
	var kept []field
	for _, f := range n.fields {
		if w.full() {
			return
		}
		at := fieldPath(path, f.key)
		if p, twice := first[f.key]; twice {
			w.report(f.value.pos, DuplicateField, at, fmt.Sprintf("%s stands twice, first on line %d", at, p.Line)).Hint = "keep one of them"
			continue
		}
		first[f.key] = f.value.pos
		if w.field(f, s, at) {
			kept = append(kept, f)
		}
	}
	n.fields = kept
	for _, name := range s.required {
		if _, there := first[name]; !there {
			at := fieldPath(path, name)
			w.report(n.pos, MissingField, at, at+" is missing").Hint = missingHint(name, s.fields[name])
		}
	}
}

func missingHint(name string, s *shape) string {
	hint := "add " + name
	if s.doc != "" {
		hint += ": " + strings.TrimSuffix(s.doc, ".")
	}
	return hint
}

func (w *walk) field(f field, s *shape, at string) bool {
	if s.each != nil {
		if !s.keys.accepts(&node{kind: text, literal: f.key}) {
			w.report(f.value.pos, InvalidValue, at, fmt.Sprintf("the key %q, expected %s", clip(f.key), s.keys.expected()))
			return false
		}
		return w.node(f.value, s.each, at)
	}
	known := s.fields[f.key]
	if known == nil {
		w.report(f.value.pos, UnknownField, at, at+" is not a field of a profile").Hint = unknownHint(f.key, s.names)
		return false
	}
	return w.node(f.value, known, at)
}

func unknownHint(key string, names []string) string {
	if near, ok := nearest(key, names); ok {
		return fmt.Sprintf("did you mean %s?", near)
	}
	sorted := slices.Sorted(slices.Values(names))
	return "the fields here are " + strings.Join(sorted, ", ")
}

// nearest looks past upper and lower case first: autoScaling is autoscaling.
func nearest(name string, candidates []string) (string, bool) {
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c, true
		}
	}
	return diag.Nearest(name, candidates)
}
