package apiserver_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// examples applies what runs before (the bases, the chart with the values of
// others), then everything that meshgen wrote, twice.
func (s *server) examples(t *testing.T) {
	for _, name := range cluster.Names(t) {
		t.Run(name, func(t *testing.T) {
			p := cluster.ReadProfile(t, cluster.Example(name))
			s.namespaces(t, namespaces(p)...)
			s.prune(t, s.adopt(t, name, p))
		})
	}
}

// adopt takes one cluster from what runs before to what meshgen wrote, and gives
// what it then holds.
func (s *server) adopt(t *testing.T, name string, p cluster.Profile) []object {
	t.Helper()
	folder := cluster.Folder(name)
	before, after := workloads(t, folder, prefix, bases(t, p, true))
	before = append(before, istiod(t, p.Istio.Namespace, "others' values", chartutil.Values{"autoscaleMin": 2})...)
	after = append(after, istiod(t, p.Istio.Namespace, folder+"/istiod/values.yaml", values(t, folder))...)
	after = append(after, overlay(t, folder+"/istiod")...)
	after = append(after, overlay(t, folder+"/mesh")...)
	after = append(after, overlay(t, folder+"/argocd")...)
	unique(t, after)

	whole := before
	before = changing(whole, after)
	ran := s.apply(t, withoutWebhooks(before))
	theirs := s.warnings.take()
	runs := s.apply(t, withoutWebhooks(after))
	s.prune(t, missing(before, after))
	again := s.apply(t, withoutWebhooks(after))
	s.webhooks(t, after)
	s.warned(t, changing(after, whole), theirs, p.Kubernetes.Version)
	settled(t, after, runs, again)
	if t.Failed() {
		return after
	}
	left := s.patched(t, name, folder, again)
	kept(t, before, ran, again, left)
	targets(t, after, again)
	t.Logf("%d objects after the %d that change or go, %d of them patched", len(after), len(before), len(left))
	return after
}

// changing leaves out the objects that are alike in the other set: they are the
// base's own, and to apply them once more shows nothing.
func changing(objects, others []object) []object {
	texts := map[string]string{}
	for _, o := range others {
		texts[o.id()] = o.text
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return texts[o.id()] == o.text })
}

func namespaces(p cluster.Profile) []string {
	all := map[string]bool{p.Istio.Namespace: true, "argocd": true}
	for _, n := range p.Namespaces {
		all[n.Name] = true
	}
	for _, s := range p.Services {
		all[s.Namespace] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// unique finds an object that is written twice: Argo CD warns of it and takes
// the last.
func unique(t *testing.T, objects []object) {
	t.Helper()
	from := map[string]string{}
	for _, o := range objects {
		if first, twice := from[o.id()]; twice {
			t.Errorf("%s: %s stands in %s too", o.from, o.id(), first)
		}
		from[o.id()] = o.from
	}
}

func webhook(o object) bool { return strings.HasSuffix(o.GetKind(), "WebhookConfiguration") }

// withoutWebhooks leaves out what would make the server call an istiod that is
// not there, and wait for it.
func withoutWebhooks(objects []object) []object {
	return slices.DeleteFunc(slices.Clone(objects), webhook)
}

// webhooks applies them last, twice.
func (s *server) webhooks(t *testing.T, objects []object) {
	t.Helper()
	hooks := slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return !webhook(o) })
	settled(t, hooks, s.apply(t, hooks), s.apply(t, hooks))
}

// missing are the objects that are in the first set and not in the second, the
// webhooks aside, which were not applied.
func missing(before, after []object) []object {
	stays := map[string]bool{}
	for _, o := range after {
		stays[o.id()] = true
	}
	return slices.DeleteFunc(withoutWebhooks(before), func(o object) bool { return stays[o.id()] })
}

// warned finds warnings about objects that meshgen changes or makes and that
// neither the base nor the chart as it comes has had.
func (s *server) warned(t *testing.T, objects []object, theirs map[string][]string, version string) {
	t.Helper()
	ours := s.warnings.take()
	for _, o := range objects {
		for _, text := range ours[o.id()] {
			if !slices.Contains(theirs[o.id()], text) && !tooNew(text, version) {
				t.Errorf("%s: %s: the API server warns: %s", o.from, o.id(), text)
			}
		}
	}
}

// tooNew reports whether a warning is of a value that has a successor which the
// cluster's Kubernetes does not have: PreferSameZone came with 1.34.
func tooNew(text, version string) bool {
	return strings.Contains(text, `"PreferClose" is deprecated`) && version == "1.33"
}

// settled finds what the second apply changed: Argo CD would sync it for ever.
func settled(t *testing.T, objects []object, first, second map[string]*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		one, two := first[o.id()], second[o.id()]
		if one == nil || two == nil {
			continue
		}
		if one.GetResourceVersion() != two.GetResourceVersion() || one.GetGeneration() != two.GetGeneration() {
			t.Errorf("%s: %s: the second apply changes it (-first +second):\n%s", o.from, o.id(), cmp.Diff(one.Object, two.Object))
		}
		if diff := cmp.Diff(one.GetManagedFields(), two.GetManagedFields()); diff != "" {
			t.Errorf("%s: %s: the second apply changes who owns what (-first +second):\n%s", o.from, o.id(), diff)
		}
		for _, owner := range two.GetManagedFields() {
			if owner.Manager != manager {
				t.Errorf("%s: %s: %s owns fields that nobody applied", o.from, o.id(), owner.Manager)
			}
		}
	}
}

// legacy are the annotations that no Service keeps.
var legacy = []string{"service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints"}

// patched compares the live objects with each patch that meshgen wrote, and
// gives the objects that have one.
func (s *server) patched(t *testing.T, name, folder string, live map[string]*unstructured.Unstructured) map[string]bool {
	t.Helper()
	left := map[string]bool{}
	for _, file := range cluster.Rendered(t, name, "workloads/*/*.yaml") {
		kind, _, _ := strings.Cut(filepath.Base(file.Path), "-")
		if kind != "deployment" && kind != "statefulset" && kind != "service" && kind != "horizontalpodautoscaler" {
			continue
		}
		all := documents(t, file.Text, file.Path)
		patch := all[len(all)-1]
		if kind == "horizontalpodautoscaler" {
			if _, err := s.get(t.Context(), patch.Unstructured); !apierrors.IsNotFound(err) {
				t.Errorf("%s: %s is still on the server: %v", file.Path, patch.id(), err)
			}
			continue
		}
		got := find(live, patch)
		if got == nil {
			t.Errorf("%s: no %s on the server", file.Path, patch.id())
			continue
		}
		left[object{Unstructured: got}.id()] = true
		if kind == "service" {
			route(t, patch, got)
		} else {
			spread(t, patch, got)
		}
	}
	return left
}

// prefix is what the bases of the examples put before names.
const prefix = "eu-"

// find is the live object that a patch is for, with or without the base's prefix.
func find(live map[string]*unstructured.Unstructured, patch object) *unstructured.Unstructured {
	if got := live[patch.id()]; got != nil {
		return got
	}
	named := object{Unstructured: patch.DeepCopy()}
	named.SetName(prefix + patch.GetName())
	return live[named.id()]
}

func route(t *testing.T, patch object, live *unstructured.Unstructured) {
	t.Helper()
	want, _, _ := unstructured.NestedString(patch.Object, "spec", "trafficDistribution")
	got, _, _ := unstructured.NestedString(live.Object, "spec", "trafficDistribution")
	if got != want {
		t.Errorf("%s: trafficDistribution is %q on the server, want %q", patch.from, got, want)
	}
	for _, name := range legacy {
		if value, there := live.GetAnnotations()[name]; there {
			t.Errorf("%s: annotation %s: %s is still on the server", patch.from, name, value)
		}
	}
}

// constraints is where a workload's spread constraints stand.
var constraints = []string{"spec", "template", "spec", "topologySpreadConstraints"}

func spread(t *testing.T, patch object, live *unstructured.Unstructured) {
	t.Helper()
	written, _, _ := unstructured.NestedSlice(patch.Object, constraints...)
	want := slices.DeleteFunc(written, func(c any) bool { return c.(map[string]any)["$patch"] != nil })
	got, _, _ := unstructured.NestedSlice(live.Object, constraints...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: other constraints on the server (-written +live):\n%s", patch.from, diff)
	}
}

// kept compares what meshgen does not own with what it was before.
func kept(t *testing.T, before []object, ran, runs map[string]*unstructured.Unstructured, left map[string]bool) {
	t.Helper()
	for _, o := range before {
		was, is := ran[o.id()], runs[o.id()]
		if was == nil || is == nil || strings.HasPrefix(o.from, "the istiod chart") {
			continue
		}
		if diff := cmp.Diff(strangers(was, left[o.id()]), strangers(is, left[o.id()])); diff != "" {
			t.Errorf("%s: %s is not what it was where meshgen owns nothing (-before +after):\n%s", o.from, o.id(), diff)
		}
	}
}

// strangers is an object without the server's bookkeeping and, where it has a
// patch, without the fields that meshgen owns.
func strangers(o *unstructured.Unstructured, patched bool) map[string]any {
	rest := o.DeepCopy()
	for _, field := range []string{"resourceVersion", "generation", "managedFields"} {
		unstructured.RemoveNestedField(rest.Object, "metadata", field)
	}
	if !patched {
		return rest.Object
	}
	unstructured.RemoveNestedField(rest.Object, constraints...)
	unstructured.RemoveNestedField(rest.Object, "spec", "trafficDistribution")
	for _, name := range legacy {
		unstructured.RemoveNestedField(rest.Object, "metadata", "annotations", name)
	}
	return rest.Object
}

// targets finds a ScaledObject that scales nothing, and replicas in the manifest
// of what one scales.
func targets(t *testing.T, objects []object, live map[string]*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "ScaledObject" {
			continue
		}
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "kind")
		name, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "name")
		target := live[kind+".apps "+o.GetNamespace()+"/"+name]
		if target == nil {
			t.Errorf("%s: %s: there is no %s %s on the server", o.from, o.id(), kind, name)
			continue
		}
		if owns(t, target, manager, "spec", "replicas") {
			t.Errorf("%s: %s: the manifest of %s %s sets replicas", o.from, o.id(), kind, name)
		}
	}
}
