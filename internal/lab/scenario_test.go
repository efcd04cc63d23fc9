package lab

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is computed")

// golden compares a file with what it should be, or writes it.
func golden(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s is out of date (-want +got):\n%s", file, diff)
	}
}

// The real istiods of e2e/lab do what the simulation plays, and are compared with
// what it makes of it now.
func TestTheLabPlaysWhatIsSimulated(t *testing.T) {
	text, err := json.Marshal(struct {
		Short Expected `json:"short"`
		Long  Scenario `json:"long"`
	}{short.expected(2000, 1), long})
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("],["), []byte("],\n["))
	golden(t, "../../e2e/lab/testdata/redistribution.json", append(text, '\n'))
}
