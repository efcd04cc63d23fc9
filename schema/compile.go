package schema

import (
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
)

//go:embed *.cue
var sources embed.FS

// compiled is the schema in one CUE context. A context is for one goroutine and
// never gives memory back, so each Loader has its own; compiling takes 2 ms.
type compiled struct {
	ctx      *cue.Context
	profile  *shape
	defaults *gap
}

func compile() (*compiled, error) {
	inst := build.NewContext().NewInstance("schema", nil)
	entries, err := sources.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	for _, e := range entries {
		data, err := sources.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		file, err := parser.ParseFile(e.Name(), data, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parse the schema: %w", err)
		}
		if err := inst.AddSyntax(file); err != nil {
			return nil, fmt.Errorf("parse the schema: %w", err)
		}
	}
	if err := inst.Complete(); err != nil {
		return nil, fmt.Errorf("resolve the schema: %w", err)
	}
	ctx := cuecontext.New()
	root := ctx.BuildInstance(inst)
	if err := root.Err(); err != nil {
		return nil, fmt.Errorf("compile the schema: %w", err)
	}
	d := &deriver{ctx: ctx, known: map[string]*shape{}}
	s := &compiled{
		ctx:      ctx,
		profile:  d.shape(root.LookupPath(cue.MakePath(cue.Def("#Profile")))),
		defaults: gaps(root.LookupPath(cue.MakePath(cue.Def("#Defaults")))),
	}
	if err := errors.Join(d.problems...); err != nil {
		return nil, fmt.Errorf("compile the schema: %w", err)
	}
	return s, nil
}

// shape is what the schema allows at one place: a mapping with known fields, a
// mapping with free keys, a list, a scalar, or a scalar or a mapping.
type shape struct {
	value    cue.Value
	id       string // alike for values of one definition
	kinds    cue.Kind
	rule     rule // of scalars
	empty    bool // a list may be
	most     int  // items of a list; 0 where only the profile's size bounds them
	fields   map[string]*shape
	names    []string // of fields, in the schema's order
	required []string
	keys     *shape // of free keys
	each     *shape // of their values
	item     *shape
	choices  []string // of an enumeration
	expect   string
	hint     string
	unit     string            // of quantities cores or bytes, of durations time
	meant    map[string]string // what is meant by words that are none of the choices
	doc      string
}

type deriver struct {
	ctx      *cue.Context
	known    map[string]*shape
	problems []error
}

// shape derives a value's shape; the definitions that values refer to are
// derived once, for a profile of 1,000 services is judged against few.
func (d *deriver) shape(v cue.Value) *shape {
	_, ref := v.ReferencePath()
	id := ref.String()
	if _, seen := d.known[id]; !seen || id == "" {
		if id == "" {
			id = "." + strconv.Itoa(len(d.known))
		}
		s := &shape{value: v, id: id, kinds: v.IncompleteKind()}
		d.known[id] = s
		s.expect, s.hint, s.unit = attribute(v, "expect"), attribute(v, "hint"), attribute(v, "unit")
		s.meant = meanings(v)
		d.judge(s)
		d.descend(s)
	}
	s := *d.known[id]
	if docs := v.Doc(); len(docs) > 0 {
		s.doc = strings.TrimSpace(docs[0].Text())
	}
	return &s
}

// judge makes what the shape's values are judged by.
func (d *deriver) judge(s *shape) {
	switch s.kinds {
	case cue.StructKind:
		s.rule = refuse
	case cue.ListKind:
		s.rule = refuse
		s.empty = s.value.Unify(d.ctx.NewList()).Validate() == nil
		s.most = mostItems(s.value)
	default:
		r, err := ruleOf(s.value)
		if err != nil {
			d.problems = append(d.problems, err)
		}
		s.rule = r
	}
}

// mostItems is the bound that list.MaxItems sets, or 0.
func mostItems(v cue.Value) int {
	for _, a := range alternatives(v) {
		if op, operands := a.Expr(); op == cue.CallOp && fmt.Sprint(operands[0]) == "list.MaxItems" {
			if most, err := operands[1].Int64(); err == nil {
				return int(most)
			}
		}
	}
	return 0
}

// attribute is what the attribute of that name says of a value, or of its definition.
func attribute(v cue.Value, name string) string {
	for _, source := range []cue.Value{v, cue.Dereference(v)} {
		if a := source.Attribute(name); a.Err() == nil {
			said, _ := a.String(0)
			return said
		}
	}
	return ""
}

// meanings are what the attribute @meant says: word=choice, and so on.
func meanings(v cue.Value) map[string]string {
	meant := map[string]string{}
	a := v.Attribute("meant")
	for i := range a.NumArgs() {
		word, choice := a.Arg(i)
		meant[word] = choice
	}
	return meant
}

func (d *deriver) descend(s *shape) {
	for _, v := range alternatives(s.value) {
		if choice, err := v.String(); err == nil {
			s.choices = append(s.choices, choice)
		}
		if v.IncompleteKind() == cue.StructKind {
			d.mapping(s, v)
		}
	}
	if s.kinds == cue.ListKind {
		s.item = d.shape(s.value.LookupPath(cue.MakePath(cue.AnyIndex)))
	}
}

// alternatives are the operands of a disjunction or a conjunction, or the value
// alone: what may be written is found among them.
func alternatives(v cue.Value) []cue.Value {
	op, operands := cue.Dereference(v).Expr()
	if op != cue.OrOp && op != cue.AndOp {
		return []cue.Value{v}
	}
	var all []cue.Value
	for _, o := range operands {
		all = append(all, alternatives(o)...)
	}
	return all
}

func (d *deriver) mapping(s *shape, v cue.Value) {
	s.fields = map[string]*shape{}
	fields, err := v.Fields(cue.Optional(true), cue.Patterns(true))
	if err != nil {
		return
	}
	for fields.Next() {
		sel := fields.Selector()
		if sel.ConstraintType() == cue.PatternConstraint {
			s.keys, s.each = d.shape(sel.Pattern()), d.shape(fields.Value())
			continue
		}
		name := sel.Unquoted()
		s.fields[name] = d.shape(fields.Value())
		s.names = append(s.names, name)
		if sel.ConstraintType() == cue.RequiredConstraint {
			s.required = append(s.required, name)
		}
	}
}
