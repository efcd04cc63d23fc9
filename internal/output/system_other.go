//go:build !linux

package output

import (
	"errors"
	"os"
)

// exchange is what only Linux does; elsewhere a folder is swapped by two renames.
func exchange(_, _ string) error { return errors.ErrUnsupported }

// syncFileSystem is what only Linux does with an error where it fails; elsewhere
// files are synced one by one.
func syncFileSystem(_ *os.File) error { return errors.ErrUnsupported }
