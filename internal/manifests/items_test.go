package manifests

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/plan"
)

// listOf is a ResourceList of objects.
func listOf(t *testing.T, objects ...map[string]any) *ResourceList {
	t.Helper()
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": objects,
		"functionConfig": map[string]any{"kind": "ClusterProfile"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(data))
}

func read(t *testing.T, text string) *ResourceList {
	t.Helper()
	l, found, err := ReadResourceList(strings.NewReader(text))
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	return l
}

func printed(t *testing.T, l *ResourceList) string {
	t.Helper()
	var out bytes.Buffer
	if err := l.Write(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// userItems are the objects that the user's own base builds to.
func userItems(t *testing.T) []map[string]any {
	t.Helper()
	inFolder(t, userBase(t))
	b := &base{given: "base"}
	if f := b.load(); f != nil {
		t.Fatal(f)
	}
	var objects []map[string]any
	for _, o := range b.objects {
		objects = append(objects, o.object)
	}
	return objects
}

// marked are the Component's files with the label that generated objects have.
func marked(t *testing.T) map[string]string {
	t.Helper()
	files := patches(t)
	const file, name = shop + "scaledobject-cart.yaml", "  name: cart\n  namespace: shop\n"
	if !strings.Contains(files[file], name) {
		t.Fatal(files[file])
	}
	files[file] = strings.Replace(files[file], name, name+"  labels:\n    app.kubernetes.io/managed-by: meshgen\n", 1)
	return files
}

// applied puts the plan onto the items.
func applied(t *testing.T, p *plan.Plan, components map[string]string, l *ResourceList) *application {
	t.Helper()
	a, err := Input{Plan: p, Tree: treeOf(t, components), Pos: position}.apply(l)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Items come out as kustomize builds the base that has the same objects under the
// Components.
func TestItemsComeOutAsABaseDoes(t *testing.T) {
	components := marked(t)
	a := applied(t, scaled(), components, listOf(t, userItems(t)...))
	if len(a.found) > 0 {
		t.Fatal(a.found)
	}
	got := map[string]map[string]any{}
	objects, err := a.out.objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		got[refOf(o.Object).String()] = o.Object
	}
	tree := treeOf(t, components)
	folders, err := foldersOf("mesh", tree)
	if err != nil {
		t.Fatal(err)
	}
	all, err := componentsOf(folders, scaled().Bases, newReading())
	if err != nil {
		t.Fatal(err)
	}
	b := &base{given: "base"}
	if f := b.load(); f != nil {
		t.Fatal(f)
	}
	built, err := b.build("after", all)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]any{}
	for _, o := range built {
		want[o.ref.String()] = o.object
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-kustomize +items):\n%s", diff)
	}
}

func TestWhatWasAppliedIsAppliedAgain(t *testing.T) {
	for name, change := range map[string]func(*plan.Plan, []map[string]any, map[string]string){
		"as it is": func(*plan.Plan, []map[string]any, map[string]string) {},
		"where nothing has a namespace": func(p *plan.Plan, items []map[string]any, files map[string]string) {
			p.Bases.Namespaced = false
			for _, object := range items {
				delete(object["metadata"].(map[string]any), "namespace")
			}
			for file, data := range files {
				files[file] = strings.NewReplacer("  namespace: shop\n", "", ", namespace: shop}", "}").Replace(data)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := marked(t) // before the working folder changes
			p, items := scaled(), userItems(t)
			change(p, items, files)
			first := applied(t, p, files, listOf(t, items...))
			if len(first.found) > 0 {
				t.Fatal(first.found)
			}
			once := printed(t, first.out)
			second := applied(t, p, files, read(t, once))
			if len(second.found) > 0 {
				t.Fatal(second.found)
			}
			if diff := cmp.Diff(once, printed(t, second.out)); diff != "" {
				t.Errorf("(-once +twice):\n%s", diff)
			}
			if n := len(second.out.items); n != len(items) {
				t.Errorf("%d items, want %d: one HPA is gone, and one ScaledObject there", n, len(items))
			}
			if n := strings.Count(once, "query: vector(20)"); n != 1 {
				t.Errorf("the event's trigger stands %d times behind the user's", n)
			}
		})
	}
}

func TestWhatItemsMustNotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(items []map[string]any) []map[string]any
		want   []string
	}{
		"a workload is missing": {
			func(items []map[string]any) []map[string]any {
				at := slot(items, "Deployment", "cart")
				return slices.Delete(items, at, at+1)
			},
			[]string{"<stdin>: error: the base builds no Deployment shop/cart, which a patch is for: applying it would fail [manifests/base-missing]"},
		},
		"a workload keeps its replicas": {
			func(items []map[string]any) []map[string]any {
				object := items[slot(items, "Deployment", "cart")]
				object["spec"].(map[string]any)["replicas"] = 3
				return items
			},
			[]string{"items[0]: spec.replicas: error: Deployment shop/cart keeps spec.replicas 3 in the base, and ScaledObject cart scales it: each sync would reset what the autoscaler set [manifests/base-replicas]"},
		},
		"nothing of the namespace is there": {
			func([]map[string]any) []map[string]any { return nil },
			[]string{"profile.yaml:15:1: warning: namespace shop has no workload and no Service here: its patches (7) are left out, its whole objects are not [manifests/not-patched]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := marked(t) // before the working folder changes
			l := listOf(t, c.change(userItems(t))...)
			a := applied(t, scaled(), files, l)
			var got []string
			for _, f := range a.found.Sorted() {
				line, _, _ := strings.Cut(l.Located(f).String(), "\n")
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// slot is where the items have an object.
func slot(items []map[string]any, kind, name string) int {
	return slices.IndexFunc(items, func(object map[string]any) bool {
		r := refOf(object)
		return r.kind == kind && r.name == name
	})
}
