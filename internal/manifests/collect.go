package manifests

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
)

// Collection is the objects of files and folders by anyone, and what was met on
// the way that no API server receives.
type Collection struct {
	Objects        []Object
	Parts          [][]Object // the same, apart where an object stands in several folders
	Files          int        // that hold them
	Kustomizations int
	Patches        int // files that a kustomization names, and not as resources
	Charts         int // folders of Helm charts
	Strays         int // documents in folders that are no objects
	Findings       diag.List
}

// Collect reads files as they are, folders for their *.yaml, *.yml and *.json,
// and - for in. Links below a folder are not followed. A file that was named has
// to hold objects alone; in a folder, what has to be built first is counted and
// left out. The error is a path that cannot be read.
func Collect(paths []string, in io.Reader) (*Collection, error) {
	c := &Collection{}
	seen := map[string]bool{}
	for _, path := range paths {
		files, err := c.files(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if seen[filepath.Clean(f.path)] {
				continue
			}
			seen[filepath.Clean(f.path)] = true
			if err := c.read(f, in); err != nil {
				return nil, err
			}
		}
	}
	c.Parts = apart(c.Objects)
	for _, part := range c.Parts {
		c.Findings = append(c.Findings, Duplicates(part)...)
	}
	return c, nil
}

// apart splits objects by folder until none stands twice in a part: those of
// several clusters, or several overlays, are judged each by itself.
func apart(objects []Object) [][]Object {
	if len(Duplicates(objects)) == 0 {
		return [][]Object{objects}
	}
	below := byFolder(objects)
	if len(below) == 1 {
		return [][]Object{objects}
	}
	var parts [][]Object
	for _, name := range slices.Sorted(maps.Keys(below)) {
		parts = append(parts, apart(below[name])...)
	}
	return parts
}

// byFolder are the objects by the first folder in which their paths differ; those
// that stand beside such folders have the empty name.
func byFolder(objects []Object) map[string][]Object {
	shared := strings.Split(path.Dir(objects[0].File), "/")
	for _, o := range objects[1:] {
		folders := strings.Split(path.Dir(o.File), "/")
		for i := range shared {
			if i >= len(folders) || shared[i] != folders[i] {
				shared = shared[:i]
				break
			}
		}
	}
	groups := map[string][]Object{}
	for _, o := range objects {
		name := ""
		if folders := strings.Split(path.Dir(o.File), "/"); len(folders) > len(shared) {
			name = folders[len(shared)]
		}
		groups[name] = append(groups[name], o)
	}
	return groups
}

// Stdin is the path that means the standard input, and the name that its
// findings have.
const (
	Stdin     = "-"
	stdinName = "<stdin>"
)

// source is a file to read; strays in one that was named are findings.
type source struct {
	path  string
	named bool
}

func (c *Collection) read(s source, in io.Reader) error {
	name := filepath.ToSlash(s.path)
	if s.path == Stdin {
		name = stdinName
	} else {
		f, err := os.Open(s.path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	objects, strays, broken, err := ReadFrom(name, in)
	if err != nil {
		return err
	}
	c.Objects = append(c.Objects, objects...)
	c.Findings = append(c.Findings, broken...)
	if s.named {
		c.Findings = append(c.Findings, strays...)
	} else {
		c.Strays += len(strays)
	}
	if len(objects) > 0 {
		c.Files++
	}
	return nil
}

// files are those that an argument means, in order.
func (c *Collection) files(path string) ([]source, error) {
	if path == Stdin {
		return []source{{path, true}}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []source{{path, true}}, nil
	}
	w := walker{aside: map[string]bool{}}
	if err := filepath.WalkDir(path, w.visit); err != nil {
		return nil, err
	}
	c.Kustomizations += w.kustomizations
	c.Charts += w.charts
	c.Findings = append(c.Findings, w.broken...)
	var files []source
	for _, f := range w.files {
		if w.aside[f] {
			c.Patches++
			continue
		}
		files = append(files, source{f, false})
	}
	return files, nil
}

// walker lists the files of a folder that may hold objects.
type walker struct {
	files                  []string
	aside                  map[string]bool // by path: what kustomizations name besides resources
	kustomizations, charts int
	broken                 diag.List // kustomizations
}

func (w *walker) visit(path string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case entry.IsDir():
		return w.enter(path)
	case !entry.Type().IsRegular():
		return nil
	case slices.Contains(kustomizationNames, entry.Name()):
		w.kustomizations++
		return w.setAside(path)
	case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
		w.files = append(w.files, path)
	}
	return nil
}

// enter passes over a Helm chart: its templates are no YAML, and its values no
// objects.
func (w *walker) enter(folder string) error {
	info, err := os.Lstat(filepath.Join(folder, "Chart.yaml"))
	if err == nil && info.Mode().IsRegular() {
		w.charts++
		return fs.SkipDir
	}
	return nil
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// setAside takes in the files that a kustomization names as patches or settings.
func (w *walker) setAside(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var k asides
	if err := yaml.Unmarshal(data, &k); err != nil {
		r := &reader{file: filepath.ToSlash(path)}
		w.broken = append(w.broken, r.unreadable(document{1, string(data)}, err))
	}
	for _, name := range k.besidesResources() {
		if name != "" && !strings.Contains(name, "\n") { // else it is the text of one
			w.aside[filepath.Join(filepath.Dir(path), name)] = true
		}
	}
	return nil
}

// asides are what a kustomization of any age names besides resources.
type asides struct {
	Configurations        []string    `json:"configurations"`
	Crds                  []string    `json:"crds"`
	Generators            []string    `json:"generators"`
	OpenAPI               pathField   `json:"openapi"`
	Patches               []pathField `json:"patches"`
	PatchesJSON6902       []pathField `json:"patchesJson6902"`
	PatchesStrategicMerge []string    `json:"patchesStrategicMerge"`
	Replacements          []pathField `json:"replacements"`
	Transformers          []string    `json:"transformers"`
	Validators            []string    `json:"validators"`
}

type pathField struct {
	Path string `json:"path"`
}

func (k asides) besidesResources() []string {
	names := slices.Concat(k.Configurations, k.Crds, k.Generators, k.PatchesStrategicMerge, k.Transformers, k.Validators)
	for _, p := range slices.Concat([]pathField{k.OpenAPI}, k.Patches, k.PatchesJSON6902, k.Replacements) {
		names = append(names, p.Path)
	}
	return names
}
