package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/meshgen/meshgen/"

// owners are the heavy dependencies, each with the one folder that may import it.
var owners = map[string]string{
	"cuelang.org/":                  "schema",
	"github.com/open-policy-agent/": "policies",
	"helm.sh/":                      "internal/manifests",
	"sigs.k8s.io/kustomize/":        "internal/manifests",
	"istio.io/istio/":               "internal/manifests",
	"istio.io/api/":                 "generators/sidecar",
	"istio.io/client-go/":           "generators/sidecar",
	"k8s.io/endpointslice/":         "internal/hints",
	"github.com/robfig/":            "internal/calendar",
	"gonum.org/v1/plot":             "internal/report",
	"github.com/kedacore/":          "internal/keda",
	"github.com/spf13/":             "cmd/meshgen",
	"github.com/santhosh-tekuri/":   "policies",
	"github.com/prometheus/":        "internal/prometheus",
	"gonum.org/v1/gonum/":           "internal/calibrate",
}

// nested is the module of the real parts, which no package of this one imports.
const nested = "../e2e"

// Every import among our packages is in the package table of README.md, every
// package has a row, and a heavy dependency has one place.
func TestImports(t *testing.T) {
	table := packageTable(t)
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."
		if entry.IsDir() && (hidden || file == nested) {
			return filepath.SkipDir
		}
		if filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") {
			judgeFile(t, table, seen, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range table {
		if !seen[folder] {
			t.Errorf("README.md has a row for %s, which is no package", folder)
		}
	}
}

func judgeFile(t *testing.T, table map[string][]string, seen map[string]bool, file string) {
	t.Helper()
	folder := path.Dir(filepath.ToSlash(strings.TrimPrefix(file, "../")))
	allowed, ok := table[folder]
	if !ok && !seen[folder] {
		t.Errorf("README.md's package table has no row for %s", folder)
	}
	seen[folder] = true
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		if ours, isOurs := strings.CutPrefix(name, module); isOurs && !slices.Contains(allowed, ours) {
			t.Errorf("%s imports %s, which README.md's package table does not allow", file, ours)
		}
		for prefix, owner := range owners {
			if strings.HasPrefix(name, prefix) && folder != owner {
				t.Errorf("%s imports %s, which belongs to %s alone", file, name, owner)
			}
		}
	}
}

// packageTable reads the rows "| `folder` | what it is | `import`, … |".
func packageTable(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, ok := strings.Cut(string(text), "\n## Packages\n")
	if !ok {
		t.Fatal("README.md has no section Packages")
	}
	section, _, _ := strings.Cut(below, "\n## ")
	table := map[string][]string{}
	quoted := regexp.MustCompile("`([^`]+)`")
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]*\\|([^|]*)\\|$").FindAllStringSubmatch(section, -1) {
		table[m[1]] = []string{}
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			table[m[1]] = append(table[m[1]], name[1])
		}
	}
	return table
}
