package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// revision is the files of a git commit by their paths from the top.
type revision struct {
	name    string // as the user gave it
	entries map[string]*entry
	blobs   *blobs
}

// entry is a file, a link or a submodule as git lists it, or a folder, which has no
// mode, with the names in it.
type entry struct {
	mode, hash string
	below      []string
}

// The modes of git's entries that are no file.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// add takes in an entry and the folders above it.
func (r *revision) add(at string, e *entry) {
	r.entries[at] = e
	for at != "." {
		folder, known := path.Dir(at), true
		above := r.entries[folder]
		if above == nil {
			above, known = &entry{}, false
			r.entries[folder] = above
		}
		above.below = append(above.below, path.Base(at))
		if known {
			return
		}
		at = folder
	}
}

// label is what stands before a path of the revision, as git writes it.
func (r *revision) label() string { return r.name + ":" }

// entry is what is at a path of the tree, nil for nothing.
func (r *revision) entry(at string) (*entry, error) {
	for above := at; above != "."; above = path.Dir(above) {
		if e := r.entries[above]; e != nil && (e.mode == modeLink || e.mode == modeSubmodule) {
			return nil, fmt.Errorf("%s%s is a link or a submodule, and neither is followed in a revision", r.label(), above)
		}
	}
	return r.entries[at], nil
}

// profiles lists the profiles at a path of the tree: itself, or those below. There
// are none where the revision has no such path.
func (r *revision) profiles(at string) (paths []string, err error) {
	e, err := r.entry(at)
	switch {
	case e == nil:
		return nil, err
	case e.mode != "":
		return []string{at}, nil
	}
	return r.below(at)
}

func (r *revision) below(folder string) (paths []string, err error) {
	for _, name := range slices.Sorted(slices.Values(r.entries[folder].below)) {
		at := path.Join(folder, name)
		e := r.entries[at]
		switch {
		case e.mode == "":
			more, err := r.below(at)
			if err != nil {
				return nil, err
			}
			paths = append(paths, more...)
		case !slices.Contains(profileNames, name):
		case e.mode == modeLink || e.mode == modeSubmodule:
			return nil, fmt.Errorf("%s%s is a link or no file, and links below a folder are not followed: put the profile itself there", r.label(), at)
		default:
			paths = append(paths, at)
		}
	}
	return paths, nil
}

// open is a profile of the revision, to be read as one on the disk is.
func (r *revision) open(at string) input {
	folder := path.Dir(at)
	root := folder
	if path.Ext(at) == ".cue" {
		root = r.moduleOf(folder)
	}
	name, prefix := at, r.label()
	if root != "." {
		name, prefix = strings.TrimPrefix(at, root+"/"), r.label()+root+"/"
	}
	return input{path: r.label() + at, folder: r.label() + withSlash(folder), fsys: committed{r, root}, name: name, prefix: prefix, label: r.label(), beside: committed{r, folder}}
}

// withSlash is what stands before the names in a folder.
func withSlash(folder string) string {
	switch folder {
	case ".":
		return ""
	case "/":
		return "/"
	}
	return folder + "/"
}

// moduleOf is moduleOf for folders of the revision.
func (r *revision) moduleOf(folder string) string {
	for at := folder; ; at = path.Dir(at) {
		if e := r.entries[path.Join(at, "cue.mod")]; e != nil && e.mode == "" {
			return at
		}
		if at == "." {
			return folder
		}
	}
}

// committed is a folder of a revision that no name leads out of; links are not
// followed.
type committed struct {
	*revision
	root string
}

// Open opens a file or a folder for reading.
func (c committed) Open(name string) (fs.File, error) {
	at := path.Clean(name)
	if !fs.ValidPath(at) {
		return nil, errOutside
	}
	e := c.entries[path.Join(c.root, at)]
	if e == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f := &committedFile{info: committedInfo{name: path.Base(at), entry: e}}
	if e.mode == "" {
		f.folder = committed{c.revision, path.Join(c.root, at)}
		return f, nil
	}
	if !f.info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errLink}
	}
	data, err := c.blobs.read(e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f.info.size, f.Reader = int64(len(data)), bytes.NewReader(data)
	return f, nil
}

var errLink = errors.New("it is a link or a submodule, and neither is followed in a revision")

// committedFile is an open file, or a folder, which has no bytes.
type committedFile struct {
	*bytes.Reader
	info   committedInfo
	folder committed
	listed bool
}

// Read reads a file.
func (f *committedFile) Read(p []byte) (int, error) {
	if f.Reader == nil {
		return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: fs.ErrInvalid}
	}
	return f.Reader.Read(p)
}

// Stat describes the file.
func (f *committedFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close has nothing to do.
func (f *committedFile) Close() error { return nil }

// ReadDir lists a folder, all of it at once.
func (f *committedFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if f.listed && n > 0 {
		return nil, io.EOF
	}
	f.listed = true
	var all []fs.DirEntry
	for _, name := range slices.Sorted(slices.Values(f.info.below)) {
		info := committedInfo{name: name, entry: f.folder.entries[path.Join(f.folder.root, name)]}
		all = append(all, fs.FileInfoToDirEntry(info))
	}
	return all, nil
}

// committedInfo describes an entry. The size is known of what was opened.
type committedInfo struct {
	name string
	*entry
	size int64
}

func (i committedInfo) Name() string       { return i.name }
func (i committedInfo) Size() int64        { return i.size }
func (i committedInfo) ModTime() time.Time { return time.Time{} }
func (i committedInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i committedInfo) Sys() any           { return nil }

func (i committedInfo) Mode() fs.FileMode {
	switch i.mode {
	case "":
		return fs.ModeDir | 0o555
	case modeLink:
		return fs.ModeSymlink | 0o444
	case modeSubmodule:
		return fs.ModeIrregular | 0o444
	}
	return 0o444
}
