package output

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange gives two folders each other's name in one step.
func exchange(one, other string) error {
	err := unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return errors.ErrUnsupported // an old kernel, or a file system such as NFS
	default:
		return err
	}
}
