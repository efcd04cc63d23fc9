//go:build !linux

package output

import "errors"

// exchange is what only Linux does; elsewhere a folder is swapped by two renames.
func exchange(_, _ string) error { return errors.ErrUnsupported }
