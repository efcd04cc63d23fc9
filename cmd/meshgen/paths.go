package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// profileNames are the files that a folder argument is walked for.
var profileNames = []string{"profile.yaml", "profile.yml", "profile.cue"}

// findProfiles lists the profiles that the arguments name: files as they are,
// folders walked for profiles, links not followed. fleet says whether any
// argument was a folder of clusters, and not the folder of one.
func findProfiles(args []string) (paths []string, fleet bool, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, false, err
		}
		if !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		below, err := walkFolder(arg)
		if err != nil {
			return nil, false, err
		}
		if len(below) == 0 {
			return nil, false, fmt.Errorf("%w below %s", errNoProfile, arg)
		}
		paths = append(paths, below...)
		fleet = fleet || slices.ContainsFunc(below, func(path string) bool { return filepath.Dir(path) != filepath.Clean(arg) })
	}
	slices.Sort(paths)
	return slices.Compact(paths), fleet, nil
}

var errNoProfile = errors.New("no profile.yaml, profile.yml or profile.cue")

// walkFolder lists the profiles below a folder, which may itself be a link. A
// profile that is one stops the run: passed over, its cluster would seem gone.
func walkFolder(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains(profileNames, entry.Name()) {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is a link or no file, and links below a folder are not followed: put the profile itself there", path)
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

// open is the folder that a profile is read from, its name there, and the prefix
// that findings then lack, so that they name it as the user did: its own folder,
// and for CUE the nearest above it with a cue.mod, for packages import each other.
func open(path string) (fsys fs.FS, name, prefix string) {
	folder := folderOf(path)
	prefix = filepath.ToSlash(folder) + "/"
	switch folder {
	case ".":
		prefix = ""
	case string(filepath.Separator):
		prefix = "/"
	}
	return bounded(folder), filepath.ToSlash(nameIn(folder, path)), prefix
}

// input is a profile to be read, from the disk or from a revision.
type input struct {
	path, folder string // as messages name it, and what stands before the names beside it
	fsys         fs.FS  // that it is read from
	name         string // there
	prefix       string // that findings then lack
	label        string // of a revision, with which its files begin; empty on the disk
	beside       fs.FS  // its own folder, for the files that it names
}

// onDisk is the profile at a path.
func onDisk(path string) input {
	fsys, name, prefix := open(path)
	folder := filepath.Dir(path)
	return input{path: path, folder: withSlash(filepath.ToSlash(folder)), fsys: fsys, name: name, prefix: prefix, beside: bounded(folder)}
}

func folderOf(path string) string {
	folder := filepath.Dir(path)
	if filepath.Ext(path) == ".cue" {
		return moduleOf(folder)
	}
	return folder
}

// nameIn is the path as seen from a folder above it.
func nameIn(folder, path string) string {
	from, fromErr := filepath.Abs(folder)
	to, toErr := filepath.Abs(path)
	if name, err := filepath.Rel(from, to); errors.Join(fromErr, toErr, err) == nil {
		return name
	}
	return filepath.Base(path)
}

// moduleOf is the nearest folder with a cue.mod at or above a folder; the folder
// itself when there is none.
func moduleOf(folder string) string {
	for at := folder; ; at = filepath.Join(at, "..") {
		if info, err := os.Lstat(filepath.Join(at, "cue.mod")); err == nil && info.IsDir() {
			return at
		}
		if abs, err := filepath.Abs(at); err != nil || abs == filepath.Dir(abs) {
			return folder
		}
	}
}

// bounded is a folder of the disk that no name and no link leads out of.
type bounded string

// Open opens a file for reading.
func (b bounded) Open(name string) (fs.File, error) {
	file, err := os.OpenInRoot(string(b), filepath.FromSlash(name))
	if err != nil {
		return nil, outside(err)
	}
	return file, nil
}

// Stat looks at a file without opening it: a pipe would block.
func (b bounded) Stat(name string) (fs.FileInfo, error) {
	root, err := os.OpenRoot(string(b))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	return info, outside(err)
}

var errOutside = errors.New("it leads out of its folder, where nothing is read")

// outside is errOutside for an error that the standard library has no value for.
func outside(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Err.Error() == "path escapes from parent" {
		return errOutside
	}
	return err
}

// absolute puts the prefix before every file name that the schema stage gave.
func absolute(p *profile.Profile, found diag.List, prefix string) {
	for i := range found {
		found[i].File = prefix + found[i].File
	}
	if p == nil {
		return
	}
	p.File = prefix + p.File
	for path, pos := range p.Positions {
		pos.File = prefix + pos.File
		p.Positions[path] = pos
	}
}

// onlyProfile is the one profile that an argument names.
func onlyProfile(arg string) (string, error) {
	paths, _, err := findProfiles([]string{arg})
	if err != nil {
		return "", err
	}
	if len(paths) != 1 {
		return "", errors.New("name one profile: " + arg + " holds " + fmt.Sprint(len(paths)))
	}
	return paths[0], nil
}
