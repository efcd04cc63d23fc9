package structure_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/structure"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestChangesAreWhatKubernetesSees(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: "
	scaled := "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nspec: {triggers: "
	sidecar := "apiVersion: networking.istio.io/v1\nkind: Sidecar\nspec: {egress: [{hosts: "
	for name, c := range map[string]struct {
		before, after string
		want          []structure.Change
	}{
		"containers are told apart by name, in any order": {
			deployment + "{containers: [{name: a, image: x}, {name: b}]}}}",
			deployment + "{containers: [{name: b}, {name: a, image: new}]}}}",
			[]structure.Change{{Path: "spec.template.spec.containers[a].image", Before: "x", After: "new"}},
		},
		"variables too, and one goes": {
			deployment + "{containers: [{name: a, env: [{name: X, value: '1'}, {name: Y}]}]}}}",
			deployment + "{containers: [{name: a, env: [{name: Y}]}]}}}",
			[]structure.Change{{Path: "spec.template.spec.containers[a].env[X]", Before: map[string]any{"name": "X", "value": "1"}}},
		},
		"ports have two keys": {
			deployment + "{containers: [{name: a, ports: [{containerPort: 1, protocol: UDP}, {containerPort: 1, protocol: TCP}]}]}}}",
			deployment + "{containers: [{name: a, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 1, protocol: UDP, name: dns}]}]}}}",
			[]structure.Change{{Path: "spec.template.spec.containers[a].ports[1,UDP].name", After: "dns"}},
		},
		"constraints have two keys": {
			deployment + "{topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: A}, {topologyKey: z, whenUnsatisfiable: D, maxSkew: 1}]}}}",
			deployment + "{topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: D, maxSkew: 2}, {topologyKey: z, whenUnsatisfiable: A}]}}}",
			[]structure.Change{{Path: "spec.template.spec.topologySpreadConstraints[z,D].maxSkew", Before: 1.0, After: 2.0}},
		},
		"tolerations are a set": {
			deployment + "{tolerations: [{key: a}, {key: b}]}}}",
			deployment + "{tolerations: [{key: b}, {key: a}, {key: c}]}}}",
			[]structure.Change{{Path: "spec.template.spec.tolerations[]", After: map[string]any{"key": "c"}}},
		},
		"the order of arguments counts": {
			deployment + "{containers: [{name: a, args: [x, w]}]}}}",
			deployment + "{containers: [{name: a, args: [w, x]}]}}}",
			[]structure.Change{
				{Path: "spec.template.spec.containers[a].args[0]", Before: "x"},
				{Path: "spec.template.spec.containers[a].args[1]", After: "x"},
			},
		},
		"an argument that comes between moves no other": {
			deployment + "{containers: [{name: a, args: [x, w, z]}]}}}",
			deployment + "{containers: [{name: a, args: [x, new, w, z]}]}}}",
			[]structure.Change{{Path: "spec.template.spec.containers[a].args[1]", After: "new"}},
		},
		"triggers are told apart by name, and their index is their identity": {
			scaled + "[{name: c, type: cpu}, {name: e, type: cron}]}",
			scaled + "[{name: new, type: cron}, {name: c, type: cpu}, {name: e, type: cron}]}",
			[]structure.Change{
				{Path: "spec.triggers[c]", Before: 0, After: 1, Moved: true},
				{Path: "spec.triggers[e]", Before: 1, After: 2, Moved: true},
				{Path: "spec.triggers[new]", After: map[string]any{"name": "new", "type": "cron"}},
			},
		},
		"a Sidecar's hosts are a set": {
			sidecar + "[./*, a/b]}]}", sidecar + "[a/b, ./*]}]}", nil,
		},
		"a host that goes is named": {
			sidecar + "[./*, a/b]}]}", sidecar + "[./*]}]}",
			[]structure.Change{{Path: "spec.egress[0].hosts[]", Before: "a/b"}},
		},
		"null is nothing, and 1 is 1.0": {
			"{a: null, b: 1}", "{b: 1.0}", nil,
		},
		"an empty map is something": {
			"{a: {}}", "{}", []structure.Change{{Path: "a", Before: map[string]any{}}},
		},
		"keys with dots are quoted": {
			"metadata: {annotations: {a.b/c: x}}", "metadata: {annotations: {a.b/c: new}}",
			[]structure.Change{{Path: `metadata.annotations["a.b/c"]`, Before: "x", After: "new"}},
		},
		"another kind of value is one change": {
			"{a: [1]}", "{a: {b: 1}}", []structure.Change{{Path: "a", Before: []any{1.0}, After: map[string]any{"b": 1.0}}},
		},
		"items of which two have a key are compared in order": {
			deployment + "{containers: [{name: a}, {name: a, image: x}]}}}",
			deployment + "{containers: [{name: a}, {name: a, image: new}]}}}",
			[]structure.Change{{Path: "spec.template.spec.containers[1].image", Before: "x", After: "new"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := object(t, c.before), object(t, c.after)
			got := structure.Compare(before, after, listsOf(after))
			if diff := cmp.Diff(normal(c.want), normal(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// normal has numbers as JSON does.
func normal(changes []structure.Change) []structure.Change {
	var all []structure.Change
	for _, c := range changes {
		if !c.Moved {
			c.Before, c.After = viaJSON(c.Before), viaJSON(c.After)
		}
		all = append(all, c)
	}
	return all
}

func viaJSON(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var back any
	if err := json.Unmarshal(data, &back); err != nil {
		panic(err)
	}
	return back
}

func listsOf(o map[string]any) structure.Lists {
	version, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	return func(path ...string) manifests.List { return manifests.ListAt(version, kind, path...) }
}

// Lists that are too long to search are compared all the same.
func TestLongListsAreCompared(t *testing.T) {
	var before, after []any
	for i := range 3000 {
		before, after = append(before, float64(i)), append(after, float64(i+1))
	}
	changes := structure.Compare(map[string]any{"a": before}, map[string]any{"a": after}, listsOf(nil))
	if len(changes) != 3000 {
		t.Errorf("%d changes", len(changes))
	}
}

// Two values differ exactly where what Kubernetes makes of them does.
func FuzzNothingChangesIffEqual(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, seed)
		f.Add(seed, seed+1)
	}
	f.Fuzz(func(t *testing.T, one, other uint64) {
		before, after := made(one), made(other)
		shuffled := shuffle(rand.New(rand.NewPCG(other, 1)), before, "").(map[string]any)
		if changes := structure.Compare(before, shuffled, modes); len(changes) > 0 {
			t.Fatalf("%v in another order: %v", before, changes)
		}
		changes := structure.Compare(before, after, modes)
		if equal := canonical(before) == canonical(after); equal != (len(changes) == 0) {
			t.Fatalf("%v and %v: %v", before, after, changes)
		}
		back := structure.Compare(after, before, modes)
		if (len(changes) == 0) != (len(back) == 0) {
			t.Fatalf("%d changes, and %d back", len(changes), len(back))
		}
	})
}

// modes are lists by the name of their field.
func modes(path ...string) manifests.List {
	switch path[len(path)-1] {
	case "keyed":
		return manifests.List{Keys: []string{"k"}}
	case "set":
		return manifests.List{Set: true}
	}
	return manifests.List{}
}

// made is an object of few values, so that two are often alike.
func made(seed uint64) map[string]any {
	r := rand.New(rand.NewPCG(seed, 0))
	return map[string]any{"keyed": keyed(r), "set": scalars(r), "ordered": scalars(r), "map": map[string]any{"a": scalar(r)}}
}

func keyed(r *rand.Rand) []any {
	var all []any
	for _, k := range r.Perm(3)[:r.IntN(3)] {
		all = append(all, map[string]any{"k": string(rune('a' + k)), "v": scalar(r)})
	}
	return all
}

func scalars(r *rand.Rand) []any {
	var all []any
	for range r.IntN(3) {
		all = append(all, scalar(r))
	}
	return all
}

func scalar(r *rand.Rand) any { return []any{"x", 1.0, true}[r.IntN(3)] }

// shuffle puts lists into another order where that means nothing.
func shuffle(r *rand.Rand, value any, field string) any {
	switch v := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for key, item := range v {
			all[key] = shuffle(r, item, key)
		}
		return all
	case []any:
		all := slices.Clone(v)
		if field != "ordered" {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		return all
	}
	return value
}

func canonical(value map[string]any) string {
	sorted := map[string]any{}
	for key, item := range value {
		if list, ok := item.([]any); ok && key != "ordered" {
			list = slices.Clone(list)
			slices.SortFunc(list, func(x, y any) int { return strings.Compare(text(x), text(y)) })
			item = list
		}
		sorted[key] = item
	}
	return text(sorted)
}

func text(value any) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(value); err != nil {
		panic(err)
	}
	return b.String()
}
