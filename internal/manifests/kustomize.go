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
func (b *Builder) buildKustomizations(folders map[string]*folder) ([]Object, error) {
	var all []Object
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		d := folders[name]
		if d.isComponent() {
			continue
		}
		objects, err := d.build(b)
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
func componentsOf(folders map[string]*folder, bases plan.Bases, read *reading) (map[string]*component, error) {
	components := map[string]*component{}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if !folders[name].isComponent() {
			continue
		}
		c, err := readComponent(folders[name], bases, read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		components[c.namespace] = c
	}
	return components, nil
}

func (d *folder) isComponent() bool { return d.kustomization.Kind == types.ComponentKind }

// objects are those in the folder's files, with the file that each is in, as
// kustomize reads them.
func (d *folder) objects(read *reading) ([]Object, error) {
	var objects []Object
	for _, f := range d.files {
		if path.Ext(f.Path) != ".yaml" || path.Base(f.Path) == valuesFile || path.Base(f.Path) == kustomizationFile {
			continue
		}
		found, err := read.objects(f.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(f.Path), err)
		}
		for _, o := range found {
			objects = append(objects, Object{File: f.Path, Object: o})
		}
	}
	return objects, nil
}

func identity(object map[string]any) string {
	o := Object{Object: object}
	return strings.Join([]string{o.text("apiVersion"), o.kind(), o.text("metadata", "namespace"), o.name()}, " ")
}

// build runs kustomize; every object must come from a file of the folder, and
// every file must be in the build. The objects are read-only: clusters whose files
// are equal share them, and clusters whose listings are alike share the build.
func (d *folder) build(b *Builder) ([]Object, error) {
	objects, err := d.objects(b.reading)
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{}
	for _, f := range d.files {
		data[d.below(f.Path)] = f.Data
	}
	for _, listed := range slices.Concat(d.kustomization.Resources, d.kustomization.Components) {
		if !isIn(data, path.Join(path.Base(d.path), listed)) {
			return nil, fmt.Errorf("%s was not generated", listed) // kustomize would look for it on the network
		}
	}
	run := func() ([]map[string]any, error) {
		disk := filesys.MakeFsInMemory()
		if err := writeFiles(disk, "/", data); err != nil {
			return nil, err
		}
		return kustomized(disk, "/"+path.Base(d.path))
	}
	if l, ok := d.listing(objects); ok && l.stays(b.listings, run) {
		return objects, nil
	}
	built, err := b.builds.Of(digestOf(data), run)
	if err != nil {
		return nil, err
	}
	return fromFiles(built, objects)
}

// below is a file's path from the folder's own name on.
func (d *folder) below(file string) string { return strings.TrimPrefix(file, path.Dir(d.path)+"/") }

// isIn reports whether there is a file, or one in a folder, of that path.
func isIn(data map[string][]byte, name string) bool {
	if _, ok := data[name]; ok {
		return true
	}
	for file := range data {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// fromFiles are the built objects with the file that each comes from.
func fromFiles(built []map[string]any, written []Object) ([]Object, error) {
	files := map[string]string{}
	for _, o := range written {
		files[identity(o.Object)] = o.File
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
