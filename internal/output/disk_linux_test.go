package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// disk is set in the process of its own that a test runs itself in, to what that
// process does to its disk. A process cannot undo that.
const disk = "MESHGEN_TEST_DISK"

// noMounts is the exit status of a process that may not mount.
const noMounts = 77

// again runs the test in a process and a working folder of its own. mountable is false, and the test
// has not run, where that process may not mount.
func again(t *testing.T, as string, attributes *syscall.SysProcAttr) (mountable bool) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), disk+"="+as)
	cmd.SysProcAttr = attributes
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if attributes != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == noMounts) {
		t.Logf("%s is not to be had here: %v", as, err)
		return false
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("on %s: %v\n%s", as, err, out)
	}
	return true
}

// mounts let a process mount what no other sees.
func mounts() *syscall.SysProcAttr {
	if os.Getuid() == 0 {
		return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

// mount is a new disk in memory.
func mount(t *testing.T, options string) (root string) {
	t.Helper()
	root = t.TempDir()
	err := unix.Mount("tmpfs", root, "tmpfs", 0, options)
	if errors.Is(err, fs.ErrPermission) {
		os.Exit(noMounts)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return root
}

// Where nothing may be mounted, a file that may only grow so far stands in for
// the small disk.
func TestAFullDiskLosesNothing(t *testing.T) {
	const small, limited = "a small disk", "a disk for small files"
	switch os.Getenv(disk) {
	case "":
		if !again(t, small, mounts()) {
			again(t, limited, nil)
		}
	case small:
		losesNothing(t, mount(t, "size=256k"), "no space left on device", "make room on that disk and run again")
	case limited:
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 128 << 10, Max: 128 << 10}); err != nil {
			t.Fatal(err)
		}
		losesNothing(t, ".", "file too large", "raise the limit on the size of files and run again")
	}
}

// losesNothing writes more than there is room for over what is there.
func losesNothing(t *testing.T, root, why, remedy string) {
	t.Helper()
	write(t, root, files("PLAN.md", "old", "gone", "x"))
	place(t, filepath.Join(root, "mesh/notes.txt"), "by a person")
	before := tree(t, root)
	err := writeTo(root, "mesh", files("PLAN.md", "new", "a", "small", "b", strings.Repeat("large", 100_000)))
	want := fmt.Sprintf("write %s: write %s: %s: the files there are as they were; %s",
		filepath.Join(root, "mesh"), filepath.Join(root, ".mesh.meshgen-staged/b"), why, remedy)
	if fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("something was lost or left behind (-before +after):\n%s", diff)
	}
	write(t, root, files("PLAN.md", "with room"))
}

// Where nothing may be mounted, a folder that the user may not write into stands
// in for the disk that nobody may.
func TestARootThatIsReadOnlyLosesNothing(t *testing.T) {
	const mounted, forbidden = "a disk for reading", "a folder of somebody else's"
	switch os.Getenv(disk) {
	case "":
		if !again(t, mounted, mounts()) {
			again(t, forbidden, nil)
		}
	case mounted:
		root := mount(t, "")
		protect := func() error { return unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, "") }
		refusesToWrite(t, root, protect, "read-only file system", "mount that disk for writing, or write to another folder")
	case forbidden:
		refusesToWrite(t, ".", forbid, "permission denied", "let this user write there, or write to another folder")
	}
}

// forbid takes the permission to write into the working folder, and from root
// what does not heed permissions.
func forbid() error {
	err := errors.Join(os.Chmod(".", 0o555), os.Chmod("..", 0o755))
	if os.Getuid() != 0 {
		return err
	}
	const nobody = 65534
	return errors.Join(err, syscall.Setgid(nobody), syscall.Setuid(nobody))
}

func refusesToWrite(t *testing.T, root string, protect func() error, why, remedy string) {
	t.Helper()
	write(t, root, files("PLAN.md", "old"))
	before := tree(t, root)
	if err := protect(); err != nil {
		t.Fatal(err)
	}
	err := writeTo(root, "mesh", files("PLAN.md", "new"))
	want := fmt.Sprintf("write %s: mkdir %s: %s: the files there are as they were; %s",
		filepath.Join(root, "mesh"), filepath.Join(root, ".mesh.meshgen-staged"), why, remedy)
	if fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	out := filepath.Join(root, "out")
	want = fmt.Sprintf("make the output folder %[1]s: mkdir %[1]s: %s: %s", out, why, remedy)
	if err := writeTo(out, "mesh", nil); fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := writeTo(root, "mesh", files("PLAN.md", "old")); err != nil {
		t.Errorf("nothing has to be written: %v", err)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("something was changed (-before +after):\n%s", diff)
	}
}
