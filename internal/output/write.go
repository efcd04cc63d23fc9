package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/meshgen/meshgen/internal/artifact"
)

// Write makes the cluster's folder under the root hold the files, as one swap.
// What is equal already is left untouched.
func Write(root, cluster string, files []artifact.File) error {
	s, err := newSwap(root, cluster)
	if err != nil {
		return err
	}
	return s.write(files)
}

func (s swap) write(files []artifact.File) error {
	return locked(s.root, unix.LOCK_EX, s.patience, func() error {
		if err := s.recover(); err != nil {
			return err
		}
		f, err := look(s.root, s.cluster, files)
		if err != nil || f.current() {
			return err
		}
		if err := s.replace(f); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.dir, err), s.recover())
		}
		return nil
	})
}

func (s swap) replace(f *folder) error {
	if err := s.stage(f); err != nil {
		return fmt.Errorf("%w: the files there are as they were; %s", err, remedy(err))
	}
	s.done("staged")
	if err := s.put(); err != nil {
		return fmt.Errorf("%w: %s", err, remedy(err))
	}
	return nil
}

func (s swap) stage(f *folder) error {
	if err := os.Mkdir(s.staged(), 0o755); err != nil {
		return err
	}
	s.done("begun")
	return f.stage(s.staged())
}

// current reports whether there is nothing to do.
func (f *folder) current() bool {
	for name, want := range f.want {
		if had, ok := f.have[name]; !ok || !bytes.Equal(had, want) {
			return false
		}
	}
	return len(f.orphans()) == 0
}

// stage fills the new folder: the files that are wanted, and everything in the
// old folder that is not meshgen's. Files that stay are linked, so that they
// keep their times.
func (f *folder) stage(dir string) error {
	for _, name := range sortedKeys(f.want) {
		if err := f.stageFile(dir, name); err != nil {
			return err
		}
	}
	if f.exists {
		if err := f.stageForeign(dir); err != nil {
			return err
		}
		if err := f.keepModes(dir); err != nil {
			return err
		}
	}
	return syncFolders(dir)
}

func (f *folder) stageFile(dir, name string) error {
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if had, ok := f.have[name]; ok && bytes.Equal(had, f.want[name]) {
		return keep(filepath.Join(f.dir, name), at)
	}
	return create(at, bytes.NewReader(f.want[name]), 0o644)
}

// stageForeign carries over what is neither wanted nor owned, and folders that
// meshgen has nothing in, though they be empty. Of folders that held only
// meshgen's files, nothing stays.
func (f *folder) stageForeign(dir string) error {
	ours := f.folders()
	return filepath.WalkDir(f.dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.dir, at)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if _, wanted := f.want[name]; wanted || f.owned[name] || ours[name] {
			return nil
		}
		to := filepath.Join(dir, name)
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return keep(at, to)
	})
}

// folders are those that hold a file that is or was meshgen's, the cluster's
// among them.
func (f *folder) folders() map[string]bool {
	ours := map[string]bool{".": true}
	add := func(name string) {
		for dir := path.Dir(name); !ours[dir]; dir = path.Dir(dir) {
			ours[dir] = true
		}
	}
	for name := range f.want {
		add(name)
	}
	for name := range f.owned {
		add(name)
	}
	return ours
}

// keepModes gives the staged folders the modes of those that they replace.
func (f *folder) keepModes(dir string) error {
	return filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		info, err := os.Lstat(filepath.Join(f.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.Chmod(at, info.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky))
	})
}

// keep gives a file a second name, or copies it where links are not to be had.
func keep(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	if err := os.Link(from, to); err == nil || !info.Mode().IsRegular() {
		return err
	}
	return duplicate(from, to, info)
}

func duplicate(from, to string, info fs.FileInfo) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := create(to, source, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(to, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// create writes a new file through to the disk.
func create(at string, data io.Reader, mode fs.FileMode) error {
	file, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, data)
	return errors.Join(err, file.Sync(), file.Close())
}

func syncFolders(root string) error {
	return filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return syncFolder(at)
	})
}

func syncFolder(at string) error {
	dir, err := os.Open(at)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
