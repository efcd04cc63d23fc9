package manifests

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/recent"
)

const (
	kustomizationFile = "kustomization.yaml"
	valuesFile        = "values.yaml"
)

// prepareKustomize reads the schema by which kustomize merges, which the first build
// would do.
func prepareKustomize() { openapi.Schema() }

// folder is one folder of the cluster that has a kustomization.
type folder struct {
	path          string
	kustomization types.Kustomization
	files         []artifact.File
}

// buildKustomizations builds each folder of the cluster that has a
// kustomization, apart: kustomize grows faster than its input. Plugins are off,
// nothing is loaded from outside the folder, nothing from the network. A folder
// that is a Component has no base of its own; it is left to proveComponents.
func buildKustomizations(folders map[string]*folder, builds *recent.Memory[[]map[string]any]) ([]Object, error) {
	var all []Object
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		d := folders[name]
		if d.isComponent() {
			continue
		}
		objects, err := d.build(builds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// foldersOf are the cluster's folders that have a kustomization.
func foldersOf(cluster string, tree *artifact.Tree) (map[string]*folder, error) {
	folders := map[string]*folder{}
	for _, f := range tree.Files() {
		if strings.HasPrefix(f.Path, cluster+"/") && path.Base(f.Path) == kustomizationFile {
			d := &folder{path: path.Dir(f.Path)}
			if err := yaml.UnmarshalStrict(f.Data, &d.kustomization); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			folders[d.path] = d
		}
	}
	for _, f := range tree.Files() {
		if in := folderOf(folders, f.Path); in != nil {
			in.files = append(in.files, f)
		}
	}
	return folders, nil
}

// folderOf is the folder whose kustomization a file belongs to: the nearest above
// it. Nil when none is.
func folderOf(folders map[string]*folder, file string) *folder {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if in, ok := folders[dir]; ok {
			return in
		}
	}
	return nil
}

// componentsOf reads the folders that are Components, by their namespace.
func componentsOf(folders map[string]*folder, bases plan.Bases) (map[string]*component, error) {
	components := map[string]*component{}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if !folders[name].isComponent() {
			continue
		}
		c, err := readComponent(folders[name], bases)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		components[c.namespace] = c
	}
	return components, nil
}

func (d *folder) isComponent() bool { return d.kustomization.Kind == types.ComponentKind }

// objects are the files of the folder by the object that they hold.
func (d *folder) objects() (map[string]string, error) {
	files := map[string]string{}
	for _, f := range d.files {
		if path.Ext(f.Path) != ".yaml" || path.Base(f.Path) == valuesFile || path.Base(f.Path) == kustomizationFile {
			continue
		}
		objects, err := decodeAll(f.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(f.Path), err)
		}
		for _, o := range objects {
			files[identity(o)] = f.Path
		}
	}
	return files, nil
}

func identity(object map[string]any) string {
	o := Object{Object: object}
	return strings.Join([]string{o.text("apiVersion"), o.kind(), o.text("metadata", "namespace"), o.name()}, " ")
}

// build runs kustomize; every object must come from a file of the folder, and
// every file must be in the build. The objects are read-only: clusters whose files
// are equal share them.
func (d *folder) build(builds *recent.Memory[[]map[string]any]) ([]Object, error) {
	files, err := d.objects()
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{}
	for _, f := range d.files {
		data[strings.TrimPrefix(f.Path, path.Dir(d.path)+"/")] = f.Data
	}
	disk, name := filesys.MakeFsInMemory(), path.Base(d.path)
	if err := writeFiles(disk, "/", data); err != nil {
		return nil, err
	}
	for _, listed := range slices.Concat(d.kustomization.Resources, d.kustomization.Components) {
		if !disk.Exists(path.Join("/", name, listed)) {
			return nil, fmt.Errorf("%s was not generated", listed) // kustomize would look for it on the network
		}
	}
	built, err := builds.Of(digestOf(data), func() ([]map[string]any, error) { return kustomized(disk, "/"+name) })
	if err != nil {
		return nil, err
	}
	unused := maps.Clone(files)
	var objects []Object
	for _, object := range built {
		file, ok := files[identity(object)]
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
