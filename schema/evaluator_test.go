package schema_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshgen/meshgen/schema"
)

func TestAProcessOfItsOwnFindsTheSame(t *testing.T) {
	archives, err := filepath.Glob("testdata/cue_*.txtar")
	if err != nil || len(archives) < 8 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	loader := &schema.Loader{Evaluator: newEvaluator(t)}
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fsys, name, want := unpack(t, archive)
		_, findings := loader.Load(fsys, name)
		var got bytes.Buffer
		if err := findings.Text(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestAFleetIsLoadedInAProcessOfItsOwn(t *testing.T) {
	loader := &schema.Loader{Evaluator: newEvaluator(t)}
	for _, name := range []string{"seoul", "singapore", "tokyo"} {
		fleet := os.DirFS("../examples/fleet")
		want := load(t, fleet, name+"/profile.cue")
		got, findings := loader.Load(fleet, name+"/profile.cue")
		if got == nil {
			t.Fatalf("%s: %v", name, findings)
		}
		if diff := cmp.Diff(fmt.Sprint(want.Positions), fmt.Sprint(got.Positions)); diff != "" {
			t.Errorf("%s stands elsewhere (-here +there):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.LastLines, got.LastLines); diff != "" {
			t.Errorf("%s ends elsewhere (-here +there):\n%s", name, diff)
		}
	}
}

func TestTheFilesOfAPackageAreBoundedTogether(t *testing.T) {
	part := &fstest.MapFile{Data: append([]byte("package p\n"), bytes.Repeat([]byte("// x\n"), schema.MaxSize/10)...)}
	_, findings := schema.Load(fstest.MapFS{"profile.cue": part, "a.cue": part, "b.cue": part}, "profile.cue")
	if len(findings) != 1 || findings[0].ID != schema.TooLarge {
		t.Errorf("findings %v", findings)
	}
}

func TestAProgramThatCannotBeStartedIsAFinding(t *testing.T) {
	e := schema.NewEvaluator(func() *exec.Cmd { return &exec.Cmd{Path: "none"} }, 1)
	loader := &schema.Loader{Evaluator: e}
	_, findings := loader.Load(fstest.MapFS{"profile.cue": {Data: []byte("a: 1\n")}}, "profile.cue")
	if len(findings) != 1 || findings[0].ID != schema.Unreadable {
		t.Errorf("findings %v", findings)
	}
}

func TestTheNameIsReadAmongManyKeys(t *testing.T) {
	var text strings.Builder
	for i := range 250_000 {
		fmt.Fprintf(&text, "k%d:\n", i)
	}
	text.WriteString("metadata: {name: small}\n")
	name, pos, ok := new(schema.Loader).Name(fstest.MapFS{"profile.yaml": {Data: []byte(text.String())}}, "profile.yaml")
	if !ok || name != "small" || pos.Line != 250_001 || pos.Column != 18 {
		t.Errorf("the name is %q at %v, %t", name, pos, ok)
	}
}
