package manifests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// mostBytes is more than any file of a base has; kustomize has no limit.
const mostBytes = 32 << 20

var errUnbounded = fmt.Errorf("it is not a file of at most %d MiB", mostBytes>>20)

// scope is the folder that a base may read from.
type scope struct {
	folder string // absolute, links followed
	name   string // as findings call it
}

// scopeOf is the working folder where the base is below it, for bases use what
// lies beside them; else the base's own folder. A working folder that is the top
// of the disk bounds nothing.
func scopeOf(given, real string) (scope, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return scope{}, err
	}
	if here != string(filepath.Separator) && below(here, real) {
		return scope{here, "the working folder"}, nil
	}
	return scope{real, given}, nil
}

func below(folder, path string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// holds reports whether an absolute path stays in the scope, links followed. Of
// what is not there, only the spelling counts.
func (s scope) holds(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = filepath.Clean(path)
	}
	return below(s.folder, real)
}

// read reads a file of the scope: kustomize would read one without an end, and
// wait for a pipe.
func (s scope) read(path string) ([]byte, error) {
	if !s.holds(path) {
		return nil, errors.New("it is outside of " + s.name)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostBytes {
		return nil, errUnbounded
	}
	return os.ReadFile(path)
}
