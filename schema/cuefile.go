package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"github.com/meshgen/meshgen/internal/diag"
)

// evaluationLimit bounds a CUE profile in time: a page of CUE can ask for more
// than any machine has. Evaluation cannot be interrupted, so one that exceeds
// the limit runs on until the process ends.
const evaluationLimit = 10 * time.Second

// readCUE evaluates the package of the file's folder. Its imports are the
// packages of its own module and CUE's builtin ones.
func readCUE(fsys fs.FS, file string) (*node, diag.List) {
	type result struct {
		root     *node
		findings diag.List
	}
	done := make(chan result, 1)
	go func() {
		root, findings := evaluate(fsys, file)
		done <- result{root, findings}
	}()
	select {
	case r := <-done:
		return r.root, r.findings
	case <-time.After(evaluationLimit):
		return nil, diag.List{atTop(file, TooLarge, fmt.Sprintf("the CUE profile was not evaluated within %s", evaluationLimit), "")}
	}
}

func evaluate(fsys fs.FS, file string) (*node, diag.List) {
	name, problem := packageName(fsys, file)
	if problem != nil {
		return nil, diag.List{*problem}
	}
	config := &load.Config{
		FS:         &boundedFS{FS: fsys},
		Dir:        "/" + path.Dir(file),
		Package:    name,
		Registry:   offline{},
		Env:        []string{},
		FromFSPath: func(p string) string { return strings.TrimPrefix(p, "/") },
	}
	argument := "."
	if name == "_" {
		argument = "./" + path.Base(file)
	}
	inst := load.Instances([]string{argument}, config)[0]
	if inst.Err != nil {
		return nil, cueFindings(file, inst.Err)
	}
	root := cuecontext.New().BuildInstance(inst)
	if err := root.Validate(cue.All()); err != nil {
		return nil, cueFindings(file, err)
	}
	r := &cueReader{file: file}
	tree := r.node(root, diag.Pos{File: file, Line: 1, Column: 1}, 0)
	if r.nodes > MaxNodes || r.deep {
		return nil, diag.List{atTop(file, TooLarge,
			fmt.Sprintf("the profile has more than %d fields and items, or is nested deeper than %d levels", MaxNodes, MaxDepth), "")}
	}
	return tree, nil
}

// packageName is the package that the file belongs to, "_" for none.
func packageName(fsys fs.FS, file string) (string, *diag.Finding) {
	data, problem := readFile(fsys, file)
	if problem != nil {
		return "", problem
	}
	f, err := parser.ParseFile(file, data, parser.PackageClauseOnly)
	if err != nil {
		return "", &cueFindings(file, err)[0]
	}
	if name := f.PackageName(); name != "" {
		return name, nil
	}
	return "_", nil
}

func cueFindings(file string, err error) diag.List {
	var all diag.List
	for _, e := range cueerrors.Errors(err) {
		f := atTop(file, NotCUE, "the CUE does not evaluate: "+strings.TrimSpace(e.Error()), "")
		if p, ok := errorPos(file, e); ok {
			f.Pos = p
		}
		if strings.Contains(f.Message, "cannot find module") || strings.Contains(f.Message, errOffline.Error()) {
			f.Hint = "import packages of the profile's own module or of CUE's standard library"
		}
		all = append(all, f)
	}
	return all
}

// errorPos prefers the profile's own file to those that it shares with others.
func errorPos(file string, e cueerrors.Error) (first diag.Pos, ok bool) {
	for _, p := range cueerrors.Positions(e) {
		if !p.IsValid() {
			continue
		}
		at := cuePos(file, p)
		if at.File == file {
			return at, true
		}
		if !ok {
			first, ok = at, true
		}
	}
	return first, ok
}

func cuePos(file string, p token.Pos) diag.Pos {
	if name := strings.TrimPrefix(p.Filename(), "/"); name != "" {
		file = name
	}
	return diag.Pos{File: file, Line: p.Line(), Column: p.Column()}
}

// cueReader turns an evaluated package into a tree.
type cueReader struct {
	file  string
	nodes int
	deep  bool
}

func (r *cueReader) node(v cue.Value, pos diag.Pos, depth int) *node {
	r.nodes++
	r.deep = r.deep || depth > MaxDepth
	if r.deep || r.nodes > MaxNodes {
		return &node{kind: rejected, pos: pos}
	}
	if d, ok := v.Default(); ok {
		v = d
	}
	switch v.IncompleteKind() {
	case cue.StructKind:
		return r.mapping(v, pos, depth)
	case cue.ListKind:
		return r.list(v, pos, depth)
	}
	n := scalarOf(v)
	n.pos = pos
	return n
}

func (r *cueReader) mapping(v cue.Value, pos diag.Pos, depth int) *node {
	out := &node{kind: mapping, pos: pos}
	fields, err := v.Fields()
	for err == nil && fields.Next() {
		value := fields.Value()
		out.fields = append(out.fields, field{fields.Selector().Unquoted(), r.node(value, r.keyPos(value, pos), depth+1)})
	}
	return out
}

func (r *cueReader) list(v cue.Value, pos diag.Pos, depth int) *node {
	out := &node{kind: list, pos: pos}
	items, err := v.List()
	for err == nil && items.Next() {
		value := items.Value()
		out.items = append(out.items, r.node(value, r.keyPos(value, pos), depth+1))
	}
	return out
}

// keyPos is where a field's key stands, or the value where CUE no longer knows
// the key, or the parent.
func (r *cueReader) keyPos(v cue.Value, parent diag.Pos) diag.Pos {
	if f, ok := v.Source().(*ast.Field); ok && f.Label.Pos().IsValid() {
		return cuePos(r.file, f.Label.Pos())
	}
	if p := v.Pos(); p.IsValid() && p.Filename() != "" {
		return cuePos(r.file, p)
	}
	return parent
}

// scalarOf is a CUE scalar as a node; bounds without a value are incomplete.
func scalarOf(v cue.Value) *node {
	switch v.Kind() {
	case cue.NullKind:
		return &node{kind: null}
	case cue.StringKind:
		s, err := v.String()
		if err == nil {
			return &node{kind: text, literal: s}
		}
	case cue.BoolKind, cue.IntKind, cue.FloatKind:
		b, err := v.MarshalJSON()
		if err != nil {
			break
		}
		if v.Kind() == cue.BoolKind {
			return &node{kind: boolean, literal: string(b)}
		}
		if exactNumber.Match(b) {
			return &node{kind: number, literal: string(b)}
		}
		return &node{kind: outsize, literal: string(b)}
	}
	return &node{kind: incomplete, literal: fmt.Sprint(v)}
}

// boundedFS refuses files beyond MaxSize, one by one and together.
type boundedFS struct {
	fs.FS
	total atomic.Int64
}

// Open opens a file within what is left of the bound.
func (b *boundedFS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(b.FS, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if info.Mode().IsRegular() && b.total.Add(info.Size()) > MaxSize {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errTooLarge}
	}
	return b.FS.Open(name)
}

var errOffline = errors.New("no registry is asked for modules")

// offline is a registry that has nothing.
type offline struct{}

// ModFile refuses.
func (offline) ModFile(context.Context, module.Version) (*modfile.File, error) {
	return nil, errOffline
}

// Fetch refuses.
func (offline) Fetch(context.Context, module.Version) (module.SourceLoc, error) {
	return module.SourceLoc{}, errOffline
}

// ModuleVersions refuses.
func (offline) ModuleVersions(context.Context, string) ([]string, error) {
	return nil, errOffline
}
