package policies

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
)

// called is the sound plan, and objects that are denied, of a cluster of that name.
func called(t *testing.T, name string) (*plan.Plan, []manifests.Object) {
	t.Helper()
	p, objects := soundPlan(), soundObjects(t)
	p.Cluster = name
	for i, o := range objects {
		objects[i].File = name + "/istiod/" + o.File
		if o.Object["kind"] == "ScaledObject" && nameOf(o) == "istiod" {
			objects[i].Object = merged(o.Object, map[string]any{"spec": map[string]any{"maxReplicaCount": 5}}).(map[string]any)
		}
	}
	return p, objects
}

func judgedBy(t *testing.T, e *engine, p *plan.Plan, objects []manifests.Object) diag.List {
	t.Helper()
	found, err := e.judge(context.Background(), p, objects)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Clusters whose input is equal are judged once, and each is told of its own files.
func TestAClusterIsJudgedAsIfAlone(t *testing.T) {
	shared := anEngine(t)
	for _, name := range []string{"a", "b", "istiod", "istio-system"} {
		p, objects := called(t, name)
		got, want := judgedBy(t, shared, p, objects), judgedBy(t, anEngine(t), p, objects)
		if len(want) < 2 {
			t.Fatalf("%s: %v, want denials at a decision and at a file", name, want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-alone +in a fleet):\n%s", name, diff)
		}
		for _, f := range got {
			if f.File != "profile.yaml" && !strings.HasPrefix(f.File, name+"/istiod/") {
				t.Errorf("%s: a finding stands in %s", name, f.File)
			}
		}
	}
}

// Whatever differs is judged for itself.
func TestWhatDiffersIsNotJudgedAsTheSame(t *testing.T) {
	for differs, change := range map[string]func(*plan.Plan, []manifests.Object){
		"a decision of the plan":         func(p *plan.Plan, _ []manifests.Object) { p.Decisions[4].Value = int64(93) },
		"whether bases have a namespace": func(p *plan.Plan, _ []manifests.Object) { p.Bases.Namespaced = false },
		"a field of an object": func(_ *plan.Plan, objects []manifests.Object) {
			objects[0].Object = merged(objects[0].Object, map[string]any{"metadata": map[string]any{"name": "other"}}).(map[string]any)
		},
		"the file of an object": func(_ *plan.Plan, objects []manifests.Object) { objects[0].File = "a/elsewhere.yaml" },
	} {
		p, objects := called(t, "a")
		before := mustKey(t, p, objects)
		change(p, objects)
		if mustKey(t, p, objects) == before {
			t.Errorf("%s: taken for the same input", differs)
		}
	}
	_, objects := called(t, "a")
	if p, _ := called(t, "a"); mustKey(t, p, objects) == mustKey(t, nil, objects) {
		t.Error("no plan: taken for the same input")
	}
}

// A judgement that was cut short is not remembered.
func TestAJudgementThatWasCutShortIsMadeAgain(t *testing.T) {
	e := anEngine(t)
	p, objects := called(t, "a")
	cut := func() ([]denial, error) { return nil, context.Canceled }
	if _, err := e.judged.Of(mustKey(t, p, objects), cut); err == nil {
		t.Fatal("not cut short")
	}
	if found := judgedBy(t, e, p, objects); len(found) < 2 {
		t.Errorf("%v, want what is denied", found)
	}
}

// Applications go to where Argo CD runs, and are called after the cluster.
func TestArgoCDsOwnObjectsAreNotJudged(t *testing.T) {
	p, objects := called(t, "a")
	before := mustKey(t, p, objects)
	application := manifests.Object{File: "a/argocd/application-a.yaml", Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "a"},
	}}
	if mustKey(t, p, append(objects, application)) != before {
		t.Error("an Application is part of the input")
	}
}

func anEngine(t *testing.T) *engine {
	t.Helper()
	e, err := newEngine()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustKey(t *testing.T, p *plan.Plan, objects []manifests.Object) string {
	t.Helper()
	key, err := inputKey(p, objects)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
