package generators

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
)

func tiny() *plan.Plan {
	p := &plan.Plan{
		Cluster: "mesh", Istiod: plan.Istiod{
			Deployment: "istiod", Namespace: "istio-system", CPU: "2", Memory: "1Gi", PriorityClass: "system-cluster-critical",
			Triggers: []plan.Trigger{{Name: "connections", Query: "vector(1)", Threshold: 100, Reason: "r"}},
		}, ArgoCD: &plan.ArgoCD{Namespace: "argocd", Project: "mesh"}, Routes: []plan.Route{{Namespace: "shop", Name: "cart", Reason: "r"}},
		Scopes: []plan.Scope{{Namespace: "shop", Name: "default", Hosts: []string{"./*"}, Rollout: "live", Reason: "r"}},
	}
	for subject, value := range map[string]any{
		"istiod.cpu": int64(2), "istiod.replicas.min": int64(2), "istiod.replicas.max": int64(4), "istiod.fallback.replicas": int64(2),
		"istiod.keepaliveMaxServerConnectionAge": "15m", "istiod.podDisruptionBudget.maxUnavailable": int64(1),
		"istiod.rollout.maxSurge": "25%", "istiod.scaleUp.stabilizationWindow": "75s",
		"istiod.topologySpreadConstraints": []string{"topology.kubernetes.io/zone ScheduleAnyway 1"},
	} {
		p.Decisions = append(p.Decisions, plan.Decision{Subject: subject, Value: value, Reason: "r"})
	}
	return p
}

func TestNamesAreUniqueAndSorted(t *testing.T) {
	all := names()
	sorted := slices.Compact(slices.Sorted(slices.Values(all)))
	if diff := cmp.Diff(sorted, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryFolderIsAGenerator(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" {
			folders = append(folders, e.Name())
		}
	}
	if diff := cmp.Diff(folders, names()); diff != "" {
		t.Errorf("(-folders +All):\n%s", diff)
	}
}

func names() []string {
	var all []string
	for _, g := range All() {
		all = append(all, g.Name)
	}
	return all
}

func TestEveryGeneratorOwnsItsFilesBelowTheCluster(t *testing.T) {
	tree, err := Render(tiny())
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]bool{}
	for _, f := range tree.Files() {
		owners[f.Owner] = true
		if !strings.HasPrefix(f.Path, "mesh/") || !strings.HasSuffix(string(f.Data), "\n") || strings.Contains(string(f.Data), "\r") {
			t.Errorf("%s of %s is not a text file below mesh/", f.Path, f.Owner)
		}
	}
	for _, name := range names() {
		if !owners[name] {
			t.Errorf("%s owns no file", name)
		}
	}
}

func TestTwoRendersAreTheSameBytes(t *testing.T) {
	first, err := Render(tiny())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := Render(tiny())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.Files(), again.Files()); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	}
}

func TestAFailureNamesTheGeneratorAndTheCluster(t *testing.T) {
	p := tiny()
	p.Decisions = nil
	_, err := Render(p)
	if err == nil || !strings.HasPrefix(err.Error(), "generate istiod for mesh: ") {
		t.Errorf("got %v", err)
	}
}
