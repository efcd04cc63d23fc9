package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/schema"
)

// evaluating is the name under which the test binary evaluates CUE for a test.
const evaluating = "evaluate-cue"

func TestMain(m *testing.M) {
	if os.Args[0] != evaluating {
		os.Exit(m.Run())
	}
	if err := schema.ServeEvaluator(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newEvaluator(t testing.TB) *schema.Evaluator {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := schema.NewEvaluator(func() *exec.Cmd {
		return &exec.Cmd{Path: program, Args: []string{evaluating}, Env: []string{"GOTRACEBACK=none"}}
	}, 2)
	t.Cleanup(e.Close)
	return e
}

// FuzzYAML loads any bytes as a profile: findings stand inside the file, and what
// is loaded decodes again to itself.
func FuzzYAML(f *testing.F) {
	for _, data := range seeds(f, "profile.yaml") {
		f.Add(data)
	}
	loader := &schema.Loader{}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, findings := loader.Load(fstest.MapFS{"profile.yaml": {Data: data}}, "profile.yaml")
		judgeLoad(t, data, p, findings)
	})
}

// FuzzCUE does the same with CUE, where a process of its own finds the same as
// this one. What exceeds its bounds there is not evaluated here.
func FuzzCUE(f *testing.F) {
	for _, data := range seeds(f, "profile.cue") {
		f.Add(data)
	}
	outside, inside := &schema.Loader{Evaluator: newEvaluator(f)}, &schema.Loader{}
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"profile.cue": {Data: data}}
		p, findings := outside.Load(fsys, "profile.cue")
		judgeLoad(t, data, p, findings)
		if tooMuch(findings) {
			return
		}
		_, again := inside.Load(fsys, "profile.cue")
		if diff := cmp.Diff(again, findings); diff != "" {
			t.Errorf("findings (-in this process +in another):\n%s", diff)
		}
	})
}

func tooMuch(findings diag.List) bool {
	return len(findings) == 1 && (findings[0].ID == schema.TooLarge || strings.Contains(findings[0].Message, "evaluator fails"))
}

func judgeLoad(t *testing.T, data []byte, p *profile.Profile, findings diag.List) {
	t.Helper()
	if (p == nil) != findings.HasErrors() {
		t.Errorf("profile %v beside findings %v", p, findings)
	}
	lines := 1 + bytes.Count(data, []byte("\n"))
	for _, other := range []string{"\r", "\u0085", "\u2028", "\u2029"} {
		lines += bytes.Count(data, []byte(other))
	}
	for _, finding := range findings {
		if finding.Line < 1 || finding.Line > lines || finding.Column < 1 || finding.Column > len(data)+1 || strings.HasPrefix(finding.Message, "decode") {
			t.Errorf("finding %v of a file of %d lines and %d bytes", finding, lines, len(data))
		}
	}
	if p != nil {
		decodesToItself(t, p)
	}
}

func decodesToItself(t *testing.T, p *profile.Profile) {
	t.Helper()
	first, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again := &profile.Profile{}
	if err := json.Unmarshal(first, again); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(again)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("decoded again (-first +second):\n%s", diff)
	}
}

// seeds are the profiles of one name among examples and mistakes.
func seeds(f *testing.F, name string) (all [][]byte) {
	f.Helper()
	for _, pattern := range []string{"../examples/*/*/" + name, "testdata/*.yaml", "testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			switch filepath.Ext(file) {
			case ".txtar":
				for _, member := range txtar.Parse(data).Files {
					if filepath.Base(member.Name) == name {
						all = append(all, member.Data)
					}
				}
			case filepath.Ext(name):
				if len(data) < 1<<16 {
					all = append(all, data)
				}
			}
		}
	}
	return all
}
