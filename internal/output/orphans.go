package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Orphans are the cluster folders under the root that a lock calls meshgen's and
// that are not among those to keep. A root that is not there has none.
func Orphans(root string, keep []string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var orphans []string
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || slices.Contains(keep, e.Name()) {
			continue
		}
		info, err := os.Lstat(filepath.Join(root, e.Name(), lockFile))
		if err == nil && info.Mode().IsRegular() {
			orphans = append(orphans, e.Name())
		}
	}
	return orphans, err
}

// Remove deletes a cluster's files that are meshgen's, and the folders that are
// empty then. Files of others stay, and their folders.
func Remove(root, cluster string) error {
	return locked(root, func() error {
		s := swap{root: root, cluster: cluster}
		if err := s.recover(); err != nil {
			return fmt.Errorf("repair %s: %w", s.folder(), err)
		}
		f, err := look(root, cluster, nil)
		if err != nil {
			return err
		}
		for _, name := range f.orphans() {
			if name == lockFile {
				continue // last: it says what is meshgen's
			}
			if err := f.remove(name); err != nil {
				return err
			}
		}
		return f.remove(lockFile)
	})
}

// remove deletes a file, and its folders up to the cluster's as far as they are
// empty.
func (f *folder) remove(name string) error {
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(filepath.Join(f.dir, name)); ; dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil || dir == f.dir {
			return nil // not empty, or the last
		}
	}
}
