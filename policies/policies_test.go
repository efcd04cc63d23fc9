package policies

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
)

const query = `160 * ceil(sum(max by (pod, version) ` +
	`(last_over_time(pilot_xds{namespace="istio-system",pod=~"istiod-[^-]+(-[^-]+)?"}[1m]))) / 160)`

// soundPlan is a plan by hand that the objects of testdata/clean follow.
func soundPlan() *plan.Plan {
	at := func(line int) diag.Pos { return diag.Pos{File: "profile.yaml", Line: line, Column: 3} }
	return &plan.Plan{
		Cluster: "bigsale",
		Decisions: []plan.Decision{
			{Subject: "istiod.cpu", Value: int64(2), Unit: "cores", Pos: at(10)},
			{Subject: "istiod.connectionThreshold", Value: int64(80), Unit: "connections per istiod", Pos: at(11), Running: &plan.Running{Value: int64(100), Verdict: plan.Unsafe}},
			{Subject: "istiod.keepaliveMaxServerConnectionAge", Value: "15m", Unit: "duration", Pos: at(12)},
			{Subject: "istiod.replicas.min", Value: int64(24), Unit: "replicas", Pos: at(13)},
			{Subject: "istiod.replicas.max", Value: int64(92), Unit: "replicas", Pos: at(14)},
			{Subject: "istiod.fallback.replicas", Value: int64(46), Unit: "replicas", Pos: at(15)},
			{Subject: "istiod.scaleUp.stabilizationWindow", Value: "75s", Unit: "duration", Pos: at(15)},
			{Subject: "istiod.podDisruptionBudget.maxUnavailable", Value: int64(2), Unit: "pods", Pos: at(16)},
			{Subject: "istiod.topologySpreadConstraints", Value: []string{"topology.kubernetes.io/zone DoNotSchedule 1", "kubernetes.io/hostname ScheduleAnyway 1"}, Unit: "topologyKey whenUnsatisfiable maxSkew", Pos: at(17)},
			{Subject: "sidecar/platform.hosts", Value: nil, Unit: "hosts", Pos: at(18)},
			{Subject: "sidecar/shop.hosts", Value: shopHosts(), Unit: "hosts", Pos: at(19)},
			{Subject: "sidecar/shop/cart.hosts", Value: cartHosts(), Unit: "hosts", Pos: at(20)},
			{Subject: "service/shop/cart.trafficDistribution", Value: "PreferClose", Unit: "trafficDistribution", Pos: at(21)},
			{Subject: "service/platform/ledger.trafficDistribution", Value: nil, Unit: "trafficDistribution", Pos: at(22)},
			{Subject: "workload/shop/cart.replicas.min", Value: int64(6), Unit: "replicas", Pos: at(23)},
			{Subject: "workload/shop/cart.replicas.max", Value: int64(60), Unit: "replicas", Pos: at(24)},
			{Subject: "workload/shop/cart.fallback.replicas", Value: int64(20), Unit: "replicas", Pos: at(25)},
			{Subject: "workload/shop/cart.topologySpreadConstraints", Value: []string{"topology.kubernetes.io/zone DoNotSchedule 1", "kubernetes.io/hostname ScheduleAnyway 1"}, Unit: "topologyKey whenUnsatisfiable maxSkew", Pos: at(26)},
			{Subject: "workload/platform/ledger.topologySpreadConstraints", Value: []string{"topology.kubernetes.io/zone ScheduleAnyway 1"}, Unit: "topologyKey whenUnsatisfiable maxSkew", Pos: at(27)},
		},
		Workloads: soundWorkloads(),
		Routes: []plan.Route{
			{Namespace: "platform", Name: "ledger"},
			{Namespace: "shop", Name: "cart", TrafficDistribution: "PreferClose"},
		},
		Scopes: []plan.Scope{
			{Namespace: "platform", Name: "default", Hosts: []string{"./*", "istio-system/*"}, Rollout: "report"},
			{Namespace: "shop", Name: "cart", Selector: map[string]string{"app": "cart"}, Hosts: cartHosts(), Rollout: "canary"},
			{Namespace: "shop", Name: "default", Hosts: shopHosts(), Rollout: "live"},
		},
		Bases: plan.Bases{Namespaced: true},
		Istiod: plan.Istiod{
			Deployment: "istiod", Namespace: "istio-system", Version: "1.24", KubernetesVersion: "1.31",
			CPU: "2", Memory: "800Mi", Zones: 2, HardZoneSpread: true, PriorityClass: "system-cluster-critical",
			DedicatedPools: []plan.DedicatedPool{{Name: "edge", Labels: map[string]string{"pool": "edge"}}},
			ServerAddress:  "http://prometheus.monitoring.svc:9090",
			Triggers: []plan.Trigger{
				{Name: "connections", Query: query, Threshold: 80},
				{
					Name: "event_weekday_lunch", Event: "weekday-lunch", Replicas: 16,
					Start: "6 11 * * 1,2,3,4,5", End: "30 13 * * 1,2,3,4,5", TimeZone: "Asia/Seoul",
				},
				{
					Name: "event_big_sale", Event: "big-sale", Replicas: 46, Threshold: 1,
					Query: "vector(46 * (time() >= bool 1797665460) * (time() < bool 1797681600))",
				},
			},
		},
	}
}

func shopHosts() []string {
	return []string{"./*", "istio-system/*", "platform/auth.platform.svc.cluster.local"}
}

func cartHosts() []string {
	return []string{"./cart.shop.svc.cluster.local", "istio-system/*", "platform/auth.platform.svc.cluster.local"}
}

// soundWorkloads are one whose HorizontalPodAutoscaler is taken over, and one
// whose own ScaledObject is given an event.
func soundWorkloads() []plan.Workload {
	return []plan.Workload{
		{
			Namespace: "platform", Name: "ledger", Kind: "StatefulSet", Labels: map[string]string{"app": "ledger"},
			Spread: []plan.Spread{{TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "ScheduleAnyway", MaxSkew: 1}},
			Scaling: &plan.Scaling{Name: "ledger-scaler", Extends: true, Min: 3, Max: 9, Triggers: []plan.Trigger{{
				Name: "event_weekday_lunch", Event: "weekday-lunch", Replicas: 6,
				Start: "25 11 * * 1,2,3,4,5", End: "30 13 * * 1,2,3,4,5", TimeZone: "Asia/Seoul",
			}}},
		},
		{
			Namespace: "shop", Name: "cart", Kind: "Deployment", Container: "app", Labels: map[string]string{"app": "cart"},
			Spread: []plan.Spread{
				{TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "DoNotSchedule", MaxSkew: 1},
				{TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway", MaxSkew: 1},
			},
			Scaling: &plan.Scaling{
				Name: "cart", HPA: "cart", Min: 6, Max: 60, CPUUtilization: 60, Fallback: 20,
				Triggers: []plan.Trigger{{
					Name: "event_big_sale", Event: "big-sale", Replicas: 20, Threshold: 1,
					Query: "vector(20 * (time() >= bool 1797666900) * (time() < bool 1797681600))",
				}},
			},
		},
	}
}

// soundObjects are the objects of testdata/clean, read anew.
func soundObjects(t testing.TB) []manifests.Object {
	t.Helper()
	paths, err := filepath.Glob("testdata/clean/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var objects []manifests.Object
	for _, path := range paths {
		for _, object := range documents(t, path) {
			objects = append(objects, manifests.Object{File: filepath.Base(path), Object: object})
		}
	}
	return objects
}

func nameOf(o manifests.Object) any { return o.Object["metadata"].(map[string]any)["name"] }

func documents(t testing.TB, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []map[string]any
	for d := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		var object map[string]any
		if err := d.Decode(&object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, object)
	}
}

func TestSoundObjectsAreDeniedNothing(t *testing.T) {
	found, err := Check(context.Background(), soundPlan(), soundObjects(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func TestAViolationStandsAtItsDecisionOrItsFile(t *testing.T) {
	objects := soundObjects(t)
	for i, o := range objects {
		if o.Object["kind"] == "ScaledObject" && nameOf(o) == "istiod" {
			objects[i].Object = merged(o.Object, map[string]any{"spec": map[string]any{"maxReplicaCount": 5}}).(map[string]any)
		}
	}
	found, err := Check(context.Background(), soundPlan(), objects)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]diag.Finding{}
	for _, f := range found {
		at[f.ID] = f
	}
	bound, clamped := at["keda/planned-bounds"], at["keda/max-covers-triggers"]
	if got, want := bound.Pos, (diag.Pos{File: "profile.yaml", Line: 14, Column: 3}); got != want {
		t.Errorf("a violation of a decision stands at %v, want %v", got, want)
	}
	if got, want := clamped.Pos, (diag.Pos{File: "scaledobject.yaml"}); got != want {
		t.Errorf("a violation by an object stands at %v, want %v", got, want)
	}
	if bound.Severity != diag.Error || !strings.HasPrefix(bound.Hint, "let no overlay patch") {
		t.Errorf("severity %q and hint %q, want those of the METADATA", bound.Severity, bound.Hint)
	}
}

func TestWhatIsNotThereStandsAtTheTopOfTheProfile(t *testing.T) {
	found, err := Check(context.Background(), soundPlan(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := diag.Pos{File: "profile.yaml", Line: 1, Column: 1}
	at := map[string]diag.Pos{}
	for _, f := range found {
		at[f.ID] = f.Pos
	}
	if got := at["istiod/planned-deployment"]; got != want {
		t.Errorf("no istiod stands at %v, want %v", got, want)
	}
	want.Line, want.Column = 22, 3
	if got := at["service/planned-route"]; got != want {
		t.Errorf("the last Service whose route is planned stands at %v, want %v", got, want)
	}
}

func TestInputThatPoliciesCannotReadIsAnError(t *testing.T) {
	sound := soundObjects(t)
	for name, check := range map[string]func() error{
		"no plan": func() error {
			_, err := Check(context.Background(), nil, sound)
			return err
		},
		"a plan without its decisions": func() error {
			p := soundPlan()
			p.Decisions = nil
			_, err := Check(context.Background(), p, sound)
			return err
		},
		"a plan without a namespace": func() error {
			p := soundPlan()
			p.Istiod.Namespace = ""
			_, err := Check(context.Background(), p, sound)
			return err
		},
		"an object without a kind": func() error {
			object := map[string]any{"apiVersion": "v1", "metadata": map[string]any{"name": "x"}}
			_, _, err := CheckManifests(context.Background(), []manifests.Object{{File: "x.yaml", Object: object}})
			return err
		},
		"an object without a file": func() error {
			_, _, err := CheckManifests(context.Background(), []manifests.Object{{Object: sound[0].Object}})
			return err
		},
		"nothing where an object should be": func() error {
			_, _, err := CheckManifests(context.Background(), []manifests.Object{{File: "x.yaml"}})
			return err
		},
	} {
		if err := check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestManifestsAreJudgedWithoutAPlan(t *testing.T) {
	objects := soundObjects(t)
	found, leftOut, err := CheckManifests(context.Background(), objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("sound manifests: %v", found)
	}
	needing := 0
	for _, p := range mustList(t) {
		if p.needsPlan() {
			needing++
		}
	}
	if leftOut != needing || leftOut == 0 {
		t.Errorf("left out %d policies, want %d", leftOut, needing)
	}
	found, _, err = CheckManifests(context.Background(), objects[:1])
	if err != nil {
		t.Fatal(err)
	}
	if ids := idsOf(found); !strings.Contains(ids, "keda/one-autoscaler") || !strings.Contains(ids, "pdb/one-budget") {
		t.Errorf("a Deployment alone is denied %s", ids)
	}
}

// Objects may have types where no policy expects them, for the API server has
// not seen them yet: a policy may deny that, and must not fail.
func TestObjectsOfTheWrongShapeAreNoFailure(t *testing.T) {
	sound := soundObjects(t)
	for i, o := range sound {
		for _, path := range paths(o.Object, nil) {
			switch strings.Join(path, ".") {
			case "apiVersion", "kind", "metadata", "metadata.name":
				continue // refused by the validation of the input
			}
			for _, odd := range []any{nil, "text", 1.5, true, []any{nil, 1.0, "x"}, map[string]any{"name": 1.0}} {
				if _, err := Check(context.Background(), soundPlan(), with(sound, i, replaced(o.Object, path, odd))); err != nil {
					t.Errorf("%s with %v at %v: %v", o.Object["kind"], odd, path, err)
				}
			}
		}
	}
}

func TestAnEngineIsSharedByMany(t *testing.T) {
	objects := soundObjects(t)
	done := make(chan error)
	for range 8 {
		go func() {
			found, err := Check(context.Background(), soundPlan(), objects)
			if err == nil && len(found) > 0 {
				err = errors.New(found[0].String())
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func idsOf(l diag.List) string {
	var ids []string
	for _, f := range l {
		ids = append(ids, f.ID)
	}
	return strings.Join(ids, " ")
}

// Bases that carry no namespace are built without one; the plan's objects are
// found in the folder of theirs.
func TestObjectsOfBasesWithoutANamespaceAreOfTheirFolder(t *testing.T) {
	p := soundPlan()
	p.Bases.Namespaced = false
	objects := soundObjects(t)
	for i, o := range objects {
		metadata := o.Object["metadata"].(map[string]any)
		if namespace := metadata["namespace"]; o.Object["kind"] != "Sidecar" && namespace != "istio-system" {
			objects[i].File = "bigsale/workloads/" + namespace.(string) + "/" + o.File
			delete(metadata, "namespace")
		}
	}
	found, err := Check(context.Background(), p, objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("found in their folders: %v", found)
	}
	p.Bases.Namespaced = true
	if found, err = Check(context.Background(), p, objects); err != nil {
		t.Fatal(err)
	}
	if ids := idsOf(found); !strings.Contains(ids, "service/planned-route") || !strings.Contains(ids, "workload/planned-spread") {
		t.Errorf("objects without the namespace that their bases have are denied %s", ids)
	}
}

func TestAFindingNamesItsObjectAndTheLineOfIt(t *testing.T) {
	objects := []manifests.Object{{File: "all.yaml", Line: 12, Object: map[string]any{
		"apiVersion": "networking.istio.io/v1", "kind": "Sidecar",
		"metadata": map[string]any{"generateName": "team-", "namespace": "shop"},
		"spec":     map[string]any{"egress": []any{map[string]any{"hosts": []any{"istio-system/*", "~/*"}}}},
	}}}
	found, _, err := CheckManifests(context.Background(), objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("found %v, want one", found)
	}
	got := found[0]
	want := diag.Pos{File: "all.yaml", Line: 12, Column: 1}
	if got.Pos != want || !strings.HasPrefix(got.Message, "Sidecar/shop/team-: egress host ~/*") {
		t.Errorf("found %v at %v, want it at %v", got.Message, got.Pos, want)
	}
}
