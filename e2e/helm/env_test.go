package helm_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"istio.io/istio/pilot/cmd/pilot-discovery/app"
	"istio.io/istio/pkg/env"
)

const (
	istioModule = "istio.io/istio"
	envPackage  = istioModule + "/pkg/env"
	istiodMain  = istioModule + "/pilot/cmd/pilot-discovery"
)

// goVariables are read by Go's runtime in every program.
var goVariables = map[string]bool{"GOMAXPROCS": true, "GOMEMLIMIT": true, "GODEBUG": true}

// scan collects the environment variables that a program of Istio registers, from
// the sources of the packages that it is built of. A version of Istio that cannot
// be linked beside another is read this way.
type scan struct {
	sources  string
	packages map[string]*source
	names    map[string]bool
}

// source is what the scan needs of a package.
type source struct {
	files     []*ast.File
	constants map[string]string
}

// registered are the variables that istiod registers in a version of Istio.
func registered(t *testing.T, sources string) map[string]bool {
	t.Helper()
	s := scan{sources, map[string]*source{}, map[string]bool{}}
	s.load(t, istiodMain)
	for _, path := range slices.Sorted(maps.Keys(s.packages)) {
		if path != envPackage {
			s.collect(s.packages[path])
		}
	}
	return s.names
}

// load parses a package of Istio and what it imports of Istio.
func (s scan) load(t *testing.T, path string) {
	t.Helper()
	below, ours := strings.CutPrefix(path, istioModule)
	if !ours || s.packages[path] != nil {
		return
	}
	found, err := build.ImportDir(s.sources+below, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &source{constants: map[string]string{}}
	s.packages[path] = p
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), found.Dir+"/"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, file)
		p.addConstants(file)
	}
	for _, imported := range found.Imports {
		s.load(t, imported)
	}
}

// addConstants remembers the file's own strings with a name; those of variables
// too, for Istio has one.
func (p *source) addConstants(file *ast.File) {
	for _, declared := range file.Decls {
		general, ok := declared.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST && general.Tok != token.VAR {
			continue
		}
		for _, spec := range general.Specs {
			values := spec.(*ast.ValueSpec)
			for i, name := range values.Names {
				if i < len(values.Values) {
					if text, ok := literal(values.Values[i]); ok {
						p.constants[name.Name] = text
					}
				}
			}
		}
	}
}

func literal(of ast.Expr) (string, bool) {
	lit, ok := of.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// collect adds the variables that a package registers, by env's functions or by
// one of its own that hands its first argument on to them.
func (s scan) collect(p *source) {
	handing := map[string]bool{}
	for _, file := range p.files {
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && handsOn(file, f) {
				handing[f.Name.Name] = true
			}
		}
	}
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && len(call.Args) > 0 && (registers(file, call) || handing[called(call)]) {
				if name, ok := s.text(p, file, call.Args[0]); ok {
					s.names[name] = true
				}
			}
			return true
		})
	}
}

// handsOn reports whether a function registers a variable that its first
// parameter names.
func handsOn(file *ast.File, f *ast.FuncDecl) bool {
	if f.Body == nil || len(f.Type.Params.List) == 0 || len(f.Type.Params.List[0].Names) == 0 {
		return false
	}
	first, found := f.Type.Params.List[0].Names[0].Name, false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 && registers(file, call) {
			name, ok := call.Args[0].(*ast.Ident)
			found = found || ok && name.Name == first
		}
		return true
	})
	return found
}

// registers reports whether a call is of env.Register or one of its kin.
func registers(file *ast.File, call *ast.CallExpr) bool {
	of, ok := function(call).(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(of.Sel.Name, "Register") {
		return false
	}
	at, ok := of.X.(*ast.Ident)
	return ok && imported(file, at.Name) == envPackage
}

// function is what is called, without type arguments.
func function(call *ast.CallExpr) ast.Expr {
	if generic, ok := call.Fun.(*ast.IndexExpr); ok {
		return generic.X
	}
	return call.Fun
}

// called is the name of a function of the same package; empty for others.
func called(call *ast.CallExpr) string {
	if name, ok := function(call).(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// imported is the path of the package that a file knows by a name.
func imported(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		path, _ := literal(spec.Path)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path[strings.LastIndex(path, "/")+1:] == name {
			return path
		}
	}
	return ""
}

// text is a string in the sources: literal, or a constant of this package or of
// another of Istio's. A variable's is not known.
func (s scan) text(p *source, file *ast.File, of ast.Expr) (string, bool) {
	switch of := of.(type) {
	case *ast.Ident:
		text, ok := p.constants[of.Name]
		return text, ok
	case *ast.SelectorExpr:
		at, ok := of.X.(*ast.Ident)
		if !ok || s.packages[imported(file, at.Name)] == nil {
			return "", false
		}
		text, ok := s.packages[imported(file, at.Name)].constants[of.Sel.Name]
		return text, ok
	}
	return literal(of)
}

// What the scan reads in the sources of the linked Istio is what that registers.
func TestTheScanFindsWhatIstioRegisters(t *testing.T) {
	app.NewRootCommand() // its package registers what istiod reads
	linked := map[string]bool{}
	for _, v := range env.VarDescriptions() {
		linked[v.Name] = true
	}
	all := releases(t)
	scanned := registered(t, all[len(all)-1].sources)
	if len(linked) < 100 {
		t.Fatalf("%d variables are registered", len(linked))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(linked)), slices.Sorted(maps.Keys(scanned))); diff != "" {
		t.Errorf("variables (-registered +scanned):\n%s", diff)
	}
}

// istiod reads every variable that the values set: a name that it does not know
// changes nothing, and nobody says so. The chart sets two of its own that istiod
// does not register, SERVICE_ACCOUNT and KUBECONFIG.
func TestIstiodReadsEveryVariable(t *testing.T) {
	all := meshes(t)
	for _, r := range releases(t) {
		names := registered(t, r.sources)
		for _, v := range discovery(all[0].install(t, r, nil).deployments[0]).Env {
			names[v.Name] = true
		}
		for _, m := range all {
			if found := unread(m.install(t, r, m.values(t)), names); len(found) > 0 {
				t.Errorf("%s: istiod %s does not read %v", m.name, r.minor, found)
			}
		}
		over, err := chartutil.ReadValues([]byte("env: {PILOT_DEBOUNCE_AFTR: 1s, PILOT_DEBOUNCE_AFTER: 1s}"))
		if err != nil {
			t.Fatal(err)
		}
		m := all[0]
		found := unread(m.install(t, r, chartutil.CoalesceTables(over, m.values(t))), names)
		if want := []string{"PILOT_DEBOUNCE_AFTR"}; !slices.Equal(found, want) {
			t.Errorf("istiod %s does not read %v, want %v", r.minor, found, want)
		}
	}
}

// unread are the variables of istiod's container that neither istiod nor Go reads.
func unread(i installed, names map[string]bool) []string {
	var all []string
	for _, v := range discovery(i.deployments[0]).Env {
		if !names[v.Name] && !goVariables[v.Name] {
			all = append(all, v.Name)
		}
	}
	return all
}

// istiod itself takes the arguments of the rendered Deployment, and the
// connection age among them as the duration that was planned.
func TestIstiodTakesItsArguments(t *testing.T) {
	all := releases(t)
	newest := all[len(all)-1]
	for _, m := range meshes(t) {
		args := discovery(m.install(t, newest, m.values(t)).deployments[0]).Args
		command, flags, err := app.NewRootCommand().Find(args)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		if err := command.ParseFlags(flags); err != nil {
			t.Fatalf("%s: istiod %v: %v", m.name, args, err)
		}
		want, err := time.ParseDuration(fmt.Sprint(m.planned("istiod.keepaliveMaxServerConnectionAge")))
		if err != nil {
			t.Fatal(err)
		}
		if age, err := command.Flags().GetDuration(strings.TrimPrefix(ageFlag, "--")); err != nil || age != want {
			t.Errorf("%s: istiod closes connections after %v, %v; want %v", m.name, age, err, want)
		}
	}
	command, _, err := app.NewRootCommand().Find([]string{"discovery"})
	if err != nil {
		t.Fatal(err)
	}
	if err := command.ParseFlags([]string{ageFlag, "900"}); err == nil {
		t.Error("istiod takes an age without a unit")
	}
}
