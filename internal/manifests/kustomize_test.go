package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/artifact"
)

// sidecars is a cluster's mesh folder: Sidecars by namespace, and the
// kustomization above them that lists those that are to be built.
func sidecars(t testing.TB, listed []string, files ...string) *artifact.Tree {
	t.Helper()
	tree := &artifact.Tree{}
	add := func(path, data string) {
		if err := tree.Add(artifact.File{Path: path, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	add("prod/mesh/kustomization.yaml", "resources:\n- "+strings.Join(listed, "\n- ")+"\n")
	for _, name := range files {
		namespace, file, _ := strings.Cut(name, "/")
		add("prod/mesh/"+name, fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: %s, namespace: %s}\nspec: {egress: [{hosts: [./*]}]}\n",
			strings.TrimSuffix(strings.TrimPrefix(file, "sidecar-"), ".yaml"), namespace))
	}
	return tree
}

// Names are joined by the folder and not by a dash: namespace a-b with a
// workload c is not namespace a with b-c.
func TestResourcesBelowTheirKustomization(t *testing.T) {
	names := []string{"a-b/sidecar-c.yaml", "a/sidecar-b-c.yaml", "a/sidecar-default.yaml"}
	objects, err := built("prod", sidecars(t, names, names...))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range objects {
		got[o.File] = o.text("metadata", "namespace") + "/" + o.name()
	}
	want := map[string]string{
		"prod/mesh/a-b/sidecar-c.yaml": "a-b/c", "prod/mesh/a/sidecar-b-c.yaml": "a/b-c", "prod/mesh/a/sidecar-default.yaml": "a/default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAResourceBelowThatNobodyLists(t *testing.T) {
	_, err := built("prod", sidecars(t, []string{"a/sidecar-b.yaml"}, "a/sidecar-b.yaml", "a/sidecar-c.yaml"))
	if err == nil || !strings.Contains(err.Error(), "prod/mesh/a/sidecar-c.yaml (networking.istio.io/v1 Sidecar a c) is not in the kustomization") {
		t.Errorf("got %v", err)
	}
}

// A folder below has a kustomization of its own: its files are not those of the
// folder above.
func TestTheNearestKustomizationTakesAFile(t *testing.T) {
	tree := sidecars(t, []string{"a/sidecar-b.yaml"}, "a/sidecar-b.yaml", "c/sidecar-d.yaml")
	if err := tree.Add(artifact.File{Path: "prod/mesh/c/kustomization.yaml", Data: []byte("resources: [sidecar-d.yaml]\n")}); err != nil {
		t.Fatal(err)
	}
	objects, err := built("prod", tree)
	if err != nil || len(objects) != 2 {
		t.Errorf("%d objects, error %v", len(objects), err)
	}
}

func BenchmarkSidecars(b *testing.B) {
	for _, count := range []int{40, 1000} {
		var names []string
		for i := range count {
			names = append(names, fmt.Sprintf("ns-%d/sidecar-w-%d.yaml", i%40, i))
		}
		tree := sidecars(b, names, names...)
		b.Run(fmt.Sprintf("sidecars=%d", count), func(b *testing.B) {
			for b.Loop() {
				if _, err := built("prod", tree); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func built(cluster string, tree *artifact.Tree) ([]Object, error) {
	folders, err := foldersOf(cluster, tree)
	if err != nil {
		return nil, err
	}
	return newBuilder(nil, "", nil).buildKustomizations(folders)
}
