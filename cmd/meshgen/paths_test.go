package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/schema"
)

func TestTheFolderThatAProfileIsReadFrom(t *testing.T) {
	top := t.TempDir()
	for _, folder := range []string{"fleet/cue.mod", "fleet/eu", "single/eu"} {
		if err := os.MkdirAll(filepath.Join(top, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	place(t, filepath.Join(top, "single/cue.mod"), "a file is no module")
	type opened struct{ folder, name, prefix string }
	for name, c := range map[string]struct {
		working, path string
		want          opened
	}{
		"of YAML, its own":                 {"", "fleet/eu/profile.yaml", opened{"fleet/eu", "profile.yaml", "fleet/eu/"}},
		"of YAML here":                     {"fleet/eu", "profile.yaml", opened{".", "profile.yaml", ""}},
		"of YAML beside":                   {"fleet", "../single/profile.yaml", opened{"../single", "profile.yaml", "../single/"}},
		"of YAML at the top of the disk":   {"", "/profile.yaml", opened{"/", "profile.yaml", "/"}},
		"of YAML by its whole path":        {"fleet", filepath.Join(top, "single/profile.yaml"), opened{filepath.Join(top, "single"), "profile.yaml", filepath.ToSlash(top) + "/single/"}},
		"of CUE, its module's":             {"", "fleet/eu/profile.cue", opened{"fleet", "eu/profile.cue", "fleet/"}},
		"of CUE in the module's folder":    {"fleet", "eu/profile.cue", opened{".", "eu/profile.cue", ""}},
		"of CUE below the module's folder": {"fleet/eu", "profile.cue", opened{"..", "eu/profile.cue", "../"}},
		"of CUE without a module, its own": {"", "single/eu/profile.cue", opened{"single/eu", "profile.cue", "single/eu/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(filepath.Join(top, c.working))
			fsys, file, prefix := open(c.path)
			got := opened{string(fsys.(bounded)), file, prefix}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(opened{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoNameAndNoLinkLeadsOutOfABoundedFolder(t *testing.T) {
	folder := t.TempDir()
	place(t, filepath.Join(folder, "in/profile.yaml"), "here")
	place(t, filepath.Join(folder, "out.yaml"), "elsewhere")
	for name, target := range map[string]string{
		"within": "profile.yaml", "above": "../out.yaml", "absolute": filepath.Join(folder, "in/profile.yaml"), "folder": "..",
	} {
		if err := os.Symlink(target, filepath.Join(folder, "in", name)); err != nil {
			t.Fatal(err)
		}
	}
	b := bounded(filepath.Join(folder, "in"))
	for name, leads := range map[string]bool{"profile.yaml": false, "within": false, "above": true, "absolute": true, "folder/out.yaml": true} {
		data, err := fs.ReadFile(b, name)
		if leads && err != errOutside || !leads && string(data) != "here" {
			t.Errorf("read %s: got %q, %v", name, data, err)
		}
		if _, err := fs.Stat(b, name); leads && err != errOutside || !leads && err != nil {
			t.Errorf("look at %s: got %v", name, err)
		}
	}
}

func TestAValuesFileIsBounded(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	place(t, filepath.Join(folder, "large"), "")
	if err := os.Truncate(filepath.Join(folder, "large"), schema.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "large"} {
		if _, err := readValues(bounded(folder), name); err == nil || !strings.Contains(err.Error(), "it is not a file of at most 8 MiB") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
