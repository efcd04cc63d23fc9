package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CheckRoot refuses what cluster folders cannot be written into, before anything
// is computed for it. A root that is not there yet is made by the first Write. It
// may itself be a link, for it is the user who names it.
func CheckRoot(root string) error {
	info, err := os.Lstat(root)
	if err != nil {
		return nil
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(root); err != nil {
			return fmt.Errorf("%s is a link that leads nowhere: remove it, or make the folder that it names", root)
		}
	}
	if !info.IsDir() {
		return notAFolder(root, info)
	}
	return nil
}

func makeRoot(root string) error {
	if err := CheckRoot(root); err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("make the output folder %s: %w: %s", root, err, remedy(err))
	}
	return nil
}

func notAFolder(root string, info fs.FileInfo) error {
	return fmt.Errorf("%s is %s, and cluster folders are written into a folder: move it away, or name another", root, kindOf(info))
}

// remedy is what to do about an error of the disk.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on that disk and run again"
	case errors.Is(err, syscall.EFBIG):
		return "raise the limit on the size of files and run again"
	case errors.Is(err, syscall.EROFS):
		return "mount that disk for writing, or write to another folder"
	case errors.Is(err, fs.ErrPermission):
		return "let this user write there, or write to another folder"
	default:
		return "mend that and run again"
	}
}

// lock lets one run write under a root, or runs read, until the root that it opens is
// closed; others wait, for a time. The lock is on the root itself, so that no file is
// left behind, and it goes with the process. Where there is none to be had, reading
// goes on without, and where there is no root, with nil.
func lock(root string, how int, patience time.Duration) (*os.File, error) {
	dir, err := os.Open(root)
	if errors.Is(err, fs.ErrNotExist) && how == unix.LOCK_SH {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := lockFolder(dir, how, patience); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

func lockFolder(dir *os.File, how int, patience time.Duration) error {
	if info, err := dir.Stat(); err == nil && !info.IsDir() {
		return notAFolder(dir.Name(), info)
	}
	err := flock(int(dir.Fd()), how, patience)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return fmt.Errorf("another run has been writing to %s for %s: wait for it, or end it if it hangs, and run again", dir.Name(), patience)
	case err != nil && how != unix.LOCK_SH:
		return fmt.Errorf("lock %s against other runs: %w: write to a folder on a local disk", dir.Name(), err)
	}
	return nil
}

// flock asks again and again: a call that waits could not be given up.
func flock(fd, how int, patience time.Duration) error {
	const pause = 10 * time.Millisecond
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		err := unix.Flock(fd, how|unix.LOCK_NB)
		waits := errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)
		if !waits || time.Now().After(end) {
			return err
		}
	}
}
