package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestOneClustersFilesAreSyncedAlone(t *testing.T) {
	root := t.TempDir()
	there := filepath.Join(root, "there")
	if err := os.WriteFile(there, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &flusher{folder: opened(t, root)}
	if err := f.flush(there, root); err != nil {
		t.Error(err)
	}
	if err := f.flush(there, filepath.Join(root, "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that a file is gone: each is opened", err)
	}
}

// Those that come while the disk is busy go together. On Linux that is one call for
// the file system, which asks for no file by its name.
func TestWhatComesMeanwhileGoesTogether(t *testing.T) {
	root := t.TempDir()
	f := &flusher{folder: opened(t, root)}
	f.running.Lock()
	const clusters = 8
	errs := make([]error, clusters)
	var group sync.WaitGroup
	for i := range clusters {
		group.Go(func() { errs[i] = f.flush(filepath.Join(root, "gone")) })
	}
	for end := time.Now().Add(10 * time.Second); f.waiting() < clusters; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d wait together", f.waiting(), clusters)
		}
	}
	f.running.Unlock()
	group.Wait()
	for _, err := range errs {
		if together := err == nil; together != (runtime.GOOS == "linux") {
			t.Errorf("%v on %s", err, runtime.GOOS)
		}
	}
	if err := f.flush(root); err != nil || f.waiting() != 0 {
		t.Errorf("%v, and %d wait: want a go of its own", err, f.waiting())
	}
}

func (f *flusher) waiting() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.next == nil {
		return 0
	}
	return f.next.joined
}

func opened(t *testing.T, folder string) *os.File {
	t.Helper()
	file, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
