package artifact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPatchYAML(t *testing.T) {
	list := map[string]any{"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"items": []any{1}}}
	for name, c := range map[string]struct {
		patch   Patch
		reasons map[string]string
		want    string
		err     string
	}{
		"a list that replaces says so first": {
			Patch{Object: list, Replace: [][]string{{"spec", "items"}}},
			map[string]string{"spec.items": "why"},
			"# An empty list first: kustomize replaces none that is not there.\nmetadata:\n  name: web\nspec:\n  items: []\n---\n" +
				"metadata:\n  name: web\nspec:\n  # why\n  items:\n    - $patch: replace\n    - 1\n", "",
		},
		"fields are deleted by null, with their parents made": {
			Patch{Object: list, Null: [][]string{{"metadata", "annotations", "a.b/c"}, {"metadata", "annotations", "d"}, {"spec", "x"}}},
			map[string]string{"metadata.annotations.a.b/c": "why"},
			"metadata:\n  name: web\n  annotations:\n    # why\n    a.b/c: null\n    d: null\nspec:\n  items:\n    - 1\n  x: null\n", "",
		},
		"an object is deleted as a whole": {
			Patch{Object: map[string]any{"kind": "K"}, Delete: true}, nil, "kind: K\n$patch: delete\n", "",
		},
		"a list that is not there cannot replace": {
			Patch{Object: list, Replace: [][]string{{"spec", "others"}}}, nil, "", "spec.others is no list to replace",
		},
		"a field cannot be set and deleted": {
			Patch{Object: list, Null: [][]string{{"spec", "items"}}}, nil, "", "spec.items is set and deleted",
		},
		"a list is no object": {Patch{Object: []int{1}}, nil, "", "[]int is not an object in JSON"},
		"a reason for nothing": {
			Patch{Object: list}, map[string]string{"spec.y": "why"}, "", "no field spec.y",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := PatchYAML("a/b.yaml", "test", c.patch, c.reasons)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(header+c.want, string(f.Data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendYAML(t *testing.T) {
	f, err := AppendYAML("a/b.yaml", "test", []Append{{"/spec/triggers", map[string]any{"type": "cron"}}}, map[string]string{"[0]": "why"})
	if err != nil {
		t.Fatal(err)
	}
	want := header + "# why\n- op: add\n  path: /spec/triggers/-\n  value:\n    type: cron\n"
	if diff := cmp.Diff(want, string(f.Data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
