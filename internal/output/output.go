// Package output writes a cluster's files under a root, or compares them with
// what is there. A cluster's folder is replaced as a whole: it is staged beside
// the old one and swapped, so that whoever reads it sees the old files or the
// new ones and never some of each. What meshgen does not own stays, and nothing
// below the root is followed as a link.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/sys/unix"

	"github.com/meshgen/meshgen/internal/artifact"
)

// lockFile lists the files of a cluster's folder that are meshgen's.
const lockFile = "meshgen.lock.json"

// Change is a file that differs from what is there.
type Change struct {
	Path string // below the root, with slashes
	Kind string // created, changed or deleted
	Diff string // unified; empty where it was not asked for
}

// Changes are sorted by path.
type Changes []Change

// Summary is the changes in one line.
func (c Changes) Summary() string {
	if len(c) == 0 {
		return "up to date"
	}
	counts := map[string]int{}
	for _, change := range c {
		counts[change.Kind]++
	}
	var parts []string
	for _, kind := range []string{"created", "changed", "deleted"} {
		if counts[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
		}
	}
	return strings.Join(parts, ", ")
}

// Diff is how the files differ from what is under the root. A root or a folder
// that is not there differs in every file.
func Diff(root, cluster string, files []artifact.File) (Changes, error) {
	if _, err := newSwap(root, cluster); err != nil {
		return nil, err
	}
	locked, err := lock(root, unix.LOCK_SH, patience)
	if err != nil {
		return nil, err
	}
	defer locked.Close() // nil has nothing to close
	f, err := look(root, cluster, files)
	if err != nil {
		return nil, err
	}
	changes := f.changes()
	for i, c := range changes {
		changes[i].Diff = f.diff(c)
	}
	return changes, nil
}

// changes are without their text.
func (f *folder) changes() Changes {
	var changes Changes
	add := func(name, kind string) {
		changes = append(changes, Change{Path: path.Join(f.cluster, name), Kind: kind})
	}
	for name, want := range f.want {
		if had, ok := f.have[name]; !ok {
			add(name, "created")
		} else if !bytes.Equal(had, want) {
			add(name, "changed")
		}
	}
	for _, name := range f.orphans() {
		add(name, "deleted")
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// folder is a cluster's folder as it is and as it should be, by paths below it.
type folder struct {
	dir     string // on disk
	cluster string
	exists  bool
	want    map[string][]byte
	have    map[string][]byte // of what is wanted or owned
	owned   map[string]bool   // by the lock that is there, which is one of them
}

func (f *folder) diff(c Change) string {
	name := strings.TrimPrefix(c.Path, f.cluster+"/")
	old, new := "a/"+c.Path, "b/"+c.Path
	if c.Kind == "created" {
		old = "/dev/null"
	}
	if c.Kind == "deleted" {
		new = "/dev/null"
	}
	text := string(diff.Diff(old, f.have[name], new, f.want[name]))
	if text == "" { // an empty file comes or goes
		text = fmt.Sprintf("diff %s %s\n--- %[1]s\n+++ %[2]s\n", old, new)
	}
	return text
}

// orphans are the files that are there, were meshgen's and are not wanted any
// more, sorted.
func (f *folder) orphans() []string {
	var gone []string
	for name := range f.owned {
		_, wanted := f.want[name]
		_, there := f.have[name]
		if !wanted && there {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

// look reads what is there, and refuses what must not be written over.
func look(root, cluster string, files []artifact.File) (*folder, error) {
	f := &folder{dir: filepath.Join(root, cluster), cluster: cluster, want: map[string][]byte{}, have: map[string][]byte{}}
	for _, file := range files {
		name, ok := strings.CutPrefix(file.Path, cluster+"/")
		if !ok || !local(name) {
			return nil, fmt.Errorf("file %q is not below the cluster's folder %s", file.Path, cluster)
		}
		f.want[name] = file.Data
	}
	return f, f.read()
}

// local reports whether a name is a path below a folder, in its only spelling.
func local(name string) bool {
	return filepath.IsLocal(name) && path.Clean(name) == name && name != "."
}

func (f *folder) read() error {
	info, err := os.Lstat(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is %s, not a folder: move it away, meshgen writes the cluster's folder there", f.dir, kindOf(info))
	}
	f.exists = true
	if f.owned, err = owned(f.dir); err != nil {
		return err
	}
	for _, name := range sortedKeys(f.want) {
		if err := f.readFile(name); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(f.owned) {
		if err := f.readFile(name); err != nil {
			return err
		}
	}
	return f.refuseForeign()
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "a link"
	case info.IsDir():
		return "a folder"
	case info.Mode().IsRegular():
		return "a file"
	default:
		return "neither file nor folder"
	}
}

// readFile takes in the file of that name; each folder above it must be one, and
// it must be a regular file, or not be there.
func (f *folder) readFile(name string) error {
	at := f.dir
	parts := strings.Split(name, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		last := i == len(parts)-1
		if (last && !info.Mode().IsRegular()) || (!last && !info.IsDir()) {
			return fmt.Errorf("%s is %s in the way of %s: move it away and run again", at, kindOf(info), path.Join(f.cluster, name))
		}
	}
	data, err := os.ReadFile(at)
	f.have[name] = data
	return err
}

// refuseForeign stops at files that are not meshgen's and would be written over.
// Equal bytes are nobody's loss: the lock may have gone astray.
func (f *folder) refuseForeign() error {
	for _, name := range sortedKeys(f.want) {
		had, there := f.have[name]
		if there && !f.owned[name] && !bytes.Equal(had, f.want[name]) {
			return fmt.Errorf("%s is not meshgen's (no %s lists it) and would be written over: move it away, or remove it, and run again",
				filepath.Join(f.dir, name), lockFile)
		}
	}
	return nil
}

// owned are the files that the folder's lock lists, and the lock; none without one.
func owned(dir string) (map[string]bool, error) {
	at := filepath.Join(dir, lockFile)
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s: move it away and run again", at, kindOf(info))
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Files []string `json:"files"`
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("%s does not say which files are meshgen's (%w): restore it from version control", at, err)
	}
	ours := map[string]bool{lockFile: true}
	for _, name := range lock.Files {
		if !local(name) {
			return nil, fmt.Errorf("%s lists %q, which is not below its folder: restore it from version control", at, name)
		}
		ours[name] = true
	}
	return ours, nil
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
