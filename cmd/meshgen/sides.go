package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/meshgen/meshgen/schema"
)

// origin is where one side of a comparison is read from: paths of the disk, or of
// a revision.
type origin struct {
	revision *revision // nil for the disk
	paths    []string  // of a revision, from the top; none yet for one that was named alone
}

// sides reads OLD and NEW. A revision that is named alone is read at the paths that
// follow, or where the other side is, or in the working folder.
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
	for i, o := range all {
		if !o.alone() {
			continue
		}
		if o.paths, err = s.elsewhere(all[1-i], paths); err != nil {
			return all, err
		}
	}
	return all, nil
}

// alone reports a revision that has no path of its own.
func (o *origin) alone() bool { return o.revision != nil && len(o.paths) == 0 }

// elsewhere are the paths of the repository where a revision is read.
func (s *sides) elsewhere(other *origin, paths []string) ([]string, error) {
	switch {
	case len(paths) > 0:
	case other.revision == nil:
		paths = other.paths
	case len(other.paths) > 0:
		return other.paths, nil
	default:
		paths = []string{"."}
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
	at, err := filepath.Abs(arg)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	} else if folder, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
		at = filepath.Join(folder, filepath.Base(at))
	}
	below, err := filepath.Rel(r.top, at)
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is outside of the git repository %s, so no revision has it", arg, r.top)
	}
	return filepath.ToSlash(below), nil
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

// inputs are the profiles of the side; there may be none.
func (o *origin) inputs() ([]input, error) {
	var all []input
	if o.revision == nil {
		paths, _, err := findProfiles(o.paths)
		if err != nil && !errors.Is(err, errNoProfile) {
			return nil, err
		}
		for _, p := range paths {
			all = append(all, onDisk(p))
		}
		return all, nil
	}
	for _, at := range o.paths {
		paths, err := o.revision.profiles(at)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			all = append(all, o.revision.open(p))
		}
	}
	return all, nil
}

// where is the side as messages name it.
func (o *origin) where() string {
	if o.revision == nil {
		return strings.Join(o.paths, ", ")
	}
	return o.revision.label() + strings.Join(o.paths, ", ")
}

// namedInputs are profiles with their clusters' names.
func namedInputs(cue *schema.Evaluator, inputs []input) []member {
	var all []member
	for _, in := range inputs {
		all = append(all, memberIn(cue, in))
	}
	return all
}
