package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// localMesh is a mesh of three zones with one Service that all of S1 to S9 hold
// for: 8 pods are guaranteed in each zone, F = 24·0.34/8 = 1.02 and, with a pod
// less, 23·0.34/7 = 1.117.
func localMesh(bend func(*profile.Spec, *profile.Service)) *profile.Profile {
	return meshOf(func(p *profile.Profile) {
		s := &p.Spec
		s.Kubernetes = profile.Kubernetes{Version: "1.34", Rebalancer: "descheduler"}
		s.Istio.Version, s.Istiod.MemoryModel.IstioVersion = "1.29", "1.29"
		s.Mesh.ZoneRouting = profile.ZoneRouting{
			MaxUtilization: decimal("0.75"), MaxOverload: decimal("1.25"), PodsLost: 1, TargetUtilization: decimal("0.60"),
		}
		for i := range s.Zones {
			s.Zones[i].NodePools[0].AllocatableCPU = *quantity("4")
		}
		s.Services = []profile.Service{{
			Name: "cart", Namespace: "shop",
			Workload:  &profile.Workload{Kind: "Deployment", Name: "cart", Labels: map[string]string{"app": "cart"}},
			Replicas:  profile.Replicas{Min: 24, Max: 60},
			Endpoints: map[string]int64{"a": 8, "b": 8, "c": 8},
			Clients:   map[string]profile.Decimal{"a": decimal("0.34"), "b": decimal("0.33"), "c": decimal("0.33")},
			Capacity:  &profile.Capacity{PerEndpoint: decimal("100"), Peak: decimal("500"), Unit: "requests"},
			Routing:   profile.Routing{InternalTrafficPolicy: "Cluster", Callers: "mesh"},
		}}
		if bend != nil {
			bend(s, &s.Services[0])
		}
	})
}

func cartRoute(t *testing.T, bend func(*profile.Spec, *profile.Service)) (*Plan, Decision) {
	t.Helper()
	pl := build(t, localMesh(bend))
	d, ok := pl.Decision("service/shop/cart.trafficDistribution")
	if !ok {
		t.Fatalf("no decision: %v", pl.Findings)
	}
	if _, err := Explain(d); err != nil {
		t.Fatal(err)
	}
	return pl, d
}

func shown(d Decision, names ...string) map[string]string {
	got := map[string]string{}
	for _, name := range names {
		if t, ok := find(d.Terms, name); ok {
			got[name] = t.Short()
		}
	}
	return got
}

// Every case but the first breaks one rule; without callers, what they share
// cannot be said either.
func TestEachRuleAlone(t *testing.T) {
	for name, c := range map[string]struct {
		bend             func(*profile.Spec, *profile.Service)
		failed, unproven string
		says             string // of the first of them
	}{
		"all hold": {nil, "none", "none", ""},
		"S1: no callers": {
			func(_ *profile.Spec, s *profile.Service) { s.Clients = nil },
			"none", "S1", "nothing says in which zones the callers are",
		},
		"S2: no workload": {
			func(_ *profile.Spec, s *profile.Service) { s.Workload = nil },
			"none", "S2", "names no workload",
		},
		"S2: no labels": {
			func(_ *profile.Spec, s *profile.Service) { s.Workload.Labels = nil },
			"none", "S2", "workload cart has no labels",
		},
		"S3: a zone with callers has one pod": {
			func(s *profile.Spec, c *profile.Service) {
				c.Replicas.Min, c.Endpoints = 17, map[string]int64{"a": 8, "b": 8, "c": 1}
				c.Clients = map[string]profile.Decimal{"a": decimal("0.47"), "b": decimal("0.47"), "c": decimal("0.06")}
				s.Mesh.ZoneRouting.MaxOverload = decimal("2") // 16·0.47/4 = 1.88
				s.Mesh.ZoneRouting.TargetUtilization, c.Capacity.Peak = decimal("0.3"), decimal("100")
			},
			"S3", "none", "1 pod now in c, which needs 2",
		},
		"S4: a zone does not carry its callers with pods lost": {
			func(s *profile.Spec, c *profile.Service) { // 7 + ⌈0.34·500/75⌉ = 10
				s.Mesh.ZoneRouting.PodsLost, s.Mesh.ZoneRouting.MaxOverload = 7, decimal("10")
				s.Mesh.ZoneRouting.TargetUtilization = decimal("0.1")
			},
			"S4", "none", "a at rest has 8 endpoints, and 34 % of the peak of 500 needs 10 with 7 pods lost",
		},
		"S4 and S8: no capacity": {
			func(_ *profile.Spec, s *profile.Service) { s.Capacity = nil },
			"none", "S4, S8", "needs to know what an endpoint can do",
		},
		"S5: the autoscaler waits too long": {
			func(_ *profile.Spec, s *profile.Service) {
				seventy := int64(70)
				s.Autoscaling.CPUUtilization = &seventy // 0.7·1.117 = 0.782
			},
			"S5", "none", "at a mean of 70 % the fullest endpoint is used to 78.2 %, of 75 %",
		},
		"S6: more than is allowed on one endpoint": {
			func(s *profile.Spec, _ *profile.Service) { s.Mesh.ZoneRouting.MaxOverload = decimal("1.11") },
			"S6", "none", "carries 1.12 × the mean (now, pods lost in a), of 1.11, and 0 endpoints are stranded",
		},
		"S7: calls never leave their node": {
			func(_ *profile.Spec, s *profile.Service) { s.Routing.InternalTrafficPolicy = "Local" },
			"none", "S7", "internalTrafficPolicy Local",
		},
		"S8: the loss of a zone": {
			func(_ *profile.Spec, s *profile.Service) { s.Capacity.Peak = decimal("1000") }, // 0.67·1000/800
			"S8", "none", "at rest: without b, its callers in a, the fullest endpoint is used to 83.8 %, of 75 %",
		},
		"S9: nothing moves pods back": {
			func(s *profile.Spec, _ *profile.Service) { s.Kubernetes.Rebalancer = "none" },
			"none", "S9", "scaling in from 60 to 24 takes pods of any zone",
		},
		"fixed replicas need no rebalancer": {
			func(s *profile.Spec, c *profile.Service) { s.Kubernetes.Rebalancer, c.Replicas.Max = "none", 24 },
			"none", "none", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl, d := cartRoute(t, c.bend)
			if diff := cmp.Diff(map[string]string{"failed": c.failed, "unproven": c.unproven}, shown(d, "failed", "unproven")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if all := c.failed == "none" && c.unproven == "none"; all != (d.Value == "PreferSameZone") || all != (len(pl.Routes) == 1) {
				t.Errorf("value %v with routes %v", d.Value, pl.Routes)
			}
			if !strings.Contains(d.Reason, c.says) {
				t.Errorf("reason %q does not say %q", d.Reason, c.says)
			}
		})
	}
}

func TestWorkedNumbersOfALocalService(t *testing.T) {
	_, d := cartRoute(t, nil)
	want := map[string]string{
		"N": "24 endpoints", "crossZoneNone": "0.6667 of the calls", "FNow": "1.02 × the mean", "strandedNow": "0 endpoints",
		"crossZoneNow": "0 of the calls", "m": "8 pods", "FWorst": "1.117 × the mean", "need": "4 endpoints",
		"fullestUse": "0.6703", "useAfterLoss": "0.4188", "worst": "now, pods lost in a",
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, shown(d, names...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What runs today stays unless a number fails, and becomes what the versions know.
func TestWhatRuns(t *testing.T) {
	runs := func(field, mode string, bend func(*profile.Spec, *profile.Service)) func(*profile.Spec, *profile.Service) {
		return func(s *profile.Spec, c *profile.Service) {
			c.Routing.TrafficDistribution, c.Routing.TopologyMode = field, mode
			if bend != nil {
				bend(s, c)
			}
		}
	}
	noRebalancer := func(s *profile.Spec, _ *profile.Service) { s.Kubernetes.Rebalancer = "none" }
	overloaded := func(s *profile.Spec, _ *profile.Service) { s.Mesh.ZoneRouting.MaxOverload = decimal("1.1") }
	for name, c := range map[string]struct {
		bend     func(*profile.Spec, *profile.Service)
		value    any
		route    bool
		verdict  Verdict
		findings []string
	}{
		"nothing, and all holds":                 {runs("", "", nil), "PreferSameZone", true, "", nil},
		"nothing, and one rule is not proven":    {runs("", "", noRebalancer), nil, false, "", nil},
		"nothing, and a number fails":            {runs("", "", overloaded), nil, false, "", nil},
		"an annotation that is off":              {runs("", "Disabled", noRebalancer), nil, false, "", nil},
		"the field as planned":                   {runs("PreferSameZone", "", nil), "PreferSameZone", true, Same, nil},
		"the field under its older name":         {runs("PreferClose", "", nil), "PreferSameZone", true, Safe, nil},
		"the field by node":                      {runs("PreferSameNode", "", nil), "PreferSameZone", true, Safe, nil},
		"the field beside an annotation of none": {runs("PreferClose", "disabled", nil), "PreferSameZone", true, Safe, nil},
		"the field, not proven":                  {runs("PreferClose", "", noRebalancer), "PreferClose", false, Same, []string{"plan/zone-routing-unproven"}},
		"the field, in versions that lack it": {
			runs("PreferClose", "", func(s *profile.Spec, _ *profile.Service) { s.Kubernetes.Version = "1.30" }),
			"PreferClose", false, Same,
			[]string{"plan/zone-routing-unproven"},
		},
		"the field, and a number fails": {runs("PreferSameZone", "", overloaded), nil, true, Unsafe, []string{"plan/running-unsafe"}},
		"the field, and a zone that may lose no pods": {
			runs("PreferSameZone", "", func(s *profile.Spec, _ *profile.Service) {
				s.Mesh.ZoneRouting.PodsLost, s.Mesh.ZoneRouting.MaxOverload = 7, decimal("10")
				s.Mesh.ZoneRouting.TargetUtilization = decimal("0.1")
			}),
			"PreferSameZone", false, Same,
			[]string{"plan/zone-routing-unproven"},
		},
		"the annotation, which is even":                      {runs("", "Auto", noRebalancer), nil, true, Safe, []string{"plan/topology-hints"}},
		"the annotation, and all holds":                      {runs("", "auto", nil), "PreferSameZone", true, Safe, []string{"plan/topology-hints"}},
		"the annotation over a field that would be safe":     {runs("PreferClose", "Auto", nil), "PreferSameZone", true, Safe, []string{"plan/topology-hints"}},
		"the annotation over a field that is not proven":     {runs("PreferClose", "Auto", noRebalancer), nil, true, Safe, []string{"plan/topology-hints"}},
		"the annotation, and nobody knows the callers":       {runs("", "Auto", func(_ *profile.Spec, c *profile.Service) { c.Clients = nil }), nil, true, Unsafe, []string{"plan/topology-hints"}},
		"the annotation on more endpoints than are computed": {runs("", "Auto", func(_ *profile.Spec, c *profile.Service) { c.Endpoints["a"] = 20000 }), nil, true, Unsafe, []string{"plan/topology-hints"}},
	} {
		t.Run(name, func(t *testing.T) {
			pl, d := cartRoute(t, c.bend)
			if d.Value != c.value {
				t.Errorf("value %v, want %v: %s", d.Value, c.value, d.Reason)
			}
			if c.route != (len(pl.Routes) == 1) || c.route && c.value != nil && pl.Routes[0].TrafficDistribution != c.value {
				t.Errorf("routes %+v", pl.Routes)
			}
			verdict := Verdict("")
			if d.Running != nil {
				verdict = d.Running.Verdict
			}
			var ids []string
			for _, f := range pl.Findings {
				ids = append(ids, f.ID)
			}
			if verdict != c.verdict || !slices.Equal(ids, c.findings) {
				t.Errorf("runs %q with %v, want %q with %v", verdict, pl.Findings, c.verdict, c.findings)
			}
		})
	}
}

// A field that an annotation has kept from taking effect is no margin that the
// cluster has: it goes unless all is proven.
func TestAMaskedFieldIsSaid(t *testing.T) {
	pl, d := cartRoute(t, func(s *profile.Spec, c *profile.Service) {
		c.Routing = profile.Routing{TopologyMode: "Auto", TrafficDistribution: "PreferClose", Callers: "mesh"}
		s.Kubernetes.Rebalancer = "none"
	})
	if !strings.Contains(d.Reason, "trafficDistribution PreferClose, which would take effect without the annotation, goes with it") {
		t.Errorf("reason %q", d.Reason)
	}
	if !strings.Contains(pl.Findings[0].Hint, "PreferClose has had no effect beside the annotation") {
		t.Errorf("hint %q", pl.Findings[0].Hint)
	}
}

// Two of four pods are lent to the callers' zone, the other two nobody calls.
// Hints are even at any count of nodes near, and a quarter of the CPU would make
// it one of four.
func TestHintsOfTheIncident(t *testing.T) {
	two := func(s *profile.Spec, c *profile.Service) {
		s.Zones = s.Zones[:2]
		c.Replicas, c.Endpoints = profile.Replicas{Min: 4, Max: 4}, map[string]int64{"b": 4}
		c.Clients = map[string]profile.Decimal{"a": decimal("1")}
		c.Routing.TopologyMode = "Auto"
	}
	names := []string{"hints", "FTAR", "strandedTAR", "crossZoneTAR", "worstTAR", "FTARWorst", "strandedTARWorst", "split", "FSplit", "strandedSplit"}
	for name, c := range map[string]struct {
		bend func(*profile.Spec, *profile.Service)
		want map[string]string
		says string
	}{
		"as it was": {two, map[string]string{
			"hints": "2/2", "FTAR": "2 × the mean", "strandedTAR": "2 endpoints", "crossZoneTAR": "1 of the calls",
			"worstTAR": "now, hints 2/2", "FTARWorst": "2 × the mean", "strandedTARWorst": "2 endpoints",
			"split": "25 % of the CPU in a, hints 1/3 (a nearest split, not a reachable state)", "FSplit": "4 × the mean", "strandedSplit": "3 endpoints",
		}, "2 × the mean and 2 endpoints are stranded; at 25 % of the CPU in a it would be 4 × and 3"},
		"off now, and on with a node less": {
			func(s *profile.Spec, c *profile.Service) { // 8 of 13 nodes are 0.615; 7 of 12 are 0.583
				two(s, c)
				s.Zones[0].NodePools[0].Nodes.Now, s.Zones[1].NodePools[0].Nodes.Now = 8, 5
			},
			map[string]string{
				"hints": "off: Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 2 zones)",
				"FTAR":  "1 × the mean", "strandedTAR": "0 endpoints",
				"worstTAR": "a node of pool general less in a, hints 2/2", "FTARWorst": "2 × the mean", "strandedTARWorst": "2 endpoints",
				"split": "50 % of the CPU in a, hints 2/2 (a nearest split, not a reachable state)", "FSplit": "2 × the mean", "strandedSplit": "2 endpoints",
			},
			"gives no hints now: Unable to allocate",
		},
		"a tainted pool counts": {
			func(s *profile.Spec, c *profile.Service) {
				two(s, c)
				s.Zones[1].NodePools = append(s.Zones[1].NodePools, profile.NodePool{
					Name: "gpu", Nodes: profile.Nodes{Now: 5, Max: 5}, AllocatableCPU: *quantity("16"),
					Taints: []profile.Taint{{Key: "gpu", Effect: "NoSchedule"}},
				})
			},
			map[string]string{
				"hints": "1/3", "FTAR": "4 × the mean", "strandedTAR": "3 endpoints", "crossZoneTAR": "1 of the calls",
				"worstTAR": "now, hints 1/3", "FTARWorst": "4 × the mean", "strandedTARWorst": "3 endpoints",
				"split": "50 % of the CPU in a, hints 2/2 (a nearest split, not a reachable state)", "FSplit": "2 × the mean", "strandedSplit": "2 endpoints",
			},
			"4 × the mean and 3 endpoints are stranded",
		},
		"nobody knows the callers": {
			func(s *profile.Spec, c *profile.Service) { two(s, c); c.Clients = nil },
			map[string]string{"hints": "2/2"},
			"the endpoints 0/4 as 2/2 for a/b, and nothing says where the callers are",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl, d := cartRoute(t, c.bend)
			if diff := cmp.Diff(c.want, shown(d, names...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			at := slices.IndexFunc(pl.Findings, func(f diag.Finding) bool { return f.ID == "plan/topology-hints" })
			if at < 0 || !strings.Contains(pl.Findings[at].Message, c.says) {
				t.Errorf("findings %v do not say %q", pl.Findings, c.says)
			}
			if d.Running.Verdict != Unsafe || d.Running.Value != "topology-mode: Auto" {
				t.Errorf("runs %v, %s", d.Running.Value, d.Running.Verdict)
			}
		})
	}
}

// 5, 4, 0 and 0 endpoints on four like zones come to one of two allocations: the
// worse one for the callers counts.
func TestTheWorstOfTheTiesCounts(t *testing.T) {
	_, d := cartRoute(t, func(s *profile.Spec, c *profile.Service) {
		fourth := s.Zones[2]
		fourth.Name = "d"
		s.Zones = append(s.Zones, fourth)
		c.Replicas, c.Endpoints = profile.Replicas{Min: 9, Max: 9}, map[string]int64{"a": 5, "b": 4}
		c.Clients = map[string]profile.Decimal{"a": decimal("0.4"), "b": decimal("0.2"), "c": decimal("0.2"), "d": decimal("0.2")}
		c.Routing.TopologyMode = "Auto"
	})
	want := map[string]string{"hints": "2/3/2/2, the worst of 2 that are possible", "FTAR": "1.8 × the mean"} // 9·0.4/2
	if diff := cmp.Diff(want, shown(d, "hints", "FTAR")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Events count with the pods that are guaranteed then: those that meshgen
// scales to, or the least where nobody does.
func TestEventsOfALocalService(t *testing.T) {
	sale := func(managedBy string) func(*profile.Spec, *profile.Service) {
		return func(s *profile.Spec, c *profile.Service) {
			s.Events = []profile.Event{dated("sale", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "1.5")}
			c.Events = map[string]profile.ServiceEvent{"sale": {Multiplier: decimal("2")}}
			c.Autoscaling.ManagedBy, c.Replicas.Max = managedBy, 100
		}
	}
	for name, c := range map[string]struct {
		managedBy, failed string
		want              map[string]string
	}{
		// 24·2 = 48 pods, 16 a zone; 0.67·1000/1600. At rest needs 4 of 8, the sale 6 of 16.
		"scaled by meshgen": {"meshgen", "none", map[string]string{"loadTight": "500 requests", "nTight": "8 endpoints", "loadLoss": "500 requests", "useAfterLoss": "0.4188"}},
		// 8 a zone at twice the peak; 1 + ⌈0.34·1000/75⌉ = 6; 0.67·1000/800.
		"scaled by nobody": {"none", "S8", map[string]string{"loadTight": "1,000 requests", "nTight": "8 endpoints", "loadLoss": "1,000 requests", "useAfterLoss": "0.8375"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, d := cartRoute(t, sale(c.managedBy))
			if diff := cmp.Diff(c.want, shown(d, "loadTight", "nTight", "loadLoss", "useAfterLoss")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := shown(d, "failed")["failed"]; got != c.failed {
				t.Errorf("failed %s, want %s", got, c.failed)
			}
		})
	}
}

func TestTheValueThatEveryCallerReads(t *testing.T) {
	for kubernetes := 29; kubernetes <= 37; kubernetes++ {
		for istio := 22; istio <= 32; istio++ {
			byKubernetes := ""
			switch {
			case kubernetes >= 34:
				byKubernetes = "PreferSameZone"
			case kubernetes >= 31:
				byKubernetes = "PreferClose"
			}
			bySidecars := byKubernetes
			switch {
			case istio < 25:
				bySidecars = ""
			case istio < 27 && byKubernetes != "":
				bySidecars = "PreferClose"
			}
			for callers, want := range map[string]string{"kube-proxy": byKubernetes, "mesh": bySidecars, "both": bySidecars} {
				k, i := fmt.Sprintf("1.%d", kubernetes), fmt.Sprintf("1.%d", istio)
				got, reason := fieldValue(k, i, callers)
				if got != want {
					t.Errorf("Kubernetes %s, Istio %s, callers %s: %q, want %q", k, i, callers, got, want)
				}
				if !strings.Contains(reason, k) && !strings.Contains(reason, i) {
					t.Errorf("Kubernetes %s, Istio %s, callers %s: %q names no version", k, i, callers, reason)
				}
			}
		}
	}
}

// Whatever a profile says, every decision can be explained, a field is added
// only where all rules hold, and one that runs goes only where F, stranded
// endpoints or the loss of a zone fails.
func TestRandomServices(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	fields := []string{"", "", "PreferClose", "PreferSameZone"}
	added := 0
	for range 600 {
		runs, mode := fields[r.IntN(4)], []string{"", "", "Auto"}[r.IntN(3)]
		_, d := cartRoute(t, func(s *profile.Spec, c *profile.Service) {
			for z := range s.Zones {
				s.Zones[z].NodePools[0].Nodes.Now = r.Int64N(4)
			}
			s.Zones[r.IntN(3)].NodePools[0].Nodes.Now = 1 + r.Int64N(3)
			s.Istiod.Survive = profile.Survive{Mode: "pod"}
			c.Replicas.Min = r.Int64N(40)
			c.Endpoints = map[string]int64{"a": r.Int64N(9), "b": r.Int64N(9), "c": r.Int64N(9)}
			if r.IntN(5) > 0 {
				c.Endpoints = map[string]int64{"a": 8, "b": 8, "c": 8}
			}
			first := r.IntN(100)
			c.Clients = map[string]profile.Decimal{"a": decimal(fmt.Sprintf("0.%02d", first)), "b": decimal(fmt.Sprintf("0.%02d", 99-first)), "c": decimal("0.01")}
			if r.IntN(2) == 0 {
				c.Clients = map[string]profile.Decimal{"a": decimal("0.34"), "b": decimal("0.33"), "c": decimal("0.33")}
			}
			c.Capacity.Peak = decimal(fmt.Sprint(r.IntN(2000)))
			c.Routing.TrafficDistribution, c.Routing.TopologyMode = runs, mode
		})
		got := shown(d, "failed", "unproven")
		sound := got["failed"] == "none" && got["unproven"] == "none"
		harmful := strings.Contains(got["failed"], "S6") || strings.Contains(got["failed"], "S8")
		switch {
		case d.Value != nil && !sound && (runs == "" || mode == "Auto" || harmful):
			t.Fatalf("%v although %v", d.Value, got)
		case d.Value == nil && (sound || runs != "" && mode == "" && !harmful):
			t.Fatalf("nothing, for %v running %q, %q", got, runs, mode)
		}
		if sound {
			added++
		}
	}
	if added < 20 {
		t.Errorf("only %d of 600 Services were sound", added)
	}
}

// A field that is left as it runs is not written, and the zones are a hard
// constraint only where somebody reads it.
func TestAFieldThatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		kubernetes string
		want       string
	}{
		"read by Kubernetes and the mesh": {"1.34", "topology.kubernetes.io/zone DoNotSchedule 1"},
		"read by nobody":                  {"1.30", "topology.kubernetes.io/zone ScheduleAnyway 1"},
	} {
		t.Run(name, func(t *testing.T) {
			pl, _ := cartRoute(t, func(s *profile.Spec, service *profile.Service) {
				s.Kubernetes.Version, s.Kubernetes.Rebalancer = c.kubernetes, "none"
				service.Routing.TrafficDistribution = "PreferClose"
			})
			d, _ := pl.Decision("workload/shop/cart.topologySpreadConstraints")
			lines, _ := d.Value.([]string)
			if len(pl.Routes) > 0 || len(lines) == 0 || lines[0] != c.want {
				t.Errorf("routes %v, spread %v, want %s", pl.Routes, lines, c.want)
			}
		})
	}
}

func TestNodePreferenceGoesForAReason(t *testing.T) {
	_, d := cartRoute(t, func(_ *profile.Spec, c *profile.Service) { c.Routing.TrafficDistribution = "PreferSameNode" })
	if d.Value != "PreferSameZone" || !strings.Contains(d.Reason, "no constraint promises a pod on every node") {
		t.Errorf("%v: %s", d.Value, d.Reason)
	}
}

// An entry with an empty list of ports has no Service that could be patched.
func TestAWorkloadWithoutAServiceIsNotRouted(t *testing.T) {
	pl := build(t, localMesh(func(_ *profile.Spec, c *profile.Service) {
		c.Ports, c.Routing.TopologyMode = []profile.Port{}, "Auto"
	}))
	if d, decided := pl.Decision("service/shop/cart.trafficDistribution"); decided || len(pl.Routes) > 0 {
		t.Errorf("decided %v, routes %v", d.Value, pl.Routes)
	}
}
