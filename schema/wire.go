package schema

import (
	"errors"
	"io/fs"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
)

// A process that evaluates CUE has no files: it asks for them on one pipe, which
// ends with a result, and is answered on another. Both are streams of gob.
type request struct {
	Kind     requestKind
	Name     string // of a file or a folder
	Records  []record
	Findings diag.List
}

type requestKind int

const (
	wantInfo requestKind = iota
	wantFolder
	wantFile
	haveResult
)

// reply answers a request for a file; the first of all names the profile.
type reply struct {
	Profile string
	Data    []byte
	Entries []entry // of a folder, or the one that was asked for
	Problem string
	Missing bool // the problem is that there is no such file
}

// err is the problem as the error of a file system.
func (r reply) err(name string) error {
	switch {
	case r.Missing:
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case r.Problem != "":
		return errors.New(r.Problem)
	}
	return nil
}

// answer looks into the file system on behalf of the other process.
func answer(fsys fs.FS, r request) reply {
	var out reply
	var err error
	switch r.Kind {
	case wantInfo:
		var info fs.FileInfo
		if info, err = fs.Stat(fsys, r.Name); err == nil {
			out.Entries = []entry{entryOf(info)}
		}
	case wantFolder:
		var entries []fs.DirEntry
		entries, err = fs.ReadDir(fsys, r.Name)
		for _, e := range entries {
			out.Entries = append(out.Entries, entry{Base: e.Name(), Type: e.Type()})
		}
	case wantFile:
		out.Data, err = readOpened(fsys, r.Name)
	}
	if err != nil {
		out.Problem, out.Missing = diag.Reason(err), errors.Is(err, fs.ErrNotExist)
	}
	return out
}

// entry is what is known of a file.
type entry struct {
	Base  string
	Type  fs.FileMode
	Bytes int64
}

func entryOf(info fs.FileInfo) entry { return entry{info.Name(), info.Mode(), info.Size()} }

// Name is the last part of the file's path.
func (e entry) Name() string { return e.Base }

// Size is in bytes.
func (e entry) Size() int64 { return e.Bytes }

// Mode is the kind of the file, and its permissions where they were asked for.
func (e entry) Mode() fs.FileMode { return e.Type }

// ModTime is unknown.
func (e entry) ModTime() time.Time { return time.Time{} }

// IsDir reports whether it is a folder.
func (e entry) IsDir() bool { return e.Type.IsDir() }

// Sys is nothing.
func (e entry) Sys() any { return nil }

// record is one node of a tree in the order of a walk: a mapping or a list is
// followed by what it holds.
type record struct {
	Key     string // in a mapping
	Kind    kind
	Literal string
	Pos     diag.Pos
	Last    int
	Holds   int
}

func appendRecords(to []record, key string, n *node) []record {
	to = append(to, record{key, n.kind, n.literal, n.pos, n.last, len(n.fields) + len(n.items)})
	for _, f := range n.fields {
		to = appendRecords(to, f.key, f.value)
	}
	for _, item := range n.items {
		to = appendRecords(to, "", item)
	}
	return to
}

// treeOf is the tree that begins with the first record, and the records after it.
func treeOf(from []record) (*node, []record) {
	r, rest := from[0], from[1:]
	n := &node{kind: r.Kind, literal: r.Literal, pos: r.Pos, last: r.Last}
	for range r.Holds {
		key := rest[0].Key
		var value *node
		value, rest = treeOf(rest)
		if r.Kind == mapping {
			n.fields = append(n.fields, field{key, value})
		} else {
			n.items = append(n.items, value)
		}
	}
	return n, rest
}
