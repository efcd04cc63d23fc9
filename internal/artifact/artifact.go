// Package artifact holds the files that meshgen writes, in memory: a set with
// one owner a path, and the one YAML encoder. It knows no profile, no plan and
// no disk.
package artifact

import (
	"cmp"
	"fmt"
	"slices"
)

// File is one generated file; Path is relative to the output's root, with
// slashes, and begins with the cluster's name.
type File struct {
	Path  string
	Owner string // the generator that wrote it
	Data  []byte
}

// Tree is a set of files by path.
type Tree struct{ files map[string]File }

// Add puts files into the tree. A path that is taken is an error that names
// both owners.
func (t *Tree) Add(files ...File) error {
	if t.files == nil {
		t.files = map[string]File{}
	}
	for _, f := range files {
		if had, taken := t.files[f.Path]; taken {
			return fmt.Errorf("%s: written by %s and by %s", f.Path, had.Owner, f.Owner)
		}
		t.files[f.Path] = f
	}
	return nil
}

// Get returns the file at path.
func (t *Tree) Get(path string) (File, bool) {
	f, ok := t.files[path]
	return f, ok
}

// Files returns every file, sorted by path.
func (t *Tree) Files() []File {
	files := make([]File, 0, len(t.files))
	for _, f := range t.files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}
