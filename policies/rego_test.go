package policies

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

func regoFiles(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	paths, err := fs.Glob(os.DirFS("."), "*/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if found[p], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestRegoTestsPass(t *testing.T) {
	modules, err := parseModules(os.DirFS("."), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile(modules, newCompiler().WithStrict(true))
	if err != nil {
		t.Fatal(err)
	}
	store := inmem.New()
	txn, err := store.NewTransaction(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Abort(context.Background(), txn)
	results, err := tester.NewRunner().SetCompiler(compiler).SetStore(store).SetModules(modules).
		RaiseBuiltinErrors(true).RunTests(context.Background(), txn)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for r := range results {
		ran++
		if !r.Pass() {
			t.Errorf("%s: %s.%s: %v", r.Location, r.Package, r.Name, r.Error)
		}
	}
	if ran < 2*len(mustList(t)) {
		t.Errorf("ran %d Rego tests, want at least two for each policy", ran)
	}
}

func mustList(t *testing.T) []Policy {
	t.Helper()
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRegoFilesAreFormattedAndNarrow(t *testing.T) {
	for file, b := range regoFiles(t) {
		formatted, err := format.Source(file, b)
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(formatted, b) {
			t.Errorf("%s: not as OPA's formatter writes it", file)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if len([]rune(line)) > 120 {
				t.Errorf("%s:%d: %d characters, want at most 120", file, i+1, len([]rune(line)))
			}
		}
	}
}

func TestEveryPolicyHasATestThatDeniesAndOneThatAllows(t *testing.T) {
	files := regoFiles(t)
	for file := range files {
		if path.Dir(file) == "lib" || strings.HasSuffix(file, "_test.rego") {
			continue
		}
		test := files[strings.TrimSuffix(file, ".rego")+"_test.rego"]
		for _, name := range []string{`(?m)^test_deny_\w+ if`, `(?m)^test_allow_\w+ if`} {
			if !regexp.MustCompile(name).Match(test) {
				t.Errorf("%s: its test file has no match of %s", file, name)
			}
		}
	}
}
