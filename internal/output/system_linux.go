package output

import (
	"errors"
	"os"

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

// syncFileSystem writes all of the file system through that a folder is on. It
// reports what could not be written since the folder was opened, from Linux 5.8 on.
func syncFileSystem(folder *os.File) error {
	err := unix.Syncfs(int(folder.Fd()))
	if errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
