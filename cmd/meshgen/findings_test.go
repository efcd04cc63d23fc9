package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshgen/meshgen/policies"
)

// withoutCase are the findings that no command can be led to, each with the
// reason and the test that makes it.
var withoutCase = map[string]struct{ why, file, test string }{
	"plan/free-connections": {
		"the schema takes no model without a cost; the plan does not divide by nothing for whoever calls it otherwise",
		"internal/plan/findings_test.go", "connections that cost nothing, which the schema refuses first",
	},
	"calibrate/partial-answer": {
		"a script has no server that could warn",
		"cmd/meshgen/calibrate_test.go", "store b is away",
	},
}

// Every finding that the code can make has a row in README.md, and every row a
// finding.
func TestEveryFindingHasARow(t *testing.T) {
	t.Chdir("../..")
	if diff := cmp.Diff(findingIDs(t), rows(t, "Findings")); diff != "" {
		t.Errorf("(-in the code +in README.md):\n%s", diff)
	}
}

// What documents say of a finding is what README.md says of it.
func TestRulesAreTheTableOfFindings(t *testing.T) {
	t.Chdir("../..")
	const file = "internal/findings/rules.md"
	want := tableBelow(t, "Findings")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s; go test ./cmd/meshgen -update writes it (-README.md +rules.md):\n%s", file, diff)
	}
}

func TestEveryPolicyHasARow(t *testing.T) {
	t.Chdir("../..")
	if diff := cmp.Diff(policyIDs(t), rows(t, "Policies")); diff != "" {
		t.Errorf("(-in policies +in README.md):\n%s", diff)
	}
}

// Every finding, of a policy too, has a script that a command prints it in, and
// that expects all of its text.
func TestEveryFindingHasACase(t *testing.T) {
	t.Chdir("../..")
	expected := expectedIDs(t)
	for _, id := range slices.Concat(findingIDs(t), policyIDs(t)) {
		switch _, excused := withoutCase[id]; {
		case !expected[id] && !excused:
			t.Errorf("%s: no script compares standard error with a text that has it", id)
		case expected[id] && excused:
			t.Errorf("%s: a script has it: it needs no excuse", id)
		}
	}
	for id, c := range withoutCase {
		text, err := os.ReadFile(c.file)
		if err != nil || !strings.Contains(string(text), c.test) || !strings.Contains(string(text), id) || c.why == "" {
			t.Errorf("%s: no reason, or %s has no %q about it: %v", id, c.file, c.test, err)
		}
	}
}

// expectedIDs are the ids at the ends of lines that scripts compare standard
// error with.
func expectedIDs(t *testing.T) map[string]bool {
	t.Helper()
	scripts, err := filepath.Glob("cmd/meshgen/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			if !compared(archive, file.Name) {
				continue
			}
			for _, m := range regexp.MustCompile(`(?m): (?:error|warning): .*\[([^]]+)\]$`).FindAllSubmatch(file.Data, -1) {
				all[string(m[1])] = true
			}
		}
	}
	return all
}

// compared reports whether the script holds standard error, or the last lines of
// it, against the file.
func compared(script *txtar.Archive, file string) bool {
	line := regexp.MustCompile(`(?m)^cmp (?:stderr|last) (?:\.\./)*` + regexp.QuoteMeta(file) + `$`)
	return line.Match(script.Comment)
}

func policyIDs(t *testing.T) []string {
	t.Helper()
	list, err := policies.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

// findingIDs are the ids that the product's Go code gives to findings, sorted.
func findingIDs(t *testing.T) []string {
	t.Helper()
	var ids []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(file, func(n ast.Node) bool {
				ids = append(ids, idsIn(n)...)
				return true
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// stage is the beginning of an id, which is given as a constant or an argument
// in some places.
var stage = regexp.MustCompile(`^(schema|plan|manifests|exceptions|calibrate)/[a-z-]+$`)

// idsIn are the id that a node gives to a field ID, and a text of the form of one.
func idsIn(n ast.Node) []string {
	if field, ok := n.(*ast.KeyValueExpr); ok && isIdent(field.Key, "ID") {
		return textOf(field.Value)
	}
	if text := textOf(n); len(text) > 0 && stage.MatchString(text[0]) {
		return text
	}
	return nil
}

func isIdent(n ast.Node, name string) bool {
	ident, ok := n.(*ast.Ident)
	return ok && ident.Name == name
}

// textOf is the text of a literal string; none for anything else.
func textOf(n ast.Node) []string {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return nil
	}
	return []string{text}
}
