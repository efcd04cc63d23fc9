package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/profile"
)

const cartSpread = "workload/shop/cart.topologySpreadConstraints"

func keeps(constraints ...profile.SpreadConstraint) func(*profile.Spec, *profile.Service) {
	return func(s *profile.Spec, c *profile.Service) {
		s.Kubernetes.Rebalancer = "none" // the field is not added: our zone constraint is soft
		c.Workload.TopologySpreadConstraints = constraints
	}
}

func TestSpread(t *testing.T) {
	const rack = "example.com/rack"
	for name, c := range map[string]struct {
		bend func(*profile.Spec, *profile.Service)
		want any
	}{
		"hard where calls stay in their zone": {nil, []string{"topology.kubernetes.io/zone DoNotSchedule 1", "kubernetes.io/hostname ScheduleAnyway 1"}},
		"soft where they do not":              {keeps(), []string{"topology.kubernetes.io/zone ScheduleAnyway 1", "kubernetes.io/hostname ScheduleAnyway 1"}},
		"hard where the field stays unproven": {
			func(s *profile.Spec, c *profile.Service) {
				s.Kubernetes.Rebalancer, c.Routing.TrafficDistribution = "none", "PreferClose"
			},
			[]string{"topology.kubernetes.io/zone DoNotSchedule 1", "kubernetes.io/hostname ScheduleAnyway 1"},
		},
		"a hard one of theirs replaces our soft one": {
			keeps(profile.SpreadConstraint{TopologyKey: zoneKey, WhenUnsatisfiable: hard, MaxSkew: 3}),
			[]string{"topology.kubernetes.io/zone DoNotSchedule 3", "kubernetes.io/hostname ScheduleAnyway 1"},
		},
		"a looser soft one of theirs does not": {
			keeps(profile.SpreadConstraint{TopologyKey: hostKey, WhenUnsatisfiable: soft, MaxSkew: 2}),
			[]string{"topology.kubernetes.io/zone ScheduleAnyway 1", "kubernetes.io/hostname ScheduleAnyway 1"},
		},
		"our hard one stays over a looser hard one": {
			func(_ *profile.Spec, c *profile.Service) {
				c.Workload.TopologySpreadConstraints = []profile.SpreadConstraint{{TopologyKey: zoneKey, WhenUnsatisfiable: hard, MaxSkew: 2}}
			},
			[]string{"topology.kubernetes.io/zone DoNotSchedule 1", "kubernetes.io/hostname ScheduleAnyway 1"},
		},
		"both of theirs stay where one is hard": {
			keeps(profile.SpreadConstraint{TopologyKey: zoneKey, WhenUnsatisfiable: soft, MaxSkew: 1}, profile.SpreadConstraint{TopologyKey: zoneKey, WhenUnsatisfiable: hard, MaxSkew: 4}),
			[]string{"topology.kubernetes.io/zone ScheduleAnyway 1", "topology.kubernetes.io/zone DoNotSchedule 4", "kubernetes.io/hostname ScheduleAnyway 1"},
		},
		"another key is appended, the tighter of two alike": {
			keeps(profile.SpreadConstraint{TopologyKey: rack, WhenUnsatisfiable: hard, MaxSkew: 5}, profile.SpreadConstraint{TopologyKey: rack, WhenUnsatisfiable: hard, MaxSkew: 2}),
			[]string{"topology.kubernetes.io/zone ScheduleAnyway 1", "kubernetes.io/hostname ScheduleAnyway 1", "example.com/rack DoNotSchedule 2"},
		},
		"nothing without labels": {func(_ *profile.Spec, c *profile.Service) { c.Workload.Labels = nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pl, _ := cartRoute(t, c.bend)
			d, ok := pl.Decision(cartSpread)
			if !ok {
				t.Fatal("no decision")
			}
			if diff := cmp.Diff(c.want, d.Value); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if written := len(pl.Workloads) == 1; written != (c.want != nil) || written && (len(pl.Workloads[0].Spread) != len(c.want.([]string)) || pl.Workloads[0].SpreadReason != d.Reason) {
				t.Errorf("workloads %+v", pl.Workloads)
			}
			if _, err := Explain(d); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNothingToSpread(t *testing.T) {
	for name, bend := range map[string]func(*profile.Spec, *profile.Service){
		"one replica": func(_ *profile.Spec, c *profile.Service) { c.Replicas = profile.Replicas{Min: 1, Max: 1} },
		"one zone": func(s *profile.Spec, _ *profile.Service) {
			s.Zones, s.Istiod.Survive = s.Zones[:1], profile.Survive{Mode: "pod"}
		},
		"no workload": func(_ *profile.Spec, c *profile.Service) { c.Workload = nil },
	} {
		t.Run(name, func(t *testing.T) {
			pl, _ := cartRoute(t, bend)
			if d, ok := pl.Decision(cartSpread); ok || len(pl.Workloads) > 0 {
				t.Errorf("%v with workloads %v", d.Value, pl.Workloads)
			}
		})
	}
}

// One Service of several in front of a workload is enough to rely on the zones,
// and workloads without labels are one finding.
func TestServicesOfOneWorkload(t *testing.T) {
	pl, _ := cartRoute(t, func(s *profile.Spec, c *profile.Service) {
		second := *c
		second.Name, second.Clients = "another", nil
		s.Services = []profile.Service{second, *c}
		for _, name := range []string{"x", "y", "z"} {
			bare := second
			bare.Name, bare.Workload = name, &profile.Workload{Kind: "Deployment", Name: name}
			s.Services = append(s.Services, bare)
		}
	})
	d, _ := pl.Decision(cartSpread)
	if diff := cmp.Diff([]string{"topology.kubernetes.io/zone DoNotSchedule 1", "kubernetes.io/hostname ScheduleAnyway 1"}, d.Value); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var found []string
	for _, f := range pl.Findings {
		found = append(found, fmt.Sprintf("%s %s: %s", f.Severity, f.ID, f.Message))
	}
	want := []string{"warning plan/spread-without-labels: 3 workloads are without labels: their pods are not spread over zones and hosts, and nothing guarantees where they stand (the first is shop/x)"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// schedulable are the zones into which the scheduler places one pod more: those
// whose count stays within the skew of the emptiest, which is 0 while there are
// fewer zones than minDomains.
func schedulable(skew, minDomains int64, domains map[string]int64) []string {
	least := slices.Min(slices.Collect(maps.Values(domains)))
	if int64(len(domains)) < minDomains {
		least = 0
	}
	zones := []string{}
	for _, zone := range slices.Sorted(maps.Keys(domains)) {
		if domains[zone]+1-least <= skew {
			zones = append(zones, zone)
		}
	}
	return zones
}

// The hard constraint that is written has no minDomains, and counts no zone
// whose nodes are tainted: when a zone is lost, its pods find a place.
func TestALostZoneBlocksNoPod(t *testing.T) {
	text, err := os.ReadFile("../hints/testdata/topology_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		TSC struct {
			Filter []struct {
				ID         string           `json:"id"`
				Skew       int64            `json:"max_skew"`
				MinDomains int64            `json:"min_domains"`
				Domains    map[string]int64 `json:"eligible_domains"`
				Zones      []string         `json:"schedulable_zones"`
			} `json:"filter_cases"`
		}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.TSC.Filter) != 8 {
		t.Fatalf("%d cases, want 8", len(v.TSC.Filter))
	}
	for _, c := range v.TSC.Filter {
		if diff := cmp.Diff(c.Zones, schedulable(c.Skew, c.MinDomains, c.Domains)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.ID, diff)
		}
	}
	pl, _ := cartRoute(t, nil)
	zone := pl.Workloads[0].Spread[0]
	if left := schedulable(zone.MaxSkew, 1, map[string]int64{"a": 8, "b": 8}); zone.WhenUnsatisfiable != hard || len(left) != 2 {
		t.Errorf("%+v places pods in %v after zone c is lost", zone, left)
	}
}
