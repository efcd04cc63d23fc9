package output

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/artifact"
)

// files are a cluster's files from "name content" pairs, with the lock that
// lists them.
func files(pairs ...string) []artifact.File {
	names := []string{`"` + lockFile + `"`}
	var all []artifact.File
	for i := 0; i < len(pairs); i += 2 {
		names = append(names, `"`+pairs[i]+`"`)
		all = append(all, artifact.File{Path: "mesh/" + pairs[i], Data: []byte(pairs[i+1])})
	}
	return append(all, artifact.File{Path: "mesh/" + lockFile, Data: []byte(`{"files":[` + strings.Join(names, ",") + "]}\n")})
}

func write(t *testing.T, root string, all []artifact.File) {
	t.Helper()
	if err := Write(root, "mesh", all); err != nil {
		t.Fatal(err)
	}
}

// tree is every file below the root with its content; links by their target,
// empty folders with a slash.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, at)
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			all[name], err = os.Readlink(at)
		case entry.IsDir():
			if entries, _ := os.ReadDir(at); len(entries) == 0 {
				all[name+"/"] = ""
			}
		default:
			data, readErr := os.ReadFile(at)
			all[name], err = string(data), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func place(t *testing.T, at, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWriteReplacesWhatIsOwnedAndKeepsTheRest(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("PLAN.md", "old", "istiod/values.yaml", "a: 1\n", "mesh/gone.yaml", "x"))
	place(t, filepath.Join(root, "mesh/README.md"), "by a person")
	place(t, filepath.Join(root, "mesh/istiod/notes.txt"), "beside ours")
	if err := os.Symlink("../elsewhere", filepath.Join(root, "mesh/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "mesh/empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	kept, err := os.Stat(filepath.Join(root, "mesh/istiod/values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, files("PLAN.md", "new", "istiod/values.yaml", "a: 1\n"))
	want := map[string]string{
		"mesh/PLAN.md": "new", "mesh/istiod/values.yaml": "a: 1\n", "mesh/README.md": "by a person",
		"mesh/istiod/notes.txt": "beside ours", "mesh/link": "../elsewhere", "mesh/empty/": "",
		"mesh/" + lockFile: `{"files":["meshgen.lock.json","PLAN.md","istiod/values.yaml"]}` + "\n",
	}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if now, err := os.Stat(filepath.Join(root, "mesh/istiod/values.yaml")); err != nil || !os.SameFile(kept, now) {
		t.Errorf("a file that did not change was written anew (%v)", err)
	}
}

func TestWriteTwiceTouchesNothing(t *testing.T) {
	root := t.TempDir()
	all := files("PLAN.md", "same")
	write(t, root, all)
	before, err := os.Stat(filepath.Join(root, "mesh"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, all)
	if after, err := os.Stat(filepath.Join(root, "mesh")); err != nil || !os.SameFile(before, after) {
		t.Errorf("the folder was replaced (%v)", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, root string)
		files  []artifact.File
		want   string
	}{
		"a file of another owner in its place": {
			func(t *testing.T, root string) { place(t, filepath.Join(root, "mesh/PLAN.md"), "by a person") },
			files("PLAN.md", "ours"), "not meshgen's",
		},
		"a cluster folder that is a file": {
			func(t *testing.T, root string) { place(t, filepath.Join(root, "mesh"), "a file") },
			files("PLAN.md", "ours"), "is a file, not a folder",
		},
		"a cluster folder that is a link": {
			func(t *testing.T, root string) { link(t, t.TempDir(), filepath.Join(root, "mesh")) },
			files("PLAN.md", "ours"), "is a link, not a folder",
		},
		"a folder within that is a link": {
			func(t *testing.T, root string) { link(t, t.TempDir(), filepath.Join(root, "mesh/istiod")) },
			files("istiod/values.yaml", "ours"), "is a link in the way",
		},
		"a file that is a link": {
			func(t *testing.T, root string) { link(t, "/etc/hostname", filepath.Join(root, "mesh/PLAN.md")) },
			files("PLAN.md", "ours"), "is a link in the way",
		},
		"a folder where a file belongs": {
			func(t *testing.T, root string) { place(t, filepath.Join(root, "mesh/PLAN.md/x"), "") },
			files("PLAN.md", "ours"), "is a folder in the way",
		},
		"a lock that is not JSON": {
			func(t *testing.T, root string) { place(t, filepath.Join(root, "mesh", lockFile), "<<<<<<< HEAD") },
			files("PLAN.md", "ours"), "restore it from version control",
		},
		"a lock that lists what is outside": {
			func(t *testing.T, root string) {
				place(t, filepath.Join(root, "mesh", lockFile), `{"files":["../../passwd"]}`)
			},
			files("PLAN.md", "ours"), `lists "../../passwd"`,
		},
		"a path that leaves the folder":   {nil, []artifact.File{{Path: "mesh/../other/x"}}, "not below"},
		"a path of another cluster":       {nil, []artifact.File{{Path: "other/x"}}, "not below"},
		"an absolute path":                {nil, []artifact.File{{Path: "/mesh/x"}}, "not below"},
		"a path with a step that is none": {nil, []artifact.File{{Path: "mesh/a//x"}}, "not below"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if c.before != nil {
				c.before(t, root)
			}
			before := tree(t, root)
			err := Write(root, "mesh", c.files)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want …%s…", err, c.want)
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("something was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func link(t *testing.T, target, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

func TestDiff(t *testing.T) {
	root := t.TempDir()
	changes, err := Diff(filepath.Join(root, "none"), "mesh", files("a", "1\n"))
	if err != nil || changes.Summary() != "2 created" {
		t.Errorf("%s, %v", changes.Summary(), err)
	}
	write(t, root, files("a", "1\n2\n3\n", "gone", "x\n"))
	changes, err = Diff(root, "mesh", files("a", "1\nzwei\n3\n", "b", "new\n"))
	if err != nil || changes.Summary() != "1 created, 2 changed, 1 deleted" {
		t.Fatalf("%s, %v", changes.Summary(), err)
	}
	want := "diff a/mesh/a b/mesh/a\n--- a/mesh/a\n+++ b/mesh/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n"
	if diff := cmp.Diff(want, changes[0].Diff); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	changes, err = Diff(root, "mesh", files("a", "1\n2\n3\n", "gone", "x\n"))
	if err != nil || len(changes) > 0 {
		t.Errorf("%v, %v", changes, err)
	}
}

// A run that stops at any step leaves the old folder or the new one, and the
// next run comes to the new one.
func TestStoppedRuns(t *testing.T) {
	staged := func(t *testing.T, root string) swap {
		t.Helper()
		write(t, root, files("PLAN.md", "old"))
		f, err := look(root, "mesh", files("PLAN.md", "new"))
		if err != nil {
			t.Fatal(err)
		}
		s := swap{root, "mesh"}
		if err := f.stage(s.staged()); err != nil {
			t.Fatal(err)
		}
		return s
	}
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, stop := range map[string]func(t *testing.T, root string){
		"while it stages": func(t *testing.T, root string) { place(t, filepath.Join(root, ".mesh.meshgen-staged/PLAN.md"), "n") },
		"before the swap": func(t *testing.T, root string) { staged(t, root) },
		"after the exchange": func(t *testing.T, root string) {
			s := staged(t, root)
			rename(t, s.folder(), s.beside("x"))
			rename(t, s.staged(), s.folder())
			rename(t, s.beside("x"), s.staged())
		},
		"with the marker laid": func(t *testing.T, root string) { s := staged(t, root); place(t, s.beside("swap"), "") },
		"between the renames": func(t *testing.T, root string) {
			s := staged(t, root)
			place(t, s.beside("swap"), "")
			rename(t, s.folder(), s.beside("old"))
		},
		"after both renames": func(t *testing.T, root string) {
			s := staged(t, root)
			place(t, s.beside("swap"), "")
			rename(t, s.folder(), s.beside("old"))
			rename(t, s.staged(), s.folder())
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			stop(t, root)
			write(t, root, files("PLAN.md", "new"))
			want := map[string]string{"mesh/PLAN.md": "new", "mesh/" + lockFile: `{"files":["meshgen.lock.json","PLAN.md"]}` + "\n"}
			if diff := cmp.Diff(want, tree(t, root)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASwapInTwoSteps(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("PLAN.md", "old"))
	f, err := look(root, "mesh", files("PLAN.md", "new"))
	if err != nil {
		t.Fatal(err)
	}
	s := swap{root, "mesh"}
	if err := f.stage(s.staged()); err != nil {
		t.Fatal(err)
	}
	if err := s.putInTwo(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"mesh/PLAN.md": "new", "mesh/" + lockFile: `{"files":["meshgen.lock.json","PLAN.md"]}` + "\n"}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoRunsAtOnce(t *testing.T) {
	root := t.TempDir()
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			if err := Write(root, "mesh", files("PLAN.md", strings.Repeat("x", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := tree(t, root); len(got) != 2 {
		t.Errorf("left behind: %v", got)
	}
}

func TestOrphansAreRemovedWithoutWhatOthersPutThere(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("PLAN.md", "old", "istiod/values.yaml", "a"))
	place(t, filepath.Join(root, "by-hand/README.md"), "no lock")
	orphans, err := Orphans(root, nil)
	if diff := cmp.Diff([]string{"mesh"}, orphans); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	place(t, filepath.Join(root, "mesh/notes.txt"), "by a person")
	if err := Remove(root, "mesh"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"by-hand/README.md": "no lock", "mesh/notes.txt": "by a person"}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none, err := Orphans(filepath.Join(root, "none"), nil); err != nil || none != nil {
		t.Errorf("a root that is not there has %v, %v", none, err)
	}
}
