package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
			"status": expectStatus, "replace": replace, "zeros": zeros, "last": last,
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

func lines(text string) string { return strings.ReplaceAll(text, `\n`, "\n") }
