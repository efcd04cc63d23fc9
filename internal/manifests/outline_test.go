package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/meshgen/meshgen/internal/artifact"
)

// appsOf is a folder that lists a project and an Application, edited.
func appsOf(t testing.TB, cluster string, edits ...string) *artifact.Tree {
	t.Helper()
	files := map[string]string{
		"kustomization.yaml": "kind: Kustomization\nresources:\n  - project.yaml\n  - app.yaml\n",
		"project.yaml":       "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: mesh-CLUSTER, namespace: argocd}\nspec: {description: The mesh of CLUSTER, window: 60}\n",
		"app.yaml":           "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app-CLUSTER, namespace: argocd, annotations: {wave: \"0\"}}\nspec: {project: mesh-CLUSTER, path: clusters/CLUSTER}\n",
	}
	tree := &artifact.Tree{}
	for name, data := range files {
		data = strings.ReplaceAll(strings.NewReplacer(edits...).Replace(data), "CLUSTER", cluster)
		if err := tree.Add(artifact.File{Path: cluster + "/argocd/" + name, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// Whatever listings were built before, what comes out is kustomize's own answer.
func TestListingsThatAreAlikeShareABuild(t *testing.T) {
	for name, c := range map[string]struct {
		edits  []string
		shares bool
		wrong  string
	}{
		"other names":                   {nil, true, ""},
		"another number":                {[]string{"window: 60", "window: 90"}, true, ""},
		"another text":                  {[]string{"The mesh", "A mesh"}, true, ""},
		"another project":               {[]string{"project: mesh-CLUSTER", "project: default"}, false, ""},
		"another kind of value":         {[]string{"window: 60", "window: sixty"}, false, ""},
		"another annotation":            {[]string{`wave: "0"`, `wave: "1"`}, false, ""},
		"an annotation that is dropped": {[]string{"wave:", "internal.config.kubernetes.io/refBy:"}, false, ""},
		"an object that is left out":    {[]string{"wave:", "config.kubernetes.io/local-config:"}, false, "app.yaml (argoproj.io/v1alpha1 Application argocd app-second) is not in the kustomization"},
		"a prefix":                      {[]string{"kind: Kustomization", "namePrefix: a-"}, false, "object argoproj.io/v1alpha1 AppProject argocd a-mesh-second comes from no file"},
		"two objects of one name":       {[]string{"kind: Application", "kind: AppProject", "name: app-CLUSTER", "name: mesh-CLUSTER"}, false, "may not add resource with an already registered id"},
		"an object without a name":      {[]string{"{name: app-CLUSTER, ", "{"}, false, "missing metadata.name"},
		"a file that is not listed":     {[]string{"  - app.yaml\n", ""}, false, "app.yaml (argoproj.io/v1alpha1 Application argocd app-second) is not in the kustomization"},
		"two objects in a file":         {[]string{"spec: {project", "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nspec: {project"}, false, "missing Resource metadata"},
		"an object that is a list":      {[]string{"kind: Application", "kind: List", "spec: {project", "items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]\nspec: {project"}, false, ""},
		"a field that no schema has":    {[]string{"spec: {project", "status: {}\nspec: {project"}, false, ""},
		"a text that is an anchor's":    {[]string{"The mesh of CLUSTER", "&a The mesh", "window: 60", "window: *a"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			second := appsOf(t, "second", c.edits...)
			folders, err := foldersOf("second", second)
			if err != nil {
				t.Fatal(err)
			}
			want, fails := plainly(folders["second/argocd"])
			if fails != nil {
				fails = fmt.Errorf("second/argocd: %w", fails)
			}
			if (fails != nil) != (c.wrong != "") || fails != nil && !strings.Contains(fails.Error(), c.wrong) {
				t.Fatalf("alone: %v, want %q", fails, c.wrong)
			}
			for _, before := range [][]string{{"first"}, {"second"}, {"second", "first"}} {
				b := newBuilder(nil, "", nil)
				for _, cluster := range before {
					tree := second
					if cluster == "first" {
						tree = appsOf(t, "first")
					}
					if _, err := builtBy(b, cluster, tree); err != nil && cluster == "first" {
						t.Fatal(err)
					}
				}
				known := b.listings.Len() + b.builds.Len()
				got, err := builtBy(b, "second", second)
				if fmt.Sprint(err) != fmt.Sprint(fails) {
					t.Errorf("after %v:\ngot  %v\nwant %v", before, err, fails)
				}
				if diff := cmp.Diff(byFile(want), byFile(got)); diff != "" {
					t.Errorf("after %v (-alone +shared):\n%s", before, diff)
				}
				if made := b.listings.Len() + b.builds.Len() - known; before[0] == "first" && (made == 0) != c.shares {
					t.Errorf("%d builds were new, shared: %t", made, c.shares)
				}
			}
		})
	}
}

// For kustomize no namespace is the namespace default.
func TestNamesThatBecomeEqualAreBuilt(t *testing.T) {
	b := newBuilder(nil, "", nil)
	for _, c := range []struct{ cluster, first, second, want string }{
		{"one", "a", "b", ""},
		{"two", "c", "d", ""},
		{"three", "e", "e", "may not add resource with an already registered id"},
	} {
		tree := &artifact.Tree{}
		for name, data := range map[string]string{
			"kustomization.yaml": "resources: [none.yaml, default.yaml]\n",
			"none.yaml":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + c.first + "}\n",
			"default.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: " + c.second + "}\n",
		} {
			if err := tree.Add(artifact.File{Path: c.cluster + "/mesh/" + name, Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := builtBy(b, c.cluster, tree)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.cluster, err, c.want)
		}
	}
	if got := b.listings.Len(); got != 2 {
		t.Errorf("%d listings were built, want that of the first two and that of the third", got)
	}
}

// plainly builds a folder by kustomize, whatever it lists.
func plainly(d *folder) ([]Object, error) {
	written, err := d.objects(newReading())
	if err != nil {
		return nil, err
	}
	disk := filesys.MakeFsInMemory()
	for _, f := range d.files {
		if err := disk.WriteFile("/"+d.below(f.Path), f.Data); err != nil {
			return nil, err
		}
	}
	built, err := kustomized(disk, "/argocd")
	if err != nil {
		return nil, err
	}
	return fromFiles(built, written)
}

func builtBy(b *Builder, cluster string, tree *artifact.Tree) ([]Object, error) {
	folders, err := foldersOf(cluster, tree)
	if err != nil {
		return nil, err
	}
	return b.buildKustomizations(folders)
}

func byFile(objects []Object) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, o := range objects {
		all[o.File] = o.Object
	}
	return all
}
