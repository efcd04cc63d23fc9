package apiserver_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"istio.io/istio/manifests"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// object is an object as it is sent: its text, and where that came from.
type object struct {
	*unstructured.Unstructured
	text, from string
}

// id tells objects of one server apart.
func (o object) id() string {
	return fmt.Sprintf("%s %s/%s", o.GroupVersionKind().GroupKind(), o.GetNamespace(), o.GetName())
}

func read(t testing.TB, text, from string) object {
	t.Helper()
	o := object{Unstructured: &unstructured.Unstructured{}, text: text, from: from}
	if err := utilyaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%s: %v\n%s", from, err, text)
	}
	return o
}

// workloads are a base alone, and with meshgen's Components over it, each built
// by kustomize as the README tells its users to: the Components in a
// kustomization over the one that sets namespace and prefix. An HPA is named in
// the profile as the cluster has it, so that only bases without one get a prefix.
func workloads(t testing.TB, folder, prefix string, all map[string][]string) (before, after []object) {
	t.Helper()
	for _, namespace := range slices.Sorted(maps.Keys(all)) {
		disk := filesys.MakeFsInMemory()
		base := strings.Join(all[namespace], "---\n")
		prefix := prefix
		if strings.Contains(base, "kind: HorizontalPodAutoscaler") {
			prefix = ""
		}
		write(t, disk, "/base/all.yaml", base)
		write(t, disk, "/base/kustomization.yaml", "resources: [all.yaml]\n")
		write(t, disk, "/prod/kustomization.yaml", fmt.Sprintf("resources: [../base]\nnamespace: %s\nnamePrefix: %q\n", namespace, prefix))
		before = append(before, build(t, disk, "/prod", "base of "+namespace)...)

		component := folder + "/workloads/" + namespace
		if _, err := os.Stat(component); err != nil {
			after = append(after, build(t, disk, "/prod", "base of "+namespace)...)
			continue
		}
		upload(t, disk, component, "/component")
		write(t, disk, "/over/kustomization.yaml", "resources: [../prod]\ncomponents: [../component]\n")
		after = append(after, build(t, disk, "/over", component)...)
	}
	return before, after
}

// overlay is what a kustomization of the cluster's folder builds, nothing where
// there is none.
func overlay(t testing.TB, folder string) []object {
	t.Helper()
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	disk := filesys.MakeFsInMemory()
	upload(t, disk, folder, "/over")
	return build(t, disk, "/over", folder)
}

func build(t testing.TB, disk filesys.FileSystem, at, from string) []object {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, at)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", from, err)
	}
	var all []object
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, read(t, string(text), from))
	}
	return all
}

func upload(t testing.TB, disk filesys.FileSystem, folder, at string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return disk.WriteFile(path.Join(at, filepath.ToSlash(below)), text)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, disk filesys.FileSystem, file, text string) {
	t.Helper()
	if err := disk.WriteFile(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// istiodChart is the chart of the Istio module.
func istiodChart(t testing.TB) *chart.Chart {
	t.Helper()
	const root = "charts/istio-control/istio-discovery"
	var files []*loader.BufferedFile
	err := fs.WalkDir(manifests.FS, root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(manifests.FS, file)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(file, root+"/"), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// values are those that meshgen wrote for the chart.
func values(t testing.TB, folder string) chartutil.Values {
	t.Helper()
	read, err := chartutil.ReadValuesFile(folder + "/istiod/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// istiod is the chart's output with values that come from somewhere.
func istiod(t testing.TB, namespace, from string, given chartutil.Values) []object {
	t.Helper()
	from = "the istiod chart with " + from
	loaded := istiodChart(t)
	all, err := chartutil.ToRenderValues(loaded, given, chartutil.ReleaseOptions{Name: "istiod", Namespace: namespace}, nil)
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	rendered, err := engine.Render(loaded, all)
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	var objects []object
	for _, file := range slices.Sorted(maps.Keys(rendered)) {
		if path.Ext(file) == ".yaml" {
			objects = append(objects, documents(t, rendered[file], from)...)
		}
	}
	return objects
}

func documents(t testing.TB, text, from string) []object {
	t.Helper()
	var all []object
	for _, part := range strings.Split(text, "\n---") {
		if o := read(t, part, from); o.GetKind() != "" {
			all = append(all, o)
		}
	}
	return all
}
