package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/meshgen/meshgen/internal/artifact"
)

// Write makes the cluster's folder under the root hold the files, as one swap.
// What is equal already is left untouched.
func Write(root, cluster string, files []artifact.File) error {
	return locked(root, func() error {
		s := swap{root: root, cluster: cluster}
		if err := s.recover(); err != nil {
			return fmt.Errorf("repair %s: %w", filepath.Join(root, cluster), err)
		}
		f, err := look(root, cluster, files)
		if err != nil || f.current() {
			return err
		}
		if err := f.stage(s.staged()); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", f.dir, err), os.RemoveAll(s.staged()))
		}
		if err := s.put(); err != nil {
			return fmt.Errorf("write %s: %w", f.dir, err)
		}
		return nil
	})
}

// locked runs one writer at a time under a root; a second waits.
func locked(root string, write func() error) error {
	dir, err := os.Open(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", root, err)
	}
	return write()
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

// stage builds the new folder: the files that are wanted, and everything in the
// old folder that is not meshgen's. Files that stay are linked, so that they
// keep their times.
func (f *folder) stage(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range sortedKeys(f.want) {
		if err := f.stageFile(dir, name); err != nil {
			return err
		}
	}
	if f.exists {
		if err := f.stageForeign(dir); err != nil {
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

// stageForeign carries over what is neither wanted nor owned; of folders that
// held only meshgen's files, nothing stays.
func (f *folder) stageForeign(dir string) error {
	return filepath.WalkDir(f.dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.dir, at)
		if err != nil || name == "." {
			return err
		}
		name = filepath.ToSlash(name)
		if _, wanted := f.want[name]; wanted || slices.Contains(f.owned, name) {
			return nil
		}
		to := filepath.Join(dir, name)
		if entry.IsDir() {
			return f.stageFolder(at, to, name)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return keep(at, to)
	})
}

// stageFolder carries over a folder that meshgen has nothing in, though it be
// empty; others come with their files.
func (f *folder) stageFolder(at, to, name string) error {
	within := func(file string) bool { return strings.HasPrefix(file, name+"/") }
	if slices.ContainsFunc(f.owned, within) || slices.ContainsFunc(sortedKeys(f.want), within) {
		return nil
	}
	info, err := os.Lstat(at)
	if err != nil {
		return err
	}
	return os.MkdirAll(to, info.Mode().Perm())
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
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := create(to, source, info.Mode().Perm()); err != nil {
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
