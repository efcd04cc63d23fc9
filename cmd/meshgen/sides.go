package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/schema"
)

// origin is where one side of a comparison is read from: paths of the disk, or of
// a revision.
type origin struct {
	revision *revision // nil for the disk
	paths    []string  // of a revision, from the top; none yet for one that was named alone
}

// sides reads OLD and NEW. Paths that follow are all that is read of both. Without
// them a revision that is named alone is read where the other side is, or in the
// working folder.
type sides struct {
	ctx  context.Context
	repo *repository // once it is needed
}

func (s *sides) origins(old, new string, paths []string) (all [2]*origin, err error) {
	for i, arg := range []string{old, new} {
		if all[i], err = s.origin(arg); err != nil {
			return all, err
		}
	}
	if len(paths) > 0 && !all[0].alone() && !all[1].alone() {
		return all, errors.New("paths after OLD and NEW say where revisions are read, and neither is a revision without a path of its own")
	}
	if len(paths) > 0 {
		return all, s.narrow(all, paths)
	}
	for i, o := range all {
		if !o.alone() {
			continue
		}
		if o.paths, err = s.elsewhere(all[1-i]); err != nil {
			return all, err
		}
	}
	return all, nil
}

// alone reports a revision that has no path of its own.
func (o *origin) alone() bool { return o.revision != nil && len(o.paths) == 0 }

// narrow has both sides read at the paths alone. A path that only one side has is
// of clusters that are new, or gone.
func (s *sides) narrow(all [2]*origin, paths []string) error {
	var narrowed [2][]string
	for _, p := range paths {
		committed, err := s.repo.inside(p)
		if err != nil {
			return err
		}
		known := false
		for i, o := range all {
			at, ok, err := o.has(p, committed)
			if err != nil {
				return err
			}
			if ok {
				known, narrowed[i] = true, append(narrowed[i], at)
			}
		}
		if !known {
			return fmt.Errorf("%s: no such file or folder on either side, in %s or in %s", p, all[0].where(), all[1].where())
		}
	}
	for i, o := range all {
		o.paths = narrowed[i]
	}
	return nil
}

// has is a path as the side reads it, and whether it is there. committed is the path
// from the repository's top.
func (o *origin) has(arg, committed string) (at string, ok bool, err error) {
	switch {
	case o.revision == nil && !isBelow(resolved(o.paths[0]), resolved(arg)),
		o.revision != nil && !o.alone() && !isBelow(o.paths[0], committed):
		return "", false, fmt.Errorf("%s is not in %s, so it says nothing of that side: give the other as REVISION:PATH instead", arg, o.where())
	case o.revision == nil:
		_, err := os.Stat(arg)
		return arg, err == nil, nil
	}
	e, err := o.revision.entry(committed)
	return committed, e != nil, err
}

// isBelow reports a path that is the folder, or in it.
func isBelow(folder, at string) bool {
	rest, err := filepath.Rel(folder, at)
	return err == nil && filepath.IsLocal(rest)
}

// elsewhere are the paths of the repository where a revision is read.
func (s *sides) elsewhere(other *origin) ([]string, error) {
	paths := []string{"."}
	switch {
	case other.revision == nil:
		paths = other.paths
	case len(other.paths) > 0:
		return other.paths, nil
	}
	var all []string
	for _, p := range paths {
		at, err := s.repo.inside(p)
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	return all, nil
}

// inside is a path of the disk, which need not be there, from the repository's top.
func (r *repository) inside(arg string) (string, error) {
	below, err := filepath.Rel(r.top, resolved(arg))
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is outside of the git repository %s, so no revision has it", arg, r.top)
	}
	return filepath.ToSlash(below), nil
}

// resolved is a path of the disk, which need not be there, from the root and with
// links followed.
func resolved(arg string) string {
	at, err := filepath.Abs(arg)
	if err != nil {
		return arg // the working folder is gone
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
		return filepath.Join(folder, filepath.Base(at))
	}
	return at
}

// origin reads one argument: what is on the disk is a path, anything else a revision
// or REVISION:PATH.
func (s *sides) origin(arg string) (*origin, error) {
	_, err := os.Stat(arg)
	if err == nil {
		return &origin{paths: []string{arg}}, s.onlyPath(arg)
	}
	name, at, ofPath := cutRevision(arg)
	if name == "" || strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%s: no such file or folder, and no revision", arg)
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("%s is no file or folder here, and no revision: %w", arg, err)
	}
	hash, ok, err := s.repo.commit(s.ctx, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s is no file or folder here, and %s is no revision of this git repository", arg, name)
	}
	tree, err := s.repo.tree(s.ctx, name, hash)
	if err != nil {
		return nil, err
	}
	o := &origin{revision: tree}
	if ofPath {
		if at, err = s.repo.named(at); err != nil {
			return nil, err
		}
		e, err := tree.entry(at)
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, fmt.Errorf("revision %s has no file or folder %s", name, at)
		}
		o.paths = []string{at}
	}
	return o, nil
}

// named is the path of REVISION:PATH, from the top unless it begins with a dot, as
// git takes it.
func (r *repository) named(at string) (string, error) {
	if at == "." || at == ".." || strings.HasPrefix(at, "./") || strings.HasPrefix(at, "../") {
		return r.inside(at)
	}
	if at = path.Clean(at); !filepath.IsLocal(at) {
		return "", fmt.Errorf("%s is outside of the git repository %s", at, r.top)
	}
	return at, nil
}

// cutRevision takes the path off REVISION:PATH. A colon in braces is the revision's
// own, as in HEAD^{/fix: it}.
func cutRevision(arg string) (name, at string, ok bool) {
	depth := 0
	for i, c := range arg {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth <= 0 {
				return arg[:i], arg[i+1:], true
			}
		}
	}
	return arg, "", false
}

// onlyPath refuses a name that is a path and a revision too: to take either would
// compare what was not meant.
func (s *sides) onlyPath(arg string) error {
	if arg == "." || arg == ".." || filepath.IsAbs(arg) || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") {
		return nil
	}
	if s.open() != nil {
		return nil // without a repository there are only paths
	}
	_, ok, err := s.repo.commit(s.ctx, arg)
	if err != nil || !ok {
		return err
	}
	return fmt.Errorf("%s is a path and a git revision: write ./%[1]s for the path, or refs/heads/%[1]s or %[1]s^{commit} for the revision", arg)
}

func (s *sides) open() (err error) {
	if s.repo == nil {
		s.repo, err = openRepository(s.ctx)
	}
	return err
}

// inputs are the profiles of the side, each once; there may be none.
func (o *origin) inputs() (all []input, err error) {
	list, open := onDiskBelow, onDisk
	if o.revision != nil {
		list, open = o.revision.profiles, o.revision.open
	}
	var paths []string
	for _, at := range o.paths {
		below, err := list(at)
		if err != nil {
			return nil, err
		}
		paths = append(paths, below...)
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		all = append(all, open(p))
	}
	return all, nil
}

// onDiskBelow lists the profiles at a path of the disk; there may be none.
func onDiskBelow(at string) ([]string, error) {
	paths, _, err := findProfiles([]string{at})
	if errors.Is(err, errNoProfile) {
		return nil, nil
	}
	return paths, err
}

// where is the side as messages name it.
func (o *origin) where() string {
	at := strings.Join(o.paths, ", ")
	switch {
	case o.revision == nil:
		return at
	case o.alone():
		return o.revision.name
	}
	return o.revision.label() + at
}

// namedInputs are profiles with their clusters' names.
func namedInputs(cue *schema.Evaluator, inputs []input) []member {
	var all []member
	for _, in := range inputs {
		all = append(all, memberIn(cue, in))
	}
	return all
}
