package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/sample"
)

var update = flag.Bool("update", false, "write what commands print into the scripts that expect it")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"meshgen": main, "meshgen-without-exchange": withoutExchange})
}

// TestScripts runs testdata/script: a command, its input, and exactly what it
// prints. $EXAMPLES is the folder of example profiles, $GOLDEN of what they
// render to.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": expectStatus, "replace": replace, "zeros": zeros, "last": last, "measured": measured,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", filepath.Join(root, "examples/clusters"))
			env.Setenv("GOLDEN", filepath.Join(root, "golden"))
			return nil
		},
	})
}

// expectStatus is the script command "status N COMMAND...": the exit status is N.
func expectStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := &exec.ExitError{}
		if !errors.As(err, &exit) {
			ts.Fatalf("run: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// replace is the script command "replace OLD NEW FILE": the first OLD
// becomes NEW, and there must be one; \n is a line's end in both.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	at := ts.MkAbs(args[2])
	data, err := os.ReadFile(at)
	ts.Check(err)
	before, after, ok := strings.Cut(string(data), lines(args[0]))
	if !ok {
		ts.Fatalf("%s has no %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(at, []byte(before+lines(args[1])+after), 0o644))
}

// zeros is the script command "zeros N FILE": a file of so many zero bytes.
func zeros(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: zeros N FILE")
	}
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	at := ts.MkAbs(args[1])
	ts.Check(os.WriteFile(at, nil, 0o644))
	ts.Check(os.Truncate(at, n))
}

// last is the script command "last N": standard error without all before its last
// N lines is the file last.
func last(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: last N")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := strings.SplitAfter(ts.ReadFile("stderr"), "\n")
	end := all[max(len(all)-1-n, 0):]
	ts.Check(os.WriteFile(ts.MkAbs("last"), []byte(strings.Join(end, "")), 0o644))
}

// measured is the script command "measured FILE FIELDS": what Prometheus would have
// seen of a typical mesh with those fields (JSON, sample.Measured) goes to a CSV
// file, or into a folder as the server's answers.
func measured(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: measured FILE FIELDS")
	}
	m := sample.TypicalMeasured(1)
	ts.Check(json.Unmarshal([]byte(args[1]), &m))
	at := ts.MkAbs(args[0])
	if filepath.Ext(at) == ".csv" {
		ts.Check(os.WriteFile(at, m.CSV(), 0o644))
		return
	}
	in := m.Input()
	ts.Check(os.MkdirAll(at, 0o755))
	for _, f := range answersOf(&in, calibrate.QueriesFor()) {
		ts.Check(os.WriteFile(filepath.Join(at, f.name), answer(*f.into), 0o644))
	}
}

// answer is series as the server's query_range prints them.
func answer(series []calibrate.Series) []byte {
	result := []any{}
	for _, s := range series {
		var values [][2]any
		for _, p := range s.Points {
			values = append(values, [2]any{p.At, strconv.FormatFloat(p.Value, 'f', -1, 64)})
		}
		result = append(result, map[string]any{"metric": s.Labels, "values": values})
	}
	data, err := json.Marshal(map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": result}})
	if err != nil {
		panic(err) // strings and numbers
	}
	return data
}

func lines(text string) string { return strings.ReplaceAll(text, `\n`, "\n") }
