package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// swap replaces a cluster's folder by the one staged beside it. Where the file
// system can exchange two names, that is one step. Where it cannot, a marker
// says that a swap is under way, and the next run finishes it.
type swap struct {
	root, cluster string
	exchange      func(one, other string) error // errors.ErrUnsupported where it cannot be done
	flush         func(paths ...string) error   // writes through to the disk
	done          func(step string)             // told after each step, so that tests can stop there
}

// patience is many times what a cluster takes to be written.
const patience = time.Minute

func newSwap(root, cluster string) (swap, error) {
	if cluster == "" || cluster != filepath.Base(cluster) || strings.HasPrefix(cluster, ".") {
		return swap{}, fmt.Errorf("cluster name %q is not a folder name", cluster)
	}
	return swap{root, cluster, exchange, new(flusher).flush, func(string) {}}, nil
}

func (s swap) folder() string { return filepath.Join(s.root, s.cluster) }
func (s swap) staged() string { return s.beside("staged") }
func (s swap) beside(what string) string {
	return filepath.Join(s.root, "."+s.cluster+".meshgen-"+what)
}

// besides are what can be left beside a folder by a run that was stopped.
func besides() []string { return []string{"staged", "old", "swap"} }

// interrupted is the cluster whose swap left that name behind.
func interrupted(name string) (cluster string, ok bool) {
	for _, what := range besides() {
		if cluster, ok := strings.CutSuffix(name, ".meshgen-"+what); ok {
			return strings.CutPrefix(cluster, ".")
		}
	}
	return "", false
}

// put swaps, and removes the old folder.
func (s swap) put() error {
	if !exists(s.folder()) {
		if err := os.Rename(s.staged(), s.folder()); err != nil {
			return err
		}
		s.done("moved in")
		return s.flush(s.root)
	}
	err := s.exchange(s.staged(), s.folder())
	if errors.Is(err, errors.ErrUnsupported) {
		return s.putInTwo()
	}
	if err != nil {
		return err
	}
	s.done("exchanged")
	if err := s.rescue(s.staged()); err != nil {
		return err
	}
	return s.tidy()
}

// putInTwo swaps by two renames under a marker.
func (s swap) putInTwo() error {
	if err := create(s.beside("swap"), strings.NewReader(""), 0o644); err != nil {
		return err
	}
	if err := s.flush(s.root); err != nil {
		return err
	}
	s.done("marked")
	if err := os.Rename(s.folder(), s.beside("old")); err != nil {
		return err
	}
	s.done("moved away")
	if err := os.Rename(s.staged(), s.folder()); err != nil {
		return err
	}
	s.done("moved in")
	if err := s.rescue(s.beside("old")); err != nil {
		return err
	}
	return s.tidy()
}

// recover finishes what a run that was stopped has left: with the old folder
// away, the staged one is complete and moves in; else it is of no use.
func (s swap) recover() error {
	if err := s.refuse(); err != nil {
		return err
	}
	if !exists(s.folder()) && exists(s.beside("old")) {
		from := s.beside("old")
		if exists(s.beside("swap")) && exists(s.staged()) {
			from = s.staged()
		}
		if err := os.Rename(from, s.folder()); err != nil {
			return fmt.Errorf("repair %s: %w", s.folder(), err)
		}
	}
	for _, what := range besides() {
		if exists(s.beside(what)) {
			return s.tidy()
		}
	}
	return nil
}

// refuse stops at what no run of meshgen leaves beside a folder: it is somebody
// else's, and repairing would remove it.
func (s swap) refuse() error {
	for _, what := range besides() {
		info, err := os.Lstat(s.beside(what))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		want := "a folder"
		if what == "swap" {
			want = "a file"
		}
		if kind := kindOf(info); kind != want {
			return fmt.Errorf("%s is %s, where a run has %s for a moment: move it away and run again", s.beside(what), kind, want)
		}
	}
	if exists(s.folder()) && exists(s.beside("old")) && exists(s.staged()) {
		return fmt.Errorf("%s was put back after a run had been stopped, which left the old files in %s and the new ones in %s: keep what you need of the two, remove both and run again",
			s.folder(), s.beside("old"), s.staged())
	}
	return nil
}

// tidy removes what is left beside a folder that is in its place, the marker last.
func (s swap) tidy() error {
	if err := s.flush(s.root); err != nil {
		return err
	}
	for _, what := range besides() {
		if err := discard(s.beside(what)); err != nil {
			return fmt.Errorf("remove what a swap left: %w", err)
		}
		s.done("removed " + what)
	}
	return s.flush(s.root)
}

// discard removes a folder, with those in it that may not be written into.
func discard(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return os.Chmod(at, 0o700)
	})
	return errors.Join(err, os.RemoveAll(dir))
}

func exists(at string) bool {
	_, err := os.Lstat(at)
	return err == nil
}
