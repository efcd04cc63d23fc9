package policies

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/meshgen/meshgen/internal/manifests"
)

// fixture is testdata/<subject>/<policy>.yaml: how the report that earned a
// policy differs from what is sound.
type fixture struct {
	Change []map[string]any `json:"change"` // merged over istiod's object of the same kind, or that of the name in $of
	Add    []map[string]any `json:"add"`
	Plan   map[string]any   `json:"plan"` // merged over the plan
	Also   []string         `json:"also"` // other policies that deny it
}

func TestEveryPolicyDeniesTheReportThatEarnedIt(t *testing.T) {
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(e.policies)
	for _, file := range files {
		dir, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".yaml")
		if dir == "clean" {
			continue
		}
		id := identifier(dir, name)
		delete(left, id)
		t.Run(id, func(t *testing.T) {
			f := readFixture(t, file)
			denials, err := e.judgeDocument(context.Background(), f.document(t), true)
			found := findings(denials, soundPlan())
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{id}, f.Also...)
			slices.Sort(want)
			got := slices.Compact(slices.Sorted(slices.Values(strings.Fields(idsOf(found)))))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("denied by (-want +got):\n%s%v", diff, found)
			}
		})
	}
	for id := range left {
		t.Errorf("%s: no fixture", id)
	}
}

func readFixture(t *testing.T, file string) fixture {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), "# ") {
		t.Errorf("%s: does not begin with the report", file)
	}
	var f fixture
	if err := yaml.UnmarshalStrict(b, &f); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return f
}

func (f fixture) document(t *testing.T) map[string]any {
	t.Helper()
	objects := soundObjects(t)
	for _, patch := range f.Change {
		name, of := patch["$of"]
		if !of {
			name = "istiod"
		}
		at := slices.IndexFunc(objects, func(o manifests.Object) bool {
			return o.Object["kind"] == patch["kind"] && nameOf(o) == name
		})
		if at < 0 {
			t.Fatalf("no %v %v among the sound objects", patch["kind"], name)
		}
		delete(patch, "$of")
		objects[at].Object = merged(objects[at].Object, patch).(map[string]any)
	}
	for _, added := range f.Add {
		objects = append(objects, manifests.Object{File: "added.yaml", Object: added})
	}
	doc, err := document(soundPlan(), objects)
	if err != nil {
		t.Fatal(err)
	}
	doc["plan"] = merged(doc["plan"], any(f.Plan))
	return doc
}

// merged is a strategic merge in small: null deletes, maps merge, and lists
// whose patch has names or topology keys merge by them.
func merged(base, patch any) any {
	switch p := patch.(type) {
	case map[string]any:
		b, ok := base.(map[string]any)
		if !ok {
			b = map[string]any{}
		}
		out := maps.Clone(b)
		if whole, ok := p["$replace"]; ok {
			return whole
		}
		for key, value := range p {
			if value == nil {
				delete(out, key)
				continue
			}
			out[key] = merged(out[key], value)
		}
		return out
	case []any:
		return mergedLists(base, p)
	default:
		return patch
	}
}

func mergedLists(base any, patch []any) any {
	b, _ := base.([]any)
	out := slices.Clone(b)
	for _, p := range patch {
		key, name := keyOf(p)
		if key == "" {
			return patch
		}
		at := slices.IndexFunc(out, func(e any) bool { return e.(map[string]any)[key] == name })
		switch {
		case at < 0:
			out = append(out, p)
		case p.(map[string]any)["$delete"] == true:
			out = slices.Delete(out, at, at+1)
		default:
			out[at] = merged(out[at], p)
		}
	}
	return out
}

func keyOf(element any) (key string, name any) {
	m, _ := element.(map[string]any)
	for _, key := range []string{"name", "topologyKey"} {
		if name, ok := m[key]; ok {
			return key, name
		}
	}
	return "", nil
}
