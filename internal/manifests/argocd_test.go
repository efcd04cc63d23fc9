package manifests

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/schema"
)

// An Application is as much of Argo CD's as says what it applies.
type testApplication struct {
	Metadata struct{ Name string }
	Spec     struct {
		Source      *testSource
		Sources     []testSource
		Destination struct{ Namespace string }
	}
}

type testSource struct {
	RepoURL, Chart, TargetRevision, Path, Ref string
	Helm                                      *struct {
		ReleaseName string
		ValueFiles  []string
	}
	Kustomize *struct{ Components []string }
}

// repository is the Git repository that Argo CD reads: what was written, at the
// path that the profile says, and the user's own kustomization.
type repository struct {
	t    *testing.T
	disk filesys.FileSystem
	b    *Builder
	plan *plan.Plan
}

const userDeployments = `apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec: {selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: {containers: [{name: app}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout, namespace: shop}
spec: {selector: {matchLabels: {app: checkout}}, template: {metadata: {labels: {app: checkout}}, spec: {containers: [{name: app}]}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: cart, namespace: shop}
spec: {maxReplicas: 60, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: checkout, namespace: shop}
spec: {maxReplicas: 40, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: checkout}}
`

// Argo CD renders the sources of the Applications to the objects that were proven:
// istiod's chart and folder, and every namespace's scopes; a namespace's own
// kustomization is built with the Component.
func TestApplicationsApplyWhatWasProven(t *testing.T) {
	b := open(t, "")
	for _, cluster := range []string{"bigsale", "boutique"} {
		t.Run(cluster, func(t *testing.T) {
			p, tree := rendered(t, cluster)
			proven, found, err := b.Build(Input{Plan: p, Tree: tree, Pos: position})
			if err != nil || found.HasErrors() {
				t.Fatal(found, err)
			}
			r := repository{t, filesys.MakeFsInMemory(), b, p}
			r.write("apps/shop/prod/kustomization.yaml", "resources: [all.yaml]\n")
			r.write("apps/shop/prod/all.yaml", userDeployments)
			for _, f := range tree.Files() {
				r.write("golden/"+f.Path, string(f.Data))
			}
			got := map[string]string{}
			for _, a := range r.applications(proven) {
				maps.Copy(got, r.apply(a))
			}
			want := map[string]string{}
			for _, o := range proven {
				if folder := strings.TrimPrefix(o.File, cluster+"/"); !strings.HasPrefix(folder, "argocd/") && !strings.HasPrefix(folder, "workloads/") {
					want[identity(o.Object)] = canonical(t, o.Object)
				}
			}
			if diff := cmp.Diff(want, withoutWorkloads(got)); diff != "" {
				t.Errorf("(-proven +applied):\n%s", diff)
			}
			if cluster == "bigsale" {
				r.built(got)
			}
		})
	}
}

// built looks for what the Component does to the user's own objects.
func (r repository) built(got map[string]string) {
	r.t.Helper()
	for _, id := range []string{"keda.sh/v1alpha1 ScaledObject shop cart", "keda.sh/v1alpha1 ScaledObject shop checkout"} {
		if got[id] == "" {
			r.t.Errorf("no %s among what is applied", id)
		}
	}
	if d := got["apps/v1 Deployment shop cart"]; !strings.Contains(d, "topologySpreadConstraints") {
		r.t.Errorf("the Component does not patch %s", d)
	}
	if _, stays := got["autoscaling/v2 HorizontalPodAutoscaler shop cart"]; stays {
		r.t.Error("the HPA that is taken over stays in the manifests")
	}
}

func withoutWorkloads(got map[string]string) map[string]string {
	rest := maps.Clone(got)
	maps.DeleteFunc(rest, func(id, text string) bool {
		return strings.Contains(id, " shop ") && !strings.Contains(id, "Sidecar")
	})
	return rest
}

func rendered(t *testing.T, cluster string) (*plan.Plan, *artifact.Tree) {
	t.Helper()
	profile, found := schema.Load(os.DirFS("../../examples"), "clusters/"+cluster+"/profile.yaml")
	if profile == nil {
		t.Fatal(found)
	}
	p, err := plan.Build(profile)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := generators.Render(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, tree
}

func (r repository) write(name, text string) {
	r.t.Helper()
	if err := r.disk.WriteFile("/"+name, []byte(text)); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) read(name string) []byte {
	r.t.Helper()
	data, err := r.disk.ReadFile("/" + name)
	if err != nil {
		r.t.Errorf("an Application names %s: %v", name, err)
	}
	return data
}

func (r repository) applications(proven []Object) []testApplication {
	r.t.Helper()
	var all []testApplication
	for _, o := range proven {
		if o.kind() != "Application" {
			continue
		}
		var a testApplication
		data, err := json.Marshal(o.Object)
		if err == nil {
			err = json.Unmarshal(data, &a)
		}
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// apply is what Argo CD makes of an Application's sources, by identity.
func (r repository) apply(a testApplication) map[string]string {
	r.t.Helper()
	sources := a.Spec.Sources
	if a.Spec.Source != nil {
		sources = []testSource{*a.Spec.Source}
	}
	got := map[string]string{}
	for _, s := range sources {
		for _, object := range r.manifests(a, s) {
			if _, twice := got[identity(object)]; twice {
				r.t.Errorf("%s applies %s twice", a.Metadata.Name, identity(object))
			}
			got[identity(object)] = canonical(r.t, object)
		}
	}
	if len(got) == 0 {
		r.t.Errorf("%s applies nothing", a.Metadata.Name)
	}
	return got
}

func (r repository) manifests(a testApplication, s testSource) []map[string]any {
	r.t.Helper()
	switch {
	case s.Chart != "":
		return r.template(a, s)
	case r.disk.Exists(path.Join("/", s.Path, kustomizationFile)):
		return r.kustomize(s)
	}
	return r.directory(s)
}

// template is helm template with the value files, the last of which wins.
func (r repository) template(a testApplication, s testSource) []map[string]any {
	r.t.Helper()
	values := map[string]any{}
	for _, name := range s.Helm.ValueFiles {
		file, ok := strings.CutPrefix(name, "$values/")
		if !ok {
			r.t.Errorf("%s is not from the repository", name)
		}
		more, err := chartutil.ReadValues(r.read(file))
		if err != nil {
			r.t.Fatal(err)
		}
		values = chartutil.CoalesceTables(more, values)
	}
	i := plan.Istiod{Deployment: s.Helm.ReleaseName, Namespace: a.Spec.Destination.Namespace, KubernetesVersion: r.plan.Istiod.KubernetesVersion}
	texts, err := execute(r.b.chart, i, values)
	if err != nil {
		r.t.Fatal(err)
	}
	objects, err := objectsOf(texts, decodeText)
	if err != nil {
		r.t.Fatal(err)
	}
	return objects
}

// kustomize is kustomize edit add component, and kustomize build.
func (r repository) kustomize(s testSource) []map[string]any {
	r.t.Helper()
	if s.Kustomize != nil {
		var k types.Kustomization
		name := path.Join(s.Path, kustomizationFile)
		if err := yaml.UnmarshalStrict(r.read(name), &k); err != nil {
			r.t.Fatal(err)
		}
		k.Components = append(k.Components, s.Kustomize.Components...)
		if err := writeKustomization(r.disk, "/"+s.Path, k); err != nil {
			r.t.Fatal(err)
		}
	}
	objects, err := kustomized(r.disk, "/"+s.Path)
	if err != nil {
		r.t.Errorf("kustomize build %s: %v", s.Path, err)
	}
	return objects
}

// directory is every manifest of a folder.
func (r repository) directory(s testSource) []map[string]any {
	r.t.Helper()
	names, err := r.disk.ReadDir("/" + s.Path)
	if err != nil {
		r.t.Errorf("an Application names the folder %s: %v", s.Path, err)
	}
	var all []map[string]any
	for _, name := range names {
		objects, err := decodeAll(r.read(path.Join(s.Path, name)))
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, objects...)
	}
	return all
}

func canonical(t *testing.T, object map[string]any) string {
	t.Helper()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", " ")
	if err := e.Encode(object); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// The project permits what istiod's chart has outside of namespaces, whatever is
// switched on in it.
func TestTheProjectPermitsTheChart(t *testing.T) {
	p, tree := rendered(t, "bigsale")
	file, ok := tree.Get("bigsale/argocd/appproject-mesh-bigsale.yaml")
	if !ok {
		t.Fatal("no project")
	}
	var project struct {
		Spec struct {
			ClusterResourceWhitelist []struct{ Group, Kind string }
		}
	}
	if err := yaml.Unmarshal(file.Data, &project); err != nil {
		t.Fatal(err)
	}
	b := open(t, "")
	texts, err := execute(b.chart, p.Istiod, map[string]any{"experimental": map[string]any{"stableValidationPolicy": true}, "revisionTags": []any{"prod"}})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := objectsOf(texts, b.decode)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, object := range objects {
		o := Object{Object: object}
		group, _, _ := strings.Cut(o.text("apiVersion"), "/")
		if o.text("metadata", "namespace") != "" {
			if o.text("metadata", "namespace") != p.Istiod.Namespace {
				t.Errorf("%s is in a namespace that the project does not have", identity(object))
			}
			continue
		}
		seen++
		if !slices.ContainsFunc(project.Spec.ClusterResourceWhitelist, func(k struct{ Group, Kind string }) bool { return k.Group == group && k.Kind == o.kind() }) {
			t.Errorf("%s is not permitted", identity(object))
		}
	}
	if seen < 5 {
		t.Errorf("%d objects outside of namespaces, want those of the chart", seen)
	}
}
