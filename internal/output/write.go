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
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/meshgen/meshgen/internal/artifact"
)

// Writer writes clusters under a root, from several goroutines at a time: a disk
// takes in one go what comes together, and one after another each cluster would wait
// for it. Other runs wait for as long as any is being written.
type Writer struct {
	root     string
	patience time.Duration // with another run that writes under the root

	mutex   sync.Mutex
	writing int
	disk    flusher
}

// NewWriter writes under that root.
func NewWriter(root string) *Writer { return &Writer{root: root, patience: patience} }

// Write makes the cluster's folder under the root hold the files, as one swap,
// and the root where it is not there. What is equal already is left untouched. It
// says what it changed, without the text.
func (w *Writer) Write(cluster string, files []artifact.File) (Changes, error) {
	s, err := newSwap(w.root, cluster)
	if err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	defer w.end()
	s.flush = w.disk.flush
	return s.write(files)
}

// begin locks the root for the first of those that write at once.
func (w *Writer) begin() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.writing == 0 {
		if err := makeRoot(w.root); err != nil {
			return err
		}
		folder, err := lock(w.root, unix.LOCK_EX, w.patience)
		if err != nil {
			return err
		}
		w.disk.folder = folder
	}
	w.writing++
	return nil
}

// end is for the last of them to leave the root to other runs.
func (w *Writer) end() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.writing--; w.writing == 0 {
		w.disk.folder.Close()
	}
}

// write is for one that has locked the root.
func (s swap) write(files []artifact.File) (Changes, error) {
	if err := s.recover(); err != nil {
		return nil, err
	}
	f, err := look(s.root, s.cluster, files)
	if err != nil {
		return nil, err
	}
	changes := f.changes()
	if len(changes) == 0 {
		return nil, nil
	}
	if err := s.replace(f); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", f.dir, err), s.recover())
	}
	return changes, nil
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
	written, err := f.stage(s.staged())
	if err != nil {
		return err
	}
	return s.flush(written...)
}

// stage fills the new folder: the files that are wanted, and everything in the
// old folder that is not meshgen's. Files that stay are linked, so that they
// keep their times. It returns what is still to be written through to the disk.
func (f *folder) stage(dir string) (written []string, err error) {
	for _, name := range sortedKeys(f.want) {
		at := filepath.Join(dir, name)
		linked, err := f.stageFile(at, name)
		if err != nil {
			return nil, err
		}
		if !linked {
			written = append(written, at)
		}
	}
	if f.exists {
		if err := f.stageForeign(dir); err != nil {
			return nil, err
		}
		if err := f.keepModes(dir); err != nil {
			return nil, err
		}
	}
	folders, err := foldersBelow(dir)
	if err != nil {
		return nil, err
	}
	return append(written, folders...), nil
}

// stageFile links the file where it stays, or writes a new one, which is then
// still to be synced.
func (f *folder) stageFile(at, name string) (linked bool, err error) {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return false, err
	}
	if had, ok := f.have[name]; ok && bytes.Equal(had, f.want[name]) {
		return true, keep(filepath.Join(f.dir, name), at)
	}
	return false, fill(at, bytes.NewReader(f.want[name]), 0o644, func(*os.File) error { return nil })
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
	return fill(at, data, mode, (*os.File).Sync)
}

// fill writes a file that must not be there yet.
func fill(at string, data io.Reader, mode fs.FileMode, finish func(*os.File) error) error {
	file, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, data)
	return errors.Join(err, finish(file), file.Close())
}

// foldersBelow are the folder and all folders in it.
func foldersBelow(root string) ([]string, error) {
	var folders []string
	err := filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, at)
		}
		return err
	})
	return folders, err
}
