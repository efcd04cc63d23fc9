package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
			return nil, false, fmt.Errorf("no profile.yaml, profile.yml or profile.cue below %s", arg)
		}
		paths = append(paths, below...)
		fleet = fleet || slices.ContainsFunc(below, func(path string) bool { return filepath.Dir(path) != filepath.Clean(arg) })
	}
	slices.Sort(paths)
	return slices.Compact(paths), fleet, nil
}

func walkFolder(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() && slices.Contains(profileNames, entry.Name()) {
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// open is the file system and the name within it by which a profile is read:
// from here for a path below the working folder, so that findings name it as
// the user did, else from the top, with the prefix that findings then lack. A
// CUE profile is read from the top too where its module begins above here.
func open(path string) (fsys fs.FS, name, prefix string) {
	if filepath.IsLocal(path) && (filepath.Ext(path) != ".cue" || hasModule(path)) {
		return os.DirFS("."), filepath.ToSlash(filepath.Clean(path)), ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return os.DirFS("/"), filepath.ToSlash(path)[1:], "/"
}

// hasModule reports whether a CUE profile needs nothing above the working folder:
// its module is there, or nowhere.
func hasModule(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return true
	}
	here := strings.TrimSuffix(abs, filepath.Clean(path))
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "cue.mod")); err == nil && info.IsDir() {
			return strings.HasPrefix(dir+string(filepath.Separator), here)
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
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
