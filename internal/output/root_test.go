package output

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestTheRootIsMadeOrRefused(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, root string)
		want   string // in the error, after the root; empty for none
	}{
		"none yet": {func(*testing.T, string) {}, ""},
		"a folder": {func(t *testing.T, root string) { place(t, filepath.Join(root, "x"), "") }, ""},
		"a link to a folder, which the user named": {
			func(t *testing.T, root string) { link(t, t.TempDir(), root) }, "",
		},
		"a file": {
			func(t *testing.T, root string) { place(t, root, "by a person") },
			" is a file, and cluster folders are written into a folder: move it away, or name another",
		},
		"a link to a file": {
			func(t *testing.T, root string) { link(t, "/etc/hostname", root) },
			" is a file, and cluster folders are written into a folder: move it away, or name another",
		},
		"a link that leads nowhere": {
			func(t *testing.T, root string) { link(t, "none", root) },
			" is a link that leads nowhere: remove it, or make the folder that it names",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "out")
			c.before(t, root)
			err := CheckRoot(root)
			if got := fmt.Sprint(err); c.want != "" && got != root+c.want {
				t.Errorf("got %s", got)
			}
			if c.want == "" && (err != nil || writeTo(root, "mesh", files("PLAN.md", "x")) != nil) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAFileInThePlaceOfTheRootIsSaid(t *testing.T) {
	root := filepath.Join(t.TempDir(), "out")
	place(t, root, "by a person")
	_, diffErr := Diff(root, "mesh", nil)
	for name, err := range map[string]error{"Diff": diffErr, "Write": writeTo(root, "mesh", nil), "Remove": Remove(root, "mesh")} {
		if want := root + " is a file, and cluster folders are written into a folder: move it away, or name another"; fmt.Sprint(err) != want {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A run that hangs while it holds the root does not hang the others for ever.
func TestARunWaitsForAnotherForATime(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("PLAN.md", "old"))
	other, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	waiting := &Writer{root: root, patience: 30 * time.Millisecond}
	want := "another run has been writing to " + root + " for 30ms: wait for it, or end it if it hangs, and run again"
	if _, err := waiting.Write("mesh", files("PLAN.md", "new")); fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("something was changed (-before +after):\n%s", diff)
	}
	time.AfterFunc(30*time.Millisecond, func() { other.Close() })
	waiting.patience = patience
	if _, err := waiting.Write("mesh", files("PLAN.md", "new")); err != nil {
		t.Errorf("the other run has ended: %v", err)
	}
}
