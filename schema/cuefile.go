package schema

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"github.com/meshgen/meshgen/internal/diag"
)

// readCUE evaluates the package of the file's folder. Its imports are the
// packages of its own module and CUE's builtin ones.
func (l *Loader) readCUE(fsys fs.FS, file string) (*node, diag.List) {
	files := &boundedFS{FS: fsys, sizes: map[string]int64{}}
	run := evaluate
	if l.Evaluator != nil {
		run = l.Evaluator.evaluate
	}
	root, findings := run(files, file)
	if files.exceeded {
		return nil, diag.List{atTop(file, TooLarge, fmt.Sprintf("the files of the CUE profile are larger than %d MiB together", MaxSize>>20), "split the package, or leave out what formulas do not read")}
	}
	return root, inside(files, findings)
}

// inside moves findings that CUE's scanner has put beyond the end of their line
// or file to that end.
func inside(fsys fs.FS, findings diag.List) diag.List {
	lines := map[string][][]byte{}
	for i := range findings {
		f := &findings[i]
		if _, known := lines[f.File]; !known {
			data, _ := ReadBounded(fsys, f.File) // a file that cannot be read has one line
			lines[f.File] = bytes.Split(data, []byte("\n"))
		}
		f.Line = min(max(f.Line, 1), len(lines[f.File]))
		f.Column = min(max(f.Column, 1), len(lines[f.File][f.Line-1])+1)
	}
	return findings
}

func evaluate(fsys fs.FS, file string) (*node, diag.List) {
	name, problem := packageName(fsys, file)
	if problem != nil {
		return nil, diag.List{*problem}
	}
	config := &load.Config{
		FS:         fsys,
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
	if found := programs(file, inst, map[*build.Instance]bool{}); len(found) > 0 {
		return nil, found
	}
	root := cuecontext.New().BuildInstance(inst)
	if err := root.Validate(cue.All()); err != nil {
		return nil, cueFindings(file, err)
	}
	r := &cueReader{file: file}
	tree := r.node(root, diag.Pos{File: file, Line: 1, Column: 1}, 0)
	if r.exceeded() {
		return nil, diag.List{atTop(file, TooLarge,
			fmt.Sprintf("the profile has more than %d fields and items, %d MiB of text or %d levels", MaxNodes, MaxSize>>20, MaxDepth), tooLargeHint)}
	}
	noteLastLinesOfCUE(tree, root, inst.Files)
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

// programs finds what a profile may not bring along: tasks of cue cmd, and files
// and code that are embedded. None of it would be run or read.
func programs(file string, inst *build.Instance, seen map[*build.Instance]bool) (found diag.List) {
	if seen[inst] {
		return nil
	}
	seen[inst] = true
	judge := func(at token.Pos, what string) {
		f := atTop(file, NotCUE, what+" has no place in a profile", onlyImports)
		f.Pos = cuePos(file, at)
		found = append(found, f)
	}
	for _, f := range inst.Files {
		ast.Walk(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				if strings.HasPrefix(n.Path.Value, `"tool/`) {
					judge(n.Pos(), "the import of "+n.Path.Value)
				}
			case *ast.Attribute:
				if name, _ := n.Split(); name == "embed" || name == "extern" {
					judge(n.Pos(), "the attribute @"+name)
				}
			}
			return true
		}, nil)
	}
	for _, imported := range inst.Imports {
		found = append(found, programs(file, imported, seen)...)
	}
	return found
}

const onlyImports = "import packages of the profile's own module or of CUE's standard library"

func cueFindings(file string, err error) diag.List {
	var all diag.List
	for i, e := range cueerrors.Errors(err) {
		if i == maxFindings {
			break
		}
		f := atTop(file, NotCUE, clipTo("the CUE does not evaluate: "+strings.TrimSpace(diag.Reason(e)), maxMessage), "")
		if p, ok := errorPos(file, e); ok {
			f.Pos = p
		}
		if strings.Contains(f.Message, "cannot find module") || strings.Contains(f.Message, errOffline.Error()) {
			f.Hint = onlyImports
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
	bytes int // of text
	deep  bool
}

func (r *cueReader) exceeded() bool { return r.deep || r.nodes > MaxNodes || r.bytes > MaxSize }

func (r *cueReader) node(v cue.Value, pos diag.Pos, depth int) *node {
	r.nodes++
	r.deep = r.deep || depth > MaxDepth
	if r.exceeded() {
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
	r.bytes += len(n.literal)
	return n
}

func (r *cueReader) mapping(v cue.Value, pos diag.Pos, depth int) *node {
	out := &node{kind: mapping, pos: pos}
	fields, err := v.Fields()
	for err == nil && fields.Next() {
		value := fields.Value()
		key := fields.Selector().Unquoted()
		r.bytes += len(key)
		out.fields = append(out.fields, field{key, r.node(value, r.keyPos(value, pos), depth+1)})
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
	sync.Mutex
	sizes    map[string]int64 // in bytes, of the files that were opened
	total    int64
	exceeded bool
}

// Open opens a file within what is left of the bound.
func (b *boundedFS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(b.FS, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return b.FS.Open(name)
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if !b.grant(name, info.Size()) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errTooLarge}
	}
	return b.FS.Open(name)
}

// Stat looks at a file without opening it.
func (b *boundedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }

func (b *boundedFS) grant(name string, size int64) bool {
	b.Lock()
	defer b.Unlock()
	b.total += size - b.sizes[name]
	b.sizes[name] = size
	b.exceeded = b.exceeded || b.total > MaxSize
	return !b.exceeded
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
