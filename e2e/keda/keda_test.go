// Package keda_test holds what meshgen renders for KEDA against KEDA's own code:
// its admission webhook, its scalers, and its controllers.
package keda_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// TestMain starts the program again with KEDA's check of parameters that no
// scaler knows: KEDA's package reads from the environment whether it is on, when
// the program starts.
func TestMain(m *testing.M) {
	const check = "KEDA_CHECK_UNEXPECTED_SCALERS_PARAMS"
	if os.Getenv(check) != "enabled" {
		program, err := os.Executable()
		if err == nil {
			err = syscall.Exec(program, os.Args, append(os.Environ(), check+"=enabled"))
		}
		fmt.Fprintf(os.Stderr, "the tests did not start again with %s: %v\n", check, err)
		os.Exit(1)
	}
	log.SetLogger(logr.Discard())
	m.Run()
}

// mesh is a cluster of which ScaledObjects were rendered.
type mesh struct {
	name    string
	profile string // its path
	objects []rendered
}

// rendered is a ScaledObject as it goes to the API server.
type rendered struct {
	path string // where it was read, as a message says it
	text []byte
	kedav1alpha1.ScaledObject
}

// meshes are the examples, and worldwide, which has what no example has.
func meshes(t *testing.T) []mesh {
	t.Helper()
	var all []mesh
	for _, name := range cluster.Names(t) {
		all = append(all, example(t, name))
	}
	return append(all, worldwide(t))
}

// example reads what was rendered of an example. Triggers that meshgen adds to a
// ScaledObject of the user's own are a patch, which no example has: worldwide
// does.
func example(t *testing.T, name string) mesh {
	t.Helper()
	if patches := cluster.Rendered(t, name, "workloads/*/triggers-*.yaml"); len(patches) > 0 {
		t.Fatalf("%d patches of triggers, the first in %s: build them too", len(patches), patches[0].Path)
	}
	m := mesh{name: name, profile: cluster.Example(name)}
	for _, file := range slices.Concat(cluster.Rendered(t, name, "istiod/scaledobject-*.yaml"), cluster.Rendered(t, name, "workloads/*/scaledobject-*.yaml")) {
		m.objects = append(m.objects, strictly(t, "golden/"+file.Path, []byte(file.Text)))
	}
	return m
}

// strictly decodes a ScaledObject, every field of which KEDA must know.
func strictly(t *testing.T, path string, text []byte) rendered {
	t.Helper()
	r := rendered{path: path, text: text}
	if err := yaml.UnmarshalStrict(text, &r.ScaledObject); err != nil || r.Kind != "ScaledObject" {
		t.Fatalf("%s: kind %q, %v; want a ScaledObject", path, r.Kind, err)
	}
	return r
}

// worldwide renders the profile in testdata, and builds it over a base as a user
// does.
func worldwide(t *testing.T) mesh {
	t.Helper()
	m := mesh{name: "worldwide", profile: "testdata/worldwide/profile.yaml"}
	below := t.TempDir()
	cluster.Render(t, m.profile, below)
	for _, file := range build(t, below, m.name) {
		m.objects = append(m.objects, strictly(t, "testdata/worldwide: "+file.Path, []byte(file.Text)))
	}
	return m
}

// build lays the components of a rendered cluster over the base in testdata, and
// gives the ScaledObjects that kustomize makes of them.
func build(t *testing.T, below, name string) []cluster.File {
	t.Helper()
	components, err := filepath.Glob(filepath.Join(below, name, "workloads", "*"))
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(below, "user")
	if err := os.Mkdir(user, 0o700); err != nil {
		t.Fatal(err)
	}
	kustomization := map[string][]string{
		"resources":  {relative(t, user, filepath.Join("testdata", name, "base")), relative(t, user, filepath.Join(below, name, "istiod"))},
		"components": nil,
	}
	for _, c := range components {
		kustomization["components"] = append(kustomization["components"], relative(t, user, c))
	}
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(user, "kustomization.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return scaledObjectsOf(t, user)
}

func relative(t *testing.T, from, to string) string {
	t.Helper()
	absolute, err := filepath.Abs(to)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Rel(from, absolute)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func scaledObjectsOf(t *testing.T, kustomization string) []cluster.File {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), kustomization)
	if err != nil {
		t.Fatalf("kustomize build: %v", err)
	}
	var files []cluster.File
	for _, resource := range built.Resources() {
		if resource.GetKind() != "ScaledObject" {
			continue
		}
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, cluster.File{Path: resource.GetNamespace() + "/" + resource.GetName(), Text: string(text)})
	}
	return files
}
