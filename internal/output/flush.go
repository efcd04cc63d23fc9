package output

import (
	"errors"
	"os"
	"sync"
)

// flusher writes files and folders through to the disk, those of several clusters
// together: what comes while others are being written waits, and goes next, in one go.
type flusher struct {
	mutex   sync.Mutex
	folder  *os.File   // on the file system, opened before anything is written
	next    *flush     // the one that can still be joined
	running sync.Mutex // one at a time
}

type flush struct {
	paths  []string
	joined int // by how many
	once   sync.Once
	err    error
}

// flush returns when the paths are on the disk. The error is that of any path in the
// same go.
func (f *flusher) flush(paths ...string) error {
	f.mutex.Lock()
	if f.next == nil {
		f.next = &flush{}
	}
	mine := f.next
	mine.paths = append(mine.paths, paths...)
	mine.joined++
	f.mutex.Unlock()
	mine.once.Do(func() {
		f.running.Lock()
		defer f.running.Unlock()
		mine.err = mine.sync(f.close())
	})
	return mine.err
}

// close lets nobody join any more.
func (f *flusher) close() *os.File {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.next = nil
	return f.folder
}

// sync writes what several wait for through with the whole file system, for each file
// alone waits for the disk. One cluster's files are synced alone: the file system may
// hold gigabytes of others', and a fleet waits for these once.
func (f *flush) sync(folder *os.File) error {
	if f.joined > 1 {
		if err := syncFileSystem(folder); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return syncAll(f.paths)
}

// syncsAtOnce is how many files are synced at a time: a disk takes those that
// come together in one go, and one after another each waits for it.
const syncsAtOnce = 16

// syncAll writes files and folders through to the disk, one by one.
func syncAll(paths []string) error {
	errs := make([]error, len(paths))
	slots := make(chan struct{}, syncsAtOnce)
	var group sync.WaitGroup
	for i, at := range paths {
		slots <- struct{}{}
		group.Go(func() {
			errs[i] = syncPath(at)
			<-slots
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func syncPath(at string) error {
	file, err := os.Open(at)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
