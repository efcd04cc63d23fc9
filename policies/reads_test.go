package policies

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// reads are the paths of an input that the evaluation of a policy reads. It
// follows each expression as OPA evaluates it: a reference to the input, or to a
// variable that holds a part of the input, is a path, wherever the rule or the
// function stands that has it.
type reads struct {
	input ast.Value
	at    map[ast.Value][]string // the paths of the input's mappings and lists, by identity
	found map[string][]string    // by the path, joined
}

// readsOf evaluates one policy over an input. Rules are not chosen by an index,
// none ends early, and no function's result is taken from before: what these read is
// read too.
func readsOf(t *testing.T, compiler *ast.Compiler, policy string, input ast.Value) map[string][]string {
	t.Helper()
	r := &reads{input: input, at: map[ast.Value][]string{}, found: map[string][]string{}}
	r.place(input, nil)
	q, err := prepared("data.meshgen."+policy+".deny[v]", rego.Compiler(compiler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Eval(context.Background(), rego.EvalParsedInput(input),
		rego.EvalQueryTracer(r), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false),
		rego.EvalVirtualCache(forgetful{topdown.NewVirtualCache()})); err != nil {
		t.Fatal(err)
	}
	return r.found
}

// forgetful remembers rules, and no function of a mapping or a list: where two are
// equal, its result for one is not that for the other, which stands elsewhere.
type forgetful struct{ topdown.VirtualCache }

// Get finds nothing for such a function.
func (c forgetful) Get(ref ast.Ref) (*ast.Term, bool) {
	if ofContainer(ref) {
		return nil, false
	}
	return c.VirtualCache.Get(ref)
}

// Put keeps nothing of such a function.
func (c forgetful) Put(ref ast.Ref, value *ast.Term) {
	if !ofContainer(ref) {
		c.VirtualCache.Put(ref, value)
	}
}

func ofContainer(ref ast.Ref) bool {
	return slices.ContainsFunc(ref, func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Object, *ast.Array, ast.Set:
			return true
		}
		return false
	})
}

// place notes where the mappings and lists stand; empty ones may be one value
// that OPA shares.
func (r *reads) place(v ast.Value, at []string) {
	children := childrenOf(v)
	if len(children) > 0 {
		r.at[v] = at
	}
	for _, c := range children {
		r.place(c.value, append(slices.Clone(at), c.key))
	}
}

type child struct {
	key   string
	value ast.Value
}

func childrenOf(v ast.Value) []child {
	var all []child
	switch v := v.(type) {
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) {
			if name, ok := key.Value.(ast.String); ok {
				all = append(all, child{string(name), value.Value})
			}
		})
	case *ast.Array:
		for i := range v.Len() {
			all = append(all, child{fmt.Sprint(i), v.Elem(i).Value})
		}
	}
	return all
}

// Enabled turns the tracer on.
func (r *reads) Enabled() bool { return true }

// Config asks for the variables' values.
func (r *reads) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

// TraceEvent takes in an expression that is evaluated.
func (r *reads) TraceEvent(e topdown.Event) {
	expr, ok := e.Node.(*ast.Expr)
	if !ok || e.Op != topdown.EvalOp {
		return
	}
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		r.term(terms, e.Locals)
	case *ast.Every:
		r.elements(terms.Domain, e.Locals)
	case []*ast.Term:
		r.call(terms[0].Value.String(), terms[1:], e.Locals)
	}
}

// call is a builtin, a function or an equality. What it is given it may read:
// object.get at a path, membership all elements, a comparison all that is below.
func (r *reads) call(name string, args []*ast.Term, locals *ast.ValueMap) {
	switch {
	case name == "object.get":
		r.follow(r.value(args[0], locals), r.steps(args[1], locals), locals)
		return
	case strings.HasPrefix(name, "internal.member_"):
		r.elements(args[len(args)-1], locals)
	case name == "equal" || name == "neq":
		for _, arg := range args {
			r.below(r.value(arg, locals))
		}
	}
	for _, arg := range args {
		r.term(arg, locals)
	}
}

// steps are what object.get is asked for: a key, or a list of them.
func (r *reads) steps(path *ast.Term, locals *ast.ValueMap) []*ast.Term {
	value := r.value(path, locals)
	list, ok := value.(*ast.Array)
	if !ok {
		return []*ast.Term{ast.NewTerm(value)}
	}
	var steps []*ast.Term
	for i := range list.Len() {
		steps = append(steps, list.Elem(i))
	}
	return steps
}

func (r *reads) term(t *ast.Term, locals *ast.ValueMap) {
	switch v := t.Value.(type) {
	case ast.Var:
		if at, ok := r.at[r.value(t, locals)]; ok {
			r.note(at)
		}
	case ast.Ref:
		r.follow(r.value(v[0], locals), v[1:], locals)
	}
}

func (r *reads) elements(t *ast.Term, locals *ast.ValueMap) {
	if at, ok := r.at[r.value(t, locals)]; ok {
		for _, c := range childrenOf(r.value(t, locals)) {
			r.note(append(slices.Clone(at), c.key))
		}
	}
}

// below is all that a part of the input holds.
func (r *reads) below(v ast.Value) {
	at, ok := r.at[v]
	if !ok {
		return
	}
	for _, c := range childrenOf(v) {
		r.note(append(slices.Clone(at), c.key))
		r.below(c.value)
	}
}

// value is what a term stands for; a variable that is not bound stands for itself.
func (r *reads) value(t *ast.Term, locals *ast.ValueMap) ast.Value {
	if t.Value.Compare(ast.InputRootDocument.Value) == 0 {
		return r.input
	}
	if _, ok := t.Value.(ast.Var); ok && locals != nil {
		if bound := locals.Get(t.Value); bound != nil {
			return bound
		}
	}
	return t.Value
}

// follow walks from a part of the input; a variable without a value is every key.
func (r *reads) follow(from ast.Value, steps []*ast.Term, locals *ast.ValueMap) {
	at, ok := r.at[from]
	if !ok {
		return
	}
	if len(steps) == 0 {
		r.note(at)
		return
	}
	key := r.value(steps[0], locals)
	for _, c := range childrenOf(from) {
		if _, any := key.(ast.Var); !any && strings.Trim(key.String(), `"`) != c.key {
			continue
		}
		if _, container := r.at[c.value]; container {
			r.follow(c.value, steps[1:], locals)
		} else if len(steps) == 1 {
			r.note(append(slices.Clone(at), c.key))
		}
	}
}

func (r *reads) note(path []string) { r.found[strings.Join(path, "\x00")] = path }

// packageOf is a policy's package below data.meshgen.
func packageOf(id string) string {
	subject, policy, _ := strings.Cut(id, "/")
	return subject + "." + strings.ReplaceAll(policy, "-", "_")
}

// readersOf are the paths that any policy reads of an input, each with the ids of
// those that do.
func readersOf(t *testing.T, doc map[string]any) map[string][]string {
	t.Helper()
	modules, err := parseModules(files, func(path string) bool { return !strings.HasSuffix(path, "_test.rego") })
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile(modules, strict(t))
	if err != nil {
		t.Fatal(err)
	}
	input, err := parsed(doc)
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string][]string{}
	for _, p := range mustList(t) {
		for _, path := range slices.Sorted(maps.Keys(readsOf(t, compiler, packageOf(p.ID), input))) {
			readers[path] = append(readers[path], p.ID)
		}
	}
	return readers
}
