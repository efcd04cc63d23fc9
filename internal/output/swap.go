package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// swap replaces a cluster's folder by the one staged beside it. Where the file
// system can exchange two names, that is one step. Where it cannot, a marker
// says that a swap is under way, and the next run finishes it.
type swap struct{ root, cluster string }

func (s swap) folder() string { return filepath.Join(s.root, s.cluster) }
func (s swap) staged() string { return s.beside("staged") }
func (s swap) beside(what string) string {
	return filepath.Join(s.root, "."+s.cluster+".meshgen-"+what)
}

// put swaps, and removes the old folder.
func (s swap) put() error {
	if !exists(s.folder()) {
		return errors.Join(os.Rename(s.staged(), s.folder()), syncFolder(s.root))
	}
	err := unix.Renameat2(unix.AT_FDCWD, s.staged(), unix.AT_FDCWD, s.folder(), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return s.putInTwo()
	}
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(s.root), os.RemoveAll(s.staged()))
}

// putInTwo swaps by two renames under a marker.
func (s swap) putInTwo() error {
	marker, err := os.OpenFile(s.beside("swap"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(marker.Sync(), marker.Close(), syncFolder(s.root)); err != nil {
		return err
	}
	if err := os.Rename(s.folder(), s.beside("old")); err != nil {
		return errors.Join(err, os.Remove(s.beside("swap")))
	}
	if err := os.Rename(s.staged(), s.folder()); err != nil {
		return err // the marker stays: the next run finishes
	}
	return s.tidy()
}

// recover finishes what a run that was stopped has left: with a marker, the
// swap; without one, the staged folder is of no use.
func (s swap) recover() error {
	if exists(s.beside("swap")) && !exists(s.folder()) && exists(s.staged()) {
		if err := os.Rename(s.staged(), s.folder()); err != nil {
			return err
		}
	}
	if !exists(s.folder()) && exists(s.beside("old")) {
		if err := os.Rename(s.beside("old"), s.folder()); err != nil {
			return err
		}
	}
	return s.tidy()
}

// tidy removes what is left beside the folder, the marker last.
func (s swap) tidy() error {
	for _, what := range []string{"staged", "old"} {
		if err := os.RemoveAll(s.beside(what)); err != nil {
			return err
		}
	}
	if err := os.Remove(s.beside("swap")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncFolder(s.root)
}

func exists(at string) bool {
	_, err := os.Lstat(at)
	return err == nil
}
