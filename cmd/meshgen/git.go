package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// repository is the git repository of the working folder, as the program git reads
// it: objects alone, so that no filter, hook or checkout runs, and nothing is fetched.
type repository struct {
	top string // folder of the work tree, links followed
}

// openRepository finds the repository that the working folder is in.
func openRepository(ctx context.Context) (*repository, error) {
	out, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	top, err := filepath.EvalSymlinks(strings.TrimSuffix(string(out), "\n"))
	return &repository{top}, err
}

// gitEnvironment keeps git from fetching what a partial clone lacks, from asking,
// and from writing to the index.
var gitEnvironment = []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"}

func gitCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), gitEnvironment...)
	return cmd
}

// git is what a git command prints; the error has what git says.
func git(ctx context.Context, args ...string) ([]byte, error) {
	out, err := gitCommand(ctx, args...).Output()
	exit := &exec.ExitError{}
	if errors.As(err, &exit) {
		said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(exit.Stderr)), "fatal: "), "\n")
		return nil, gitError{said}
	}
	return out, err
}

// gitError is a refusal of git's, empty where git says nothing.
type gitError struct{ said string }

func (e gitError) Error() string { return "git: " + e.said }

// commit is the hash of the commit that a revision names; ok is false when it names
// none.
func (r *repository) commit(ctx context.Context, name string) (hash string, ok bool, err error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return "", false, nil // git would take it for an option
	}
	out, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if said := (gitError{}); errors.As(err, &said) {
		return "", false, nil
	}
	return strings.TrimSpace(string(out)), err == nil, err
}

// tree is the revision's files. name is the revision as the user gave it.
func (r *repository) tree(ctx context.Context, name, hash string) (*revision, error) {
	out, err := git(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", hash)
	if err != nil {
		return nil, fmt.Errorf("read revision %s: %w", name, err)
	}
	v := &revision{name: name, entries: map[string]*entry{".": {}}, blobs: &blobs{ctx: ctx}}
	for line := range bytes.SplitSeq(out, []byte{0}) {
		head, path, ok := strings.Cut(string(line), "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			continue
		}
		v.add(path, &entry{mode: fields[0], hash: fields[2]})
	}
	return v, nil
}

// blobs are files by their hashes, of one process of git that answers for all.
type blobs struct {
	ctx context.Context
	sync.Mutex
	in     io.WriteCloser
	out    *bufio.Reader
	failed error
	known  map[string][]byte
}

// mostBlob is more than any file that is read; of a larger one nothing is.
const mostBlob = 64 << 20

var errLargeBlob = fmt.Errorf("it is larger than %d MiB", mostBlob>>20)

// read is the blob with that hash.
func (b *blobs) read(hash string) ([]byte, error) {
	b.Lock()
	defer b.Unlock()
	if data, ok := b.known[hash]; ok {
		return data, nil
	}
	if err := b.start(); err != nil {
		return nil, err
	}
	data, err := b.ask(hash)
	if err == nil {
		b.known[hash] = data
	} else if !errors.Is(err, errLargeBlob) {
		b.failed = err // the next answer would be no answer to the next question
	}
	return data, err
}

// start begins the process once; it ends with the context, or with meshgen.
func (b *blobs) start() error {
	if b.out != nil || b.failed != nil {
		return b.failed
	}
	cmd := gitCommand(b.ctx, "cat-file", "--batch")
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if b.failed = errors.Join(inErr, outErr); b.failed == nil {
		b.failed = cmd.Start()
	}
	b.in, b.out, b.known = in, bufio.NewReader(out), map[string][]byte{}
	return b.failed
}

// ask sends a hash and reads "hash type size", the blob and a line's end.
func (b *blobs) ask(hash string) ([]byte, error) {
	if _, err := io.WriteString(b.in, hash+"\n"); err != nil {
		return nil, err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("git: %s", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return nil, err
	}
	if size > mostBlob {
		_, err := io.CopyN(io.Discard, b.out, size+1)
		return nil, errors.Join(err, errLargeBlob)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, err
	}
	return data[:size], nil
}

// close ends the process.
func (b *blobs) close() {
	if b.in != nil {
		b.in.Close()
	}
}
