package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// onTerminal is what a command shows on a terminal of 60 columns.
func onTerminal(t *testing.T, want status, args ...string) string {
	t.Helper()
	return shown(t, 60, func(tty *os.File) {
		var out bytes.Buffer
		if code := run(args, streams{nil, &out, tty}); code != int(want) {
			t.Errorf("meshgen %v: exit status %d, want %d", args, code, want)
		}
	})
}

func TestATerminalShowsTheLinesOfFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"fleet/cue.mod", "fleet/eu", "manifests"} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	profile := "# 日本\napiVersion: meshgen.dev/v1alpha1\nkind: ClusterProfil\n"
	put(t, "profile.yaml", []byte(profile))
	put(t, "fleet/cue.mod/module.cue", []byte("module: \"example.com/fleet\"\nlanguage: version: \"v0.13.0\"\n"))
	put(t, "fleet/eu/profile.cue", []byte("package eu\n\n\tkind: \"é\" & \"e\"\n"))
	put(t, "manifests/a.yaml", []byte("apiVersion: v1\nkind: Service\nmetadata: {name: \"a\\e[2J\"}\n"))
	put(t, "manifests/b.yaml", []byte("apiVersion: v1 # \u202e\nkind: Service\nmetadata: {name: \"a\\e[2J\"}\n"))
	const yaml = `profile.yaml:3:1: error: kind is "ClusterProfil", expected ClusterProfile [schema/invalid-value]
    3 | kind: ClusterProfil
      | ^~~~
    hint: did you mean ClusterProfile?
`
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"of a plan":         {[]string{"plan", "profile.yaml"}, yaml},
		"of an explanation": {[]string{"explain", "profile.yaml"}, yaml},
		"of a fleet":        {[]string{"validate", "profile.yaml"}, yaml},
		"of a CUE package": {[]string{"plan", "fleet/eu"}, `fleet/eu/profile.cue:3:8: error: the CUE does not evaluate: kind: conflicting values "e" and "é" [schema/not-cue]
    3 |     kind: "é" & "e"
      |           ^~~
`},
		"of manifests by anyone": {[]string{"policy", "test", "manifests"}, `manifests/b.yaml:1:1: error: Service a\x1b[2J stands here and at manifests/a.yaml:1:1 [manifests/duplicate-object]
    1 | apiVersion: v1 # \u202e
      | ^~~~~~~~~~
    hint: name what one cluster receives: one cluster's folder, or one overlay as kustomize builds it
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, onTerminal(t, invalid, c.args...)); diff != "" {
				t.Errorf("(-want +shown):\n%s", diff)
			}
		})
	}
	t.Run("of a module above the working folder", func(t *testing.T) {
		t.Chdir("fleet/eu")
		want := `../eu/profile.cue:3:8: error: the CUE does not evaluate: kind: conflicting values "e" and "é" [schema/not-cue]
    3 |     kind: "é" & "e"
      |           ^~~
`
		if diff := cmp.Diff(want, onTerminal(t, invalid, "plan", "profile.cue")); diff != "" {
			t.Errorf("(-want +shown):\n%s", diff)
		}
	})
	t.Run("and a long line around the place", func(t *testing.T) {
		put(t, "profile.yaml", []byte("apiVersion: meshgen.dev/v1alpha1\nkind: ClusterProfile\nmetadata: {name: shop, owner: somebody who is called by a very long name}\nspec: 1\n"))
		_, _, found := bytes.Cut([]byte(onTerminal(t, invalid, "plan", "profile.yaml")), []byte(`
    3 | …a: {name: shop, owner: somebody who is called by …
      |                  ^~~~~
`))
		if !found {
			t.Error(onTerminal(t, invalid, "plan", "profile.yaml"))
		}
	})
}

// A base is read from the working folder, or from its own where it lies elsewhere.
func TestATerminalShowsTheLinesOfABase(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/base-is-built-offline.txtar")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := txtar.Write(archive, folder); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(folder, "work"))
	for base, want := range map[string]string{
		"climbing":  "    3 |     files: [passwd=../../../../../../../../../../…\n      |             ^~~",
		"../beside": "    1 | resources: [../base]\n      |             ^~~~~~~",
	} {
		if got := onTerminal(t, invalid, "validate", "../profile.yaml", "--base", base); !strings.Contains(got, want) {
			t.Errorf("of base %s is shown\n%s\nwant\n%s", base, got, want)
		}
	}
}

func TestLinesAreReadWhereTheFilesWereRead(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("in/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, "secret", []byte("password"))
	put(t, "in/deep/file", []byte("text"))
	if err := errors.Join(
		os.Symlink("../secret", "in/leads-out"), os.Symlink("deep/file", "in/stays"), os.Symlink("../..", "in/deep/up"), syscall.Mkfifo("in/pipe", 0o600),
	); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs("secret")
	if err != nil {
		t.Fatal(err)
	}
	for file, readable := range map[string]bool{
		"in/deep/file": true, "in/stays": true, "in/leads-out": false, "in/deep/up/secret": false, "in/../secret": false, "in/pipe": false, "in/deep": false,
		"secret": false, absolute: false, "in/gone": false, "": false,
	} {
		data, err := readBelow([]string{"in/deep", "in"}, file)
		if readable != (err == nil) || readable != (string(data) == "text") {
			t.Errorf("%s: read %q, %v", file, data, err)
		}
	}
	if _, err := readBelow(nil, "secret"); !errors.Is(err, errOutside) {
		t.Errorf("without a folder: %v", err)
	}
	if _, err := readBelow([]string{"in"}, "in/gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that went away: %v", err)
	}
}
