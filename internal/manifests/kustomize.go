package manifests

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/artifact"
)

const (
	kustomizationFile = "kustomization.yaml"
	valuesFile        = "values.yaml"
)

// folder is one folder of the cluster that has a kustomization.
type folder struct {
	path          string
	kustomization types.Kustomization
	files         map[string]string // by the object that they hold
}

// buildKustomizations builds each folder of the cluster that has a
// kustomization, apart: kustomize grows faster than its input. Plugins are off,
// nothing is loaded from outside the folder, nothing from the network.
func buildKustomizations(cluster string, tree *artifact.Tree) ([]Object, error) {
	disk := filesys.MakeFsInMemory()
	folders := map[string]*folder{}
	for _, f := range tree.Files() {
		if !strings.HasPrefix(f.Path, cluster+"/") {
			continue
		}
		if err := disk.WriteFile("/"+f.Path, f.Data); err != nil {
			return nil, err
		}
		if path.Base(f.Path) == kustomizationFile {
			folders[path.Dir(f.Path)] = &folder{path: path.Dir(f.Path), files: map[string]string{}}
		}
	}
	for _, f := range tree.Files() {
		if in := within(folders, f.Path); in != nil {
			if err := in.read(f); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
		}
	}
	var all []Object
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		objects, err := folders[name].build(disk)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// within is the folder whose kustomization a file belongs to: the nearest above
// it. Nil when none is.
func within(folders map[string]*folder, file string) *folder {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if in, ok := folders[dir]; ok {
			return in
		}
	}
	return nil
}

// read takes in a file of the folder: its kustomization, or the objects that it
// holds.
func (d *folder) read(f artifact.File) error {
	switch {
	case path.Base(f.Path) == kustomizationFile:
		return yaml.UnmarshalStrict(f.Data, &d.kustomization)
	case path.Ext(f.Path) != ".yaml" || path.Base(f.Path) == valuesFile:
		return nil
	}
	objects, err := decodeAll(f.Data)
	for _, o := range objects {
		d.files[identity(o)] = f.Path
	}
	return err
}

func identity(object map[string]any) string {
	o := Object{Object: object}
	return strings.Join([]string{o.text("apiVersion"), o.kind(), o.text("metadata", "namespace"), o.name()}, " ")
}

// build runs kustomize; every object must come from a file of the folder, and
// every file must be in the build.
func (d *folder) build(disk filesys.FileSystem) ([]Object, error) {
	for _, name := range slices.Concat(d.kustomization.Resources, d.kustomization.Components) {
		if !disk.Exists(path.Join("/", d.path, name)) {
			return nil, fmt.Errorf("%s was not generated", name) // kustomize would look for it on the network
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/"+d.path)
	if err != nil {
		return nil, err
	}
	unused := maps.Clone(d.files)
	var objects []Object
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, err
		}
		file, ok := d.files[identity(object)]
		if !ok {
			return nil, fmt.Errorf("object %s comes from no file", identity(object))
		}
		delete(unused, identity(object))
		objects = append(objects, Object{File: file, Object: object})
	}
	for _, id := range slices.Sorted(maps.Keys(unused)) {
		return nil, fmt.Errorf("%s (%s) is not in the kustomization", unused[id], id)
	}
	return objects, nil
}
