package manifests

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/meshgen/meshgen/internal/artifact"
)

const kustomizationFile = "kustomization.yaml"

// buildKustomizations builds each folder of the cluster that has a
// kustomization, apart: kustomize grows faster than its input. Plugins are off,
// nothing is loaded from outside the folder, nothing from the network.
func buildKustomizations(cluster string, tree *artifact.Tree) ([]Object, error) {
	disk := filesys.MakeFsInMemory()
	sources := map[string]map[string]string{} // folder, then object, then file
	for _, f := range tree.Files() {
		if err := disk.WriteFile("/"+f.Path, f.Data); err != nil {
			return nil, err
		}
		if path.Base(f.Path) == kustomizationFile {
			sources[path.Dir(f.Path)] = map[string]string{}
		}
	}
	if err := readSources(tree, sources); err != nil {
		return nil, err
	}
	var all []Object
	for folder, files := range sources {
		objects, err := buildFolder(disk, folder, files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// readSources says for each folder which file holds which object.
func readSources(tree *artifact.Tree, sources map[string]map[string]string) error {
	for _, f := range tree.Files() {
		files, ok := sources[path.Dir(f.Path)]
		if !ok || path.Ext(f.Path) != ".yaml" || slices.Contains([]string{kustomizationFile, "values.yaml"}, path.Base(f.Path)) {
			continue
		}
		objects, err := decodeAll(f.Data)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		for _, o := range objects {
			files[identity(o)] = f.Path
		}
	}
	return nil
}

func identity(object map[string]any) string {
	o := Object{Object: object}
	return strings.Join([]string{o.text("apiVersion"), o.kind(), o.text("metadata", "namespace"), o.name()}, " ")
}

// buildFolder builds one kustomization; every object must come from a file of
// the folder, and every file must be in the build.
func buildFolder(disk filesys.FileSystem, folder string, files map[string]string) ([]Object, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/"+folder)
	if err != nil {
		return nil, err
	}
	var objects []Object
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, err
		}
		file, ok := files[identity(object)]
		if !ok {
			return nil, fmt.Errorf("object %s comes from no file", identity(object))
		}
		delete(files, identity(object))
		objects = append(objects, Object{File: file, Object: object})
	}
	for id, file := range files {
		return nil, fmt.Errorf("%s (%s) is not in the kustomization", file, id)
	}
	return objects, nil
}
