package schema

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
)

// What one evaluation may cost. The processor's time is measured and not the
// clock's, so that a busy machine refuses nothing that an idle one takes.
const (
	evaluationTime   = 1400 * time.Millisecond
	evaluationMemory = 192 << 20 // bytes
	evaluationStack  = 64 << 20  // bytes; beyond it the runtime ends the process
)

// How a process ends that has had enough.
const (
	outOfTime   = 3
	outOfMemory = 4
)

// ServeEvaluator evaluates the CUE profiles that an Evaluator sends on in, until
// it is closed. It is for a process of its own, which ends with an evaluation
// that exceeds its bounds: nothing else stops one.
func ServeEvaluator(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(evaluationStack)
	debug.SetMemoryLimit(evaluationMemory * 3 / 4)
	guard := &guard{}
	go guard.watch()
	folder := &remoteFS{in: gob.NewDecoder(in), out: gob.NewEncoder(out)}
	for {
		var job reply
		if err := folder.in.Decode(&job); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the name of a profile: %w", err)
		}
		guard.begin()
		root, findings := survive(folder, job.Profile)
		guard.end()
		result := request{Kind: haveResult, Findings: findings}
		if root != nil {
			result.Records = appendRecords(nil, "", root)
		}
		if err := folder.out.Encode(result); err != nil {
			return fmt.Errorf("write a result: %w", err)
		}
	}
}

// survive evaluates; where CUE's evaluator panics, that is a finding.
func survive(fsys fs.FS, file string) (root *node, findings diag.List) {
	defer func() {
		if recover() != nil {
			root, findings = nil, diag.List{atTop(file, NotCUE, "the CUE does not evaluate: CUE's evaluator fails on it", "write it more plainly")}
		}
	}()
	return evaluate(fsys, file)
}

// guard ends the process when the evaluation under way exceeds its bounds.
type guard struct {
	sync.Mutex
	under bool
	since time.Duration // of the processor's time
}

func (g *guard) begin() { g.set(true) }
func (g *guard) end()   { g.set(false) }

func (g *guard) set(under bool) {
	g.Lock()
	defer g.Unlock()
	g.under, g.since = under, processorTime()
}

func (g *guard) watch() {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(2 * time.Millisecond) {
		metrics.Read(samples)
		if samples[0].Value.Uint64()-samples[1].Value.Uint64() > evaluationMemory {
			os.Exit(outOfMemory)
		}
		g.Lock()
		if g.under && processorTime()-g.since > evaluationTime {
			os.Exit(outOfTime)
		}
		g.Unlock()
	}
}

// remoteFS is a file system that another process looks into.
type remoteFS struct {
	sync.Mutex
	in  *gob.Decoder
	out *gob.Encoder
}

func (r *remoteFS) ask(kind requestKind, name string) (reply, error) {
	r.Lock()
	defer r.Unlock()
	var got reply
	err := r.out.Encode(request{Kind: kind, Name: name})
	if err == nil {
		err = r.in.Decode(&got)
	}
	if err != nil {
		return got, fmt.Errorf("ask for %s: %w", name, err)
	}
	return got, got.err(name)
}

// Open reads the whole file.
func (r *remoteFS) Open(name string) (fs.File, error) {
	got, err := r.ask(wantFile, name)
	if err != nil {
		return nil, err
	}
	return remoteFile{bytes.NewReader(got.Data), entry{Base: name, Bytes: int64(len(got.Data))}}, nil
}

// Stat asks what is known of a file.
func (r *remoteFS) Stat(name string) (fs.FileInfo, error) {
	got, err := r.ask(wantInfo, name)
	if err != nil {
		return nil, err
	}
	return got.Entries[0], nil
}

// ReadDir lists a folder.
func (r *remoteFS) ReadDir(name string) ([]fs.DirEntry, error) {
	got, err := r.ask(wantFolder, name)
	var all []fs.DirEntry
	for _, e := range got.Entries {
		all = append(all, fs.FileInfoToDirEntry(e))
	}
	return all, err
}

type remoteFile struct {
	*bytes.Reader
	info entry
}

// Stat is what is known of the file.
func (f remoteFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close has nothing to do.
func (f remoteFile) Close() error { return nil }
