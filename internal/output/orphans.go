package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Orphans are the cluster folders under the root that a lock calls meshgen's and
// that are not among those to keep, sorted. A root that is not there has none.
func Orphans(root string, keep []string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, e := range entries {
		cluster, ours := interrupted(e.Name())
		if !ours {
			cluster, ours = e.Name(), e.IsDir() && e.Name()[0] != '.' && hasLock(filepath.Join(root, e.Name()))
		}
		if ours && !slices.Contains(keep, cluster) {
			orphans = append(orphans, cluster)
		}
	}
	slices.Sort(orphans)
	return slices.Compact(orphans), nil
}

func hasLock(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, lockFile))
	return err == nil && info.Mode().IsRegular()
}

// Remove deletes a cluster's files that are meshgen's, and the folders that are
// empty then. Files of others stay, and their folders.
func Remove(root, cluster string) error {
	s, err := newSwap(root, cluster)
	if err != nil {
		return err
	}
	locked, err := lock(root, unix.LOCK_EX, patience)
	if err != nil {
		return err
	}
	defer locked.Close()
	return s.remove()
}

func (s swap) remove() error {
	if err := s.recover(); err != nil {
		return err
	}
	f, err := look(s.root, s.cluster, nil)
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
	if !f.owned[lockFile] {
		return nil
	}
	return f.remove(lockFile)
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
