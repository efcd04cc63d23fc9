package endpointslice_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	core "k8s.io/api/core/v1"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// The annotation of featureflag hints two pods of the wrong zone, as the plan
// says. Under the rendered patch nothing is hinted.
func TestFeatureflagLosesItsHints(t *testing.T) {
	p := cluster.ReadProfile(t, cluster.Example("featureflag"))
	s := service(t, p, "featureflag")
	c := newController(t, p)
	before := c.reconcile(t, today(s), c.pods(s))
	want := map[hint]int{{"ap-northeast-2c", "ap-northeast-2a"}: 2, {"ap-northeast-2c", "ap-northeast-2c"}: 2}
	compare(t, s, want, before)
	judge(t, p, s, cluster.Plan(t, cluster.Example("featureflag"))[subject(s)])
	after := c.reconcile(t, patched(t, today(s), rendered(t, "service-featureflag.yaml")), c.pods(s))
	compare(t, s, map[hint]int{{From: "ap-northeast-2c"}: 4}, after)
}

// The rendered patch of storefront hints each pod for its own zone, also where
// the annotation that it deletes has won. Its pods stand askew here, so that the
// annotation moves two of them.
func TestStorefrontStaysInItsZone(t *testing.T) {
	const a, c = "ap-northeast-2a", "ap-northeast-2c"
	p := cluster.ReadProfile(t, cluster.Example("featureflag"))
	s := service(t, p, "storefront")
	s.Endpoints = map[string]int{a: 2, c: 6}
	own := map[hint]int{{a, a}: 2, {c, c}: 6}
	lent := map[hint]int{{a, a}: 2, {c, a}: 2, {c, c}: 4}
	for name, runs := range map[string]struct {
		annotations map[string]string
		hints       map[hint]int
	}{
		"as it runs":                {nil, own},
		"with the annotation":       {map[string]string{core.AnnotationTopologyMode: "Auto"}, lent},
		"with the older annotation": {map[string]string{core.DeprecatedAnnotationTopologyAwareHints: "auto"}, lent},
		"with both annotations":     {map[string]string{core.AnnotationTopologyMode: "Auto", core.DeprecatedAnnotationTopologyAwareHints: "Auto"}, lent},
	} {
		t.Run(name, func(t *testing.T) {
			kubernetes := newController(t, p)
			service := today(s)
			service.Annotations = runs.annotations
			compare(t, s, runs.hints, kubernetes.reconcile(t, service, kubernetes.pods(s)))
			after := patched(t, service, rendered(t, "service-storefront.yaml"))
			compare(t, s, own, kubernetes.reconcile(t, after, kubernetes.pods(s)))
		})
	}
}

// layout is a cluster by the CPU of one node of each zone, and Services on it by
// the endpoints in each zone.
type layout struct {
	cpu      []string
	services [][]int
}

// Kubernetes' hints are those that the plan says, in layouts that make each kind
// of answer: a share for each zone, loans between zones, a zone without hints,
// none at all, and those where Kubernetes may answer in several ways.
func TestHintsAreThoseOfThePlan(t *testing.T) {
	kinds := map[string]int{}
	for name, l := range map[string]layout{
		"two equal zones":           {[]string{"8", "8"}, [][]int{{1, 1}, {2, 1}, {4, 0}, {3, 2}, {1, 6}, {6, 6}}},
		"two zones, 65 to 35":       {[]string{"6500m", "3500m"}, [][]int{{2, 2}, {7, 0}, {0, 4}, {5, 5}}},
		"two zones, 80 to 20":       {[]string{"8", "2"}, [][]int{{7, 0}, {3, 3}, {1, 1}, {2, 2}}},
		"two zones, 88 to 12":       {[]string{"8800m", "1200m"}, [][]int{{4, 0}, {3, 1}}},
		"three zones, 2 to 2 to 1":  {[]string{"8", "8", "4"}, [][]int{{4, 4, 4}, {5, 4, 0}, {3, 3, 2}, {1, 1, 1}}},
		"three equal zones":         {[]string{"4", "4", "4"}, [][]int{{7, 0, 0}, {4, 4, 3}, {2, 2, 2}, {0, 0, 6}, {14, 0, 0}, {0, 14, 0}}},
		"four zones, 4 to 2 2 to 1": {[]string{"8", "4", "4", "2"}, [][]int{{8, 0, 0, 0}, {4, 4, 4, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			path := l.write(t, func(int) map[string]any { return routing("Auto", "") })
			plan, p := cluster.Plan(t, path), cluster.ReadProfile(t, path)
			for _, s := range p.Services {
				kinds[kind(plan[subject(s)])]++
				judge(t, p, s, plan[subject(s)])
			}
		})
	}
	if diff := cmp.Diff(map[string]int{"hinted": 16, "off": 9, "tied": 3}, kinds); diff != "" {
		t.Errorf("answers by kind (-want +got):\n%s", diff)
	}
}

// kind is what kind of answer the plan has for a Service under the annotation.
func kind(d cluster.Decision) string {
	text := fmt.Sprint(d.Terms["hints"])
	switch {
	case strings.HasPrefix(text, "off: "):
		return "off"
	case strings.Contains(text, "the worst of"):
		return "tied"
	default:
		return "hinted"
	}
}

// The annotation wins over the field, also where it comes to no hints, and only
// Auto and auto count; the plan says who decides.
func TestWhoDecidesIsAsThePlanSays(t *testing.T) {
	l := layout{cpu: []string{"8", "8"}}
	var routings []map[string]any
	for _, mode := range []string{"", "Auto", "auto", "Disabled", "disabled"} {
		for _, field := range []string{"", "PreferClose", "PreferSameZone", "PreferSameNode"} {
			for _, endpoints := range [][]int{{0, 4}, {2, 1}} {
				routings = append(routings, routing(mode, field))
				l.services = append(l.services, endpoints)
			}
		}
	}
	path := l.write(t, func(i int) map[string]any { return routings[i] })
	plan, p := cluster.Plan(t, path), cluster.ReadProfile(t, path)
	deciders := map[string]int{}
	for _, s := range p.Services {
		c := newController(t, p)
		got := c.reconcile(t, today(s), c.pods(s))
		who := decider(plan[subject(s)])
		deciders[who]++
		switch who {
		case "annotation":
			judge(t, p, s, plan[subject(s)])
		case "field":
			compare(t, s, map[hint]int{{"zone-1", "zone-1"}: s.Endpoints["zone-1"], {"zone-2", "zone-2"}: s.Endpoints["zone-2"]}, got)
		default:
			compare(t, s, map[hint]int{{From: "zone-1"}: s.Endpoints["zone-1"], {From: "zone-2"}: s.Endpoints["zone-2"]}, got)
		}
	}
	if diff := cmp.Diff(map[string]int{"annotation": 16, "field": 18, "nobody": 6}, deciders); diff != "" {
		t.Errorf("who decides (-want +got):\n%s", diff)
	}
}

// judge demands of Kubernetes the hints that the plan has for a Service under
// the annotation. One of several possible answers has to come up in some draw,
// the only one in each.
func judge(t *testing.T, p cluster.Profile, s cluster.Service, planned cluster.Decision) {
	t.Helper()
	tied, draws, agreed := kind(planned) == "tied", 5, 0
	if tied {
		draws = 200
	}
	last := ""
	for range draws {
		c := newController(t, p)
		got := c.reconcile(t, today(s), c.pods(s))
		if last = disagreement(p, got, c.reason(), planned); last == "" {
			agreed++
		}
	}
	if agreed == 0 || !tied && agreed < draws {
		t.Errorf("%v: the plan says %q, and Kubernetes agrees in %d of %d draws; it %s", s.Endpoints, planned.Terms["hints"], agreed, draws, last)
	}
}

// disagreement is what Kubernetes did otherwise than planned; empty for nothing.
func disagreement(p cluster.Profile, got map[hint]int, reason string, planned cluster.Decision) string {
	text := fmt.Sprint(planned.Terms["hints"])
	if off, ok := strings.CutPrefix(text, "off: "); ok {
		for at := range got {
			if at.For != "" {
				return fmt.Sprintf("hints %v", got)
			}
		}
		if !strings.HasPrefix(reason, off) {
			return fmt.Sprintf("hints nothing because of %q", reason)
		}
		return ""
	}
	for i, zone := range p.Zones {
		hinted := 0
		for at, n := range got {
			if at.For == zone.Name {
				hinted += n
			}
		}
		own := got[hint{zone.Name, zone.Name}]
		if float64(hinted) != planned.Terms[fmt.Sprintf("h%d", i+1)] || float64(own) != planned.Terms[fmt.Sprintf("own%d", i+1)] {
			return fmt.Sprintf("hints %d for %s, %d of them there: %v", hinted, zone.Name, own, got)
		}
	}
	return ""
}

// compare demands exactly those hints; a count of 0 is none.
func compare(t *testing.T, s cluster.Service, want, got map[hint]int) {
	t.Helper()
	maps.DeleteFunc(want, func(_ hint, n int) bool { return n == 0 })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s/%s: hints (-want +got):\n%s", s.Namespace, s.Name, diff)
	}
}

// decider is what decides the hints that run, by the plan's own word.
func decider(d cluster.Decision) string {
	switch {
	case d.Running == nil:
		return "nobody"
	case strings.HasPrefix(fmt.Sprint(d.Running.Value), "topology-mode: "):
		return "annotation"
	default:
		return "field"
	}
}

func subject(s cluster.Service) string {
	return "service/" + s.Namespace + "/" + s.Name + ".trafficDistribution"
}

func service(t *testing.T, p cluster.Profile, name string) cluster.Service {
	t.Helper()
	at := slices.IndexFunc(p.Services, func(s cluster.Service) bool { return s.Name == name })
	if at < 0 {
		t.Fatalf("no Service %s", name)
	}
	return p.Services[at]
}

// rendered is a patch of a Service of featureflag.
func rendered(t *testing.T, file string) string {
	t.Helper()
	found := cluster.Rendered(t, "featureflag", "workloads/*/"+file)
	if len(found) != 1 {
		t.Fatalf("%d files %s, want one", len(found), file)
	}
	return found[0].Text
}

// routing is what a Service says of zones today; what is empty is not said.
func routing(mode, field string) map[string]any {
	said := map[string]any{}
	if mode != "" {
		said["topologyMode"] = mode
	}
	if field != "" {
		said["trafficDistribution"] = field
	}
	return said
}

// write makes a profile of the layout: featureflag's with other zones and
// Services.
func (l layout) write(t *testing.T, routing func(int) map[string]any) string {
	t.Helper()
	text, err := os.ReadFile(cluster.Example("featureflag"))
	if err != nil {
		t.Fatal(err)
	}
	var profile map[string]any
	if err := yaml.Unmarshal(text, &profile); err != nil {
		t.Fatal(err)
	}
	spec := profile["spec"].(map[string]any)
	spec["zones"], spec["services"] = l.zones(), l.entries(routing)
	if text, err = yaml.Marshal(profile); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func zone(i int) string { return fmt.Sprintf("zone-%d", i+1) }

// zones have four equal nodes each.
func (l layout) zones() []any {
	var all []any
	for i, cpu := range l.cpu {
		pool := map[string]any{"name": "general", "nodes": 4, "allocatableCPU": cpu}
		all = append(all, map[string]any{"name": zone(i), "nodePools": []any{pool}})
	}
	return all
}

// entries are the Services; all calls come from the first zone, which changes no
// hint and lets the plan say what the hints do.
func (l layout) entries(routing func(int) map[string]any) []any {
	var all []any
	for i, endpoints := range l.services {
		byZone, sum := map[string]int{}, 0
		for z, n := range endpoints {
			byZone[zone(z)] = n
			sum += n
		}
		name := fmt.Sprintf("service-%d", i)
		all = append(all, map[string]any{
			"name": name, "namespace": "platform",
			"workload":  map[string]any{"kind": "Deployment", "name": name, "labels": map[string]string{"app": name}},
			"ports":     []any{map[string]any{"number": 8080, "protocol": "HTTP"}},
			"replicas":  map[string]int{"min": sum, "max": sum},
			"endpoints": byZone, "clients": map[string]int{zone(0): 1}, "routing": routing(i), "calls": []string{},
		})
	}
	return all
}
