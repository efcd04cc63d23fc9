package output

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

func writeTo(root, cluster string, files []artifact.File) error {
	_, err := NewWriter(root).Write(cluster, files)
	return err
}

func write(t *testing.T, root string, all []artifact.File) {
	t.Helper()
	if err := writeTo(root, "mesh", all); err != nil {
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
		"a link where the new folder is staged": {
			func(t *testing.T, root string) { link(t, t.TempDir(), filepath.Join(root, ".mesh.meshgen-staged")) },
			files("PLAN.md", "ours"), ".mesh.meshgen-staged is a link, where a run has a folder for a moment: move it away and run again",
		},
		"a link where the old folder is put aside": {
			func(t *testing.T, root string) { link(t, t.TempDir(), filepath.Join(root, ".mesh.meshgen-old")) },
			files("PLAN.md", "ours"), ".mesh.meshgen-old is a link, where a run has a folder",
		},
		"a folder in the place of the marker": {
			func(t *testing.T, root string) {
				place(t, filepath.Join(root, ".mesh.meshgen-swap/notes.txt"), "by a person")
			},
			files("PLAN.md", "ours"), ".mesh.meshgen-swap is a folder, where a run has a file",
		},
		"a lock that is a link": {
			func(t *testing.T, root string) { link(t, "/etc/hostname", filepath.Join(root, "mesh", lockFile)) },
			files("PLAN.md", "ours"), lockFile + " is a link: move it away and run again",
		},
		"a folder that was put back after a swap was stopped": {
			func(t *testing.T, root string) {
				place(t, filepath.Join(root, "mesh/PLAN.md"), "from version control")
				place(t, filepath.Join(root, ".mesh.meshgen-swap"), "")
				place(t, filepath.Join(root, ".mesh.meshgen-old/notes.txt"), "by a person")
				place(t, filepath.Join(root, ".mesh.meshgen-staged/notes.txt"), "by a person")
			},
			files("PLAN.md", "ours"), "keep what you need of the two, remove both and run again",
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
			err := writeTo(root, "mesh", c.files)
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

// inTwo stands in for a file system that cannot exchange two names.
func inTwo(_, _ string) error { return errors.ErrUnsupported }

type stopped struct{}

// stop writes, and stops after so many steps as a killed process would; the
// last step done is empty when the run came to its end.
func stop(t *testing.T, s swap, steps int, all []artifact.File) (last string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil && r != (stopped{}) {
			panic(r)
		}
	}()
	s.done = func(step string) {
		if steps--; steps < 0 {
			last = step
			panic(stopped{})
		}
	}
	if _, err := s.write(all); err != nil {
		t.Fatal(err)
	}
	return ""
}

func TestARunThatStopsAtAnyStepLeavesTheOldFolderOrTheNew(t *testing.T) {
	before, after := files("PLAN.md", "old", "istiod/values.yaml", "a", "gone", "x"), files("PLAN.md", "new", "istiod/values.yaml", "a")
	for name, c := range map[string]struct {
		exchange func(one, other string) error
		before   []artifact.File
		steps    []string
	}{
		"in one step": {
			exchange, before, []string{"begun", "staged", "exchanged", "removed staged", "removed old", "removed swap"},
		},
		"in two renames": {
			inTwo, before,
			[]string{"begun", "staged", "marked", "moved away", "moved in", "removed staged", "removed old", "removed swap"},
		},
		"the first time": {exchange, nil, []string{"begun", "staged", "moved in"}},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []string
			for i := 0; ; i++ {
				s := swap{t.TempDir(), "mesh", c.exchange, new(flusher).flush, func(string) {}}
				old := map[string]string{}
				if c.before != nil {
					write(t, s.root, c.before)
					place(t, filepath.Join(s.folder(), "notes.txt"), "by a person")
					old = tree(t, s.root)
				}
				step := stop(t, s, i, after)
				if step == "" {
					break
				}
				steps = append(steps, step)
				checkStopped(t, s, step, old, after)
			}
			if diff := cmp.Diff(c.steps, steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// checkStopped sees the old folder or the new one after a stop, no folder only
// between two renames, and the same with nothing beside it once it is repaired.
func checkStopped(t *testing.T, s swap, step string, old map[string]string, all []artifact.File) {
	t.Helper()
	now := map[string]string{}
	for name, data := range old {
		if name == "mesh/notes.txt" {
			now[name] = data
		}
	}
	for _, f := range all {
		now[f.Path] = string(f.Data)
	}
	seen := map[string]string{}
	for name, data := range tree(t, s.root) {
		if strings.HasPrefix(name, "mesh/") {
			seen[name] = data
		}
	}
	if step != "moved away" && !cmp.Equal(seen, old) && !cmp.Equal(seen, now) {
		t.Errorf("after %q neither the old folder nor the new: %v", step, seen)
	}
	if err := s.recover(); err != nil {
		t.Errorf("after %q: %v", step, err)
	}
	if got := tree(t, s.root); len(old) > 0 && !cmp.Equal(got, old) && !cmp.Equal(got, now) {
		t.Errorf("repaired after %q neither the old folder nor the new: %v", step, got)
	}
	if got := tree(t, s.root); step != "begun" && step != "staged" && step != "marked" && !cmp.Equal(got, now) {
		t.Errorf("repaired after %q not the new folder: %v", step, got)
	}
	if _, err := s.write(all); err != nil {
		t.Errorf("after %q: %v", step, err)
	}
	if diff := cmp.Diff(now, tree(t, s.root)); diff != "" {
		t.Errorf("the next run after %q (-want +got):\n%s", step, diff)
	}
}

func TestWhatOthersWriteDuringARunStays(t *testing.T) {
	for name, exchange := range map[string]func(one, other string) error{"in one step": exchange, "in two renames": inTwo} {
		t.Run(name, func(t *testing.T) {
			s := swap{t.TempDir(), "mesh", exchange, new(flusher).flush, func(string) {}}
			write(t, s.root, files("PLAN.md", "old", "gone", "x"))
			place(t, filepath.Join(s.folder(), "notes.txt"), "first thoughts")
			place(t, filepath.Join(s.folder(), "kept.txt"), "as it was")
			if err := os.Chtimes(filepath.Join(s.folder(), "notes.txt"), time.Time{}, time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
			s.done = func(step string) {
				if step == "staged" {
					place(t, filepath.Join(s.folder(), "docs/new.txt"), "by a person")
					place(t, filepath.Join(s.folder(), "extra.yaml"), "also a person's")
					place(t, filepath.Join(s.folder(), "notes.swp"), "second thoughts")
					if err := os.Rename(filepath.Join(s.folder(), "notes.swp"), filepath.Join(s.folder(), "notes.txt")); err != nil {
						t.Fatal(err)
					}
				}
			}
			all := files("PLAN.md", "new", "extra.yaml", "meshgen's")
			if _, err := s.write(all); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"mesh/PLAN.md": "new", "mesh/extra.yaml": "meshgen's", "mesh/" + lockFile: string(all[2].Data),
				"mesh/docs/new.txt": "by a person", "mesh/extra.yaml.orig": "also a person's",
				"mesh/notes.txt": "second thoughts", "mesh/kept.txt": "as it was",
			}
			if diff := cmp.Diff(want, tree(t, s.root)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFailureLeavesTheOldFolderAndNothingBesideIt(t *testing.T) {
	for name, c := range map[string]struct {
		exchange func(one, other string) error
		files    []artifact.File
	}{
		"of the exchange":  {func(_, _ string) error { return fs.ErrPermission }, files("PLAN.md", "new")},
		"of a staged file": {exchange, files("PLAN.md", "new", "a", "file", "a/b", "and a folder")},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, files("PLAN.md", "old"))
			before := tree(t, root)
			if _, err := (swap{root, "mesh", c.exchange, new(flusher).flush, func(string) {}}).write(c.files); err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

func TestFilesThatCannotBeLinkedAreCopied(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	place(t, from, "#!/bin/sh\n")
	if err := os.Chmod(from, 0o750); err != nil {
		t.Fatal(err)
	}
	want, err := os.Lstat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := duplicate(from, to, want); err != nil {
		t.Fatal(err)
	}
	got, err := os.Lstat(to)
	if err != nil || got.Mode() != want.Mode() || !got.ModTime().Equal(want.ModTime()) {
		t.Errorf("%v: %v %v, want %v %v", err, got.Mode(), got.ModTime(), want.Mode(), want.ModTime())
	}
	if data, err := os.ReadFile(to); err != nil || string(data) != "#!/bin/sh\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestFoldersAndForeignFilesKeepTheirModes(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("istiod/values.yaml", "a"))
	place(t, filepath.Join(root, "mesh/scripts/run.sh"), "#!/bin/sh\n")
	modes := map[string]fs.FileMode{
		"mesh": fs.ModeDir | fs.ModeSetgid | 0o770, "mesh/istiod": fs.ModeDir | 0o700, "mesh/scripts": fs.ModeDir | 0o555, "mesh/scripts/run.sh": 0o750,
	}
	for name, mode := range modes {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "mesh/scripts"), 0o755) })
	write(t, root, files("istiod/values.yaml", "b"))
	got := map[string]fs.FileMode{}
	for name := range modes {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = info.Mode()
	}
	if diff := cmp.Diff(modes, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoRunsAtOnce(t *testing.T) {
	root := t.TempDir()
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			if err := writeTo(root, "mesh", files("PLAN.md", strings.Repeat("x", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := tree(t, root); len(got) != 2 {
		t.Errorf("left behind: %v", got)
	}
}

// Clusters that one run writes at once wait for each other no more than a disk does,
// and another run finds the root free as soon as none is being written.
func TestClustersThatAreWrittenAtOnce(t *testing.T) {
	root := t.TempDir()
	w := &Writer{root: root, patience: 0}
	var group sync.WaitGroup
	for i := range 16 {
		cluster := clusterName(i)
		group.Go(func() {
			changes, err := w.Write(cluster, stateOf(cluster, 0))
			if err != nil || changes.Summary() != "4 created" {
				t.Errorf("%s: %s, %v", cluster, changes.Summary(), err)
			}
		})
	}
	group.Wait()
	if got := tree(t, root); len(got) != 16*4 {
		t.Errorf("%d files, want 4 for each cluster: %v", len(got), slices.Sorted(maps.Keys(got)))
	}
	other := &Writer{root: root, patience: 0}
	if changes, err := other.Write("mesh", files("PLAN.md", "x")); err != nil || changes.Summary() != "2 created" {
		t.Errorf("%s, %v", changes.Summary(), err)
	}
}

// Of those that write at once the first locks the root, and the last unlocks it.
func TestARootIsLockedWhileAnyClusterIsWritten(t *testing.T) {
	root := t.TempDir()
	w, other := NewWriter(root), &Writer{root: root, patience: 0}
	for step, c := range []struct {
		do   func()
		free bool
	}{
		{func() {}, true},
		{func() { begin(t, w) }, false},
		{func() { begin(t, w) }, false},
		{w.end, false},
		{w.end, true},
		{func() { begin(t, w) }, false},
		{w.end, true},
	} {
		c.do()
		if _, err := other.Write("mesh", files("PLAN.md", "x")); (err == nil) != c.free {
			t.Errorf("step %d: free is to be %v: %v", step, c.free, err)
		}
	}
}

func begin(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.begin(); err != nil {
		t.Fatal(err)
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
	if err := Remove(root, "by-hand"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("a folder without a lock (-want +got):\n%s", diff)
	}
	if none, err := Orphans(filepath.Join(root, "none"), nil); err != nil || none != nil {
		t.Errorf("a root that is not there has %v, %v", none, err)
	}
}

func TestOrphansAreThoseThatNobodyKeeps(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("PLAN.md", "x"))
	place(t, filepath.Join(root, "kept", lockFile), "{}")
	place(t, filepath.Join(root, "a-file"), "")
	place(t, filepath.Join(root, ".git", lockFile), "{}")
	place(t, filepath.Join(root, "locked-by-a-folder", lockFile, "x"), "")
	link(t, filepath.Join(root, "mesh"), filepath.Join(root, "link"))
	place(t, filepath.Join(root, ".half.meshgen-old", lockFile), `{"files":["PLAN.md"]}`)
	place(t, filepath.Join(root, ".half.meshgen-old/PLAN.md"), "its swap was stopped")
	place(t, filepath.Join(root, ".half.meshgen-swap"), "")
	orphans, err := Orphans(root, []string{"kept"})
	if diff := cmp.Diff([]string{"half", "mesh"}, orphans); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	if err := Remove(root, "half"); err != nil {
		t.Fatal(err)
	}
	for name := range tree(t, root) {
		if strings.Contains(name, "half") {
			t.Errorf("left behind: %s", name)
		}
	}
}

func TestRemoveFollowsNoLink(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, root, files("istiod/values.yaml", "ours"))
	if err := os.RemoveAll(filepath.Join(root, "mesh/istiod")); err != nil {
		t.Fatal(err)
	}
	place(t, filepath.Join(elsewhere, "values.yaml"), "by a person")
	link(t, elsewhere, filepath.Join(root, "mesh/istiod"))
	if err := Remove(root, "mesh"); err == nil || !strings.Contains(err.Error(), "is a link in the way") {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(elsewhere, "values.yaml")); err != nil || string(data) != "by a person" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestAClusterIsAFolderName(t *testing.T) {
	root := t.TempDir()
	place(t, filepath.Join(root, "x"), "")
	for _, cluster := range []string{"", ".", "..", "../x", "a/b", "/x", ".git"} {
		_, diffErr := Diff(filepath.Join(root, "out"), cluster, nil)
		for name, err := range map[string]error{
			"Diff": diffErr, "Write": writeTo(root, cluster, nil), "Remove": Remove(root, cluster),
		} {
			if err == nil || !strings.Contains(err.Error(), "is not a folder name") {
				t.Errorf("%s of %q: %v", name, cluster, err)
			}
		}
	}
}

func TestALostLockIsNoLoss(t *testing.T) {
	root := t.TempDir()
	all := files("PLAN.md", "same")
	write(t, root, all)
	if err := os.Remove(filepath.Join(root, "mesh", lockFile)); err != nil {
		t.Fatal(err)
	}
	write(t, root, all)
	place(t, filepath.Join(root, "mesh", lockFile), "{}")
	write(t, root, all)
	if changes, err := Diff(root, "mesh", all); err != nil || len(changes) > 0 {
		t.Errorf("%v, %v", changes, err)
	}
}

func TestDiffShowsEmptyAndUnfinishedFiles(t *testing.T) {
	root := t.TempDir()
	write(t, root, files("a", "", "b", "no end"))
	changes, err := Diff(root, "mesh", []artifact.File{{Path: "mesh/a", Data: []byte("1\n")}, {Path: "mesh/c"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Changes{
		{"mesh/a", "changed", "diff a/mesh/a b/mesh/a\n--- a/mesh/a\n+++ b/mesh/a\n@@ -0,0 +1,1 @@\n+1\n"},
		{"mesh/b", "deleted", "diff a/mesh/b /dev/null\n--- a/mesh/b\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-no end\n\\ No newline at end of file\n"},
		{"mesh/c", "created", "diff /dev/null b/mesh/c\n--- /dev/null\n+++ b/mesh/c\n"},
	}
	if diff := cmp.Diff(want, slices.DeleteFunc(changes, func(c Change) bool { return c.Path == "mesh/"+lockFile })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func BenchmarkWrite(b *testing.B) {
	var pairs []string
	for i := range 3000 {
		pairs = append(pairs, fmt.Sprintf("workloads/ns-%d/service-%d.yaml", i%50, i), strings.Repeat("key: value\n", 50))
	}
	for b.Loop() {
		if err := writeTo(b.TempDir(), "mesh", files(pairs...)); err != nil {
			b.Fatal(err)
		}
	}
}
