package output

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// rescue carries over what others put into the folder between the moment when it
// was read and the swap: old is that folder, which is about to be removed. A file
// under a name that meshgen writes now is kept beside it, as name.orig.
func (s swap) rescue(old string) error {
	were, err := owned(old)
	if err != nil {
		return err
	}
	are, err := owned(s.folder())
	if err != nil {
		return err
	}
	return filepath.WalkDir(old, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(old, at)
		if err != nil || were[filepath.ToSlash(name)] {
			return err
		}
		to := filepath.Join(s.folder(), name)
		if are[filepath.ToSlash(name)] {
			return rescueBeside(at, to)
		}
		return rescueInPlace(at, to)
	})
}

// rescueBeside keeps a file that meshgen's has taken the place of.
func rescueBeside(at, to string) error {
	was, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	is, err := os.ReadFile(to)
	if err != nil || bytes.Equal(was, is) {
		return err
	}
	return keep(at, to+".orig")
}

// rescueInPlace takes the file as it is in the old folder where it is not the one
// that was staged: new, or written since.
func rescueInPlace(at, to string) error {
	was, is, err := both(at, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return keep(at, to)
	}
	if err != nil || os.SameFile(was, is) || was.ModTime().Equal(is.ModTime()) {
		return err
	}
	if err := os.Remove(to); err != nil {
		return err
	}
	return keep(at, to)
}

func both(at, to string) (was, is fs.FileInfo, err error) {
	if was, err = os.Lstat(at); err != nil {
		return nil, nil, err
	}
	is, err = os.Lstat(to)
	return was, is, err
}
