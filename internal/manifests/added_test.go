package manifests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/meshgen/meshgen/internal/plan"
)

// scaledAs is a cluster with the plan and files of scaled, edited.
func scaledAs(t testing.TB, name string, edit func(*plan.Plan), mutations []mutation) Input {
	t.Helper()
	p, files := scaled(), patches(t)
	p.Cluster = name
	for i, w := range p.Workloads {
		if w.Scaling != nil {
			own := *w.Scaling
			p.Workloads[i].Scaling = &own
		}
	}
	if edit != nil {
		edit(p)
	}
	for _, m := range mutations {
		m.apply(t, files)
	}
	own := map[string]string{}
	for path, data := range files {
		own[name+strings.TrimPrefix(path, "mesh")] = data
	}
	return Input{Plan: p, Tree: treeOf(t, own), Pos: position}
}

// chunkKey is what the one chunk of the cluster is remembered by.
func chunkKey(t testing.TB, b *Builder, in Input) (string, error) {
	t.Helper()
	folders, err := foldersOf(in.Plan.Cluster, in.Tree)
	if err != nil {
		t.Fatal(err)
	}
	components, err := componentsOf(folders, in.Plan.Bases, newReading())
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := b.chunksOf(in.Plan, components)
	if err != nil || len(chunks) != 1 {
		t.Fatalf("%d chunks, error %v", len(chunks), err)
	}
	return chunks[0].key()
}

func floor(n int64) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Workloads[0].Scaling.Min = n }
}

// Whatever the clusters before it were, each is proven as by a Builder of its own.
func TestClustersThatDifferInWhatIsAddedShareABuild(t *testing.T) {
	const file = "scaledobject-cart.yaml"
	four := mutation{file, "minReplicaCount: 3", "minReplicaCount: 4"}
	for name, c := range map[string]struct {
		edit      func(*plan.Plan)
		mutations []mutation
		shares    bool
		wrong     bool
	}{
		"another number":                       {floor(4), []mutation{four}, true, false},
		"a number that is not ours":            {nil, []mutation{{file, "failureThreshold: 3", "failureThreshold: 5"}}, true, false},
		"a comment":                            {nil, []mutation{{file, "spec:\n", "# why\nspec:\n"}}, true, false},
		"another number than planned":          {floor(5), []mutation{four}, true, true},
		"a planned number that is not written": {floor(4), nil, true, true},
		"another text": {
			func(p *plan.Plan) { p.Workloads[0].Scaling.Triggers[1].Query = "vector(13)" }, []mutation{{file, "vector(12)", "vector(13)"}}, true, false,
		},
		"another text than planned":            {nil, []mutation{{file, "vector(12)", "vector(13)"}}, true, true},
		"a text where a number was":            {nil, []mutation{{file, "minReplicaCount: 3", `minReplicaCount: "3"`}}, false, true},
		"a text that is the name of an object": {nil, []mutation{{file, "name: lunch", "name: cart"}}, false, false},
		"a number that is 0":                   {floor(0), []mutation{{file, "minReplicaCount: 3", "minReplicaCount: 0"}}, false, false},
		"a field more":                         {nil, []mutation{{file, "spec:\n", "spec:\n  cooldownPeriod: 60\n"}}, false, false},
		"an annotation more":                   {nil, []mutation{{file, "  annotations:\n", "  annotations:\n    a: b\n"}}, false, false},
		"another kind that is scaled":          {nil, []mutation{{file, "kind: Deployment", "kind: StatefulSet"}}, false, true},
		"another number in what is patched":    {nil, []mutation{{"deployment-cart.yaml", "maxSkew: 1", "maxSkew: 3"}}, false, true},
		"another configuration":                {nil, []mutation{{"namereference.yaml", "nameReference:\n", "nameReference:\n  - {kind: Secret, fieldSpecs: []}\n"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := scaledAs(t, "first", nil, nil), scaledAs(t, "second", c.edit, c.mutations)
			alone, want := overlaysOf(open(t, ""), second)
			if (want != nil) != c.wrong {
				t.Fatalf("alone: %v", want)
			}
			b := open(t, "")
			one, err := chunkKey(t, b, first)
			other, err2 := chunkKey(t, b, second)
			if err != nil || err2 != nil || (one == other) != c.shares {
				t.Errorf("shared: %t, want %t; errors %v, %v", one == other, c.shares, err, err2)
			}
			for order, ins := range map[string][]Input{"after": {first, second}, "before": {second, first, second}} {
				b := open(t, "")
				for _, in := range ins {
					objects, got := overlaysOf(b, in)
					if in.Plan.Cluster == "first" {
						if got != nil {
							t.Errorf("%s the first: the first fails: %v", order, got)
						}
						continue
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s the first:\ngot  %v\nwant %v", order, got, want)
					}
					if diff := cmp.Diff(alone, objects); diff != "" {
						t.Errorf("%s the first (-alone +shared):\n%s", order, diff)
					}
				}
			}
		})
	}
}

func overlaysOf(b *Builder, in Input) ([]Object, error) {
	objects, _, err := b.overlays(in)
	return objects, err
}

// What is more than to add and to patch may carry a number elsewhere, so nothing
// is shared, whatever the first cluster's comes to.
func TestAComponentThatDoesMoreIsProvenForEachCluster(t *testing.T) {
	_, err := chunkKey(t, open(t, ""), scaledAs(t, "first", nil, []mutation{
		{"kustomization.yaml", "kind: Component\n", "kind: Component\nreplacements: [{source: {kind: ScaledObject, name: cart, fieldPath: spec.minReplicaCount}, targets: [{select: {kind: StatefulSet}, fieldPaths: [spec.replicas]}]}]\n"},
	}))
	if want := "first/workloads/shop does more than to add and to patch"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A configuration that follows another text of what is added than its target is
// found where that text is an object's name.
func TestWhatIsAddedComesOutAsItWasWritten(t *testing.T) {
	_, err := overlaysOf(open(t, ""), scaledAs(t, "first", nil, []mutation{
		{"scaledobject-cart.yaml", "name: lunch", "name: cart"},
		{"namereference.yaml", "    fieldSpecs:\n", "    fieldSpecs:\n      - {path: spec/triggers/name, group: keda.sh, kind: ScaledObject}\n"},
	}))
	want := `first/workloads/shop/scaledobject-cart.yaml over hostile stand-ins: ScaledObject shop/cart: spec.triggers[2].name was "cart" and is "proof-cart"; the build may change nothing of it but the names`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// kustomize puts out numbers and texts of what is added as its reader read them,
// which is what a shared build rests on.
func TestKustomizeTakesValuesAsTheyAre(t *testing.T) {
	texts := []string{
		"2", "0600", "1e3", "0x1f", "11:06", "yes", "null", "~", "true", "- a", "a: b", "# c", "a #b", "'", `"`, "\\", "@a", "%a", "*a", "&a", "!a", "{a}",
		"a\nb", "a\n", "\ta", "2026-12-19", ".inf", "<<", "é", "$(VAR)", "$patch", "delete", "proof-", "vector(12 * (time() >= bool 1))", " a ", "---", "?",
	}
	object := func(values []any) map[string]any {
		return map[string]any{
			"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": map[string]any{"name": "cart", "namespace": "shop"},
			"spec": map[string]any{"scaleTargetRef": map[string]any{"name": "elsewhere"}, "values": values},
		}
	}
	values := []any{1, 2, 60, 1000000, 9007199254740993, -1, 1.5, 1e21, 0.1}
	for _, text := range texts {
		values = append(values, text)
	}
	data, err := json.Marshal(object(values))
	if err != nil {
		t.Fatal(err)
	}
	read, err := newReading().objects(data)
	if err != nil {
		t.Fatal(err)
	}
	disk := filesys.MakeFsInMemory()
	if err := writeFiles(disk, "/", map[string][]byte{"overlay/a.yaml": data, "overlay/kustomization.yaml": []byte("resources: [a.yaml]\nnamePrefix: proof-\n")}); err != nil {
		t.Fatal(err)
	}
	built, err := kustomized(disk, "/overlay")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]map[string]any{prefixed(read[0])}, built); diff != "" {
		t.Errorf("(-read +built):\n%s", diff)
	}
	if diff := cmp.Diff([]map[string]any{object(values)}, read); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}
