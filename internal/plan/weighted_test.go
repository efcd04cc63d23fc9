package plan

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/profile"
)

// weightedSale is a mesh of two zones with the limits of incident B and its sale, whose
// connections weigh by endpoints; a case then bends it.
func weightedSale(bend func(*profile.Spec)) *profile.Profile {
	return meshOf(func(p *profile.Profile) {
		s := &p.Spec
		s.Zones, s.Istiod.Resources.Memory = s.Zones[:2], quantity("800Mi")
		connections, endpoints := int64(3600), int64(5400)
		e := dated("sale", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "1")
		e.Multiplier, e.Load = nil, &profile.EventLoad{Connections: &connections, Endpoints: &endpoints}
		s.Events = []profile.Event{e}
		s.Istiod.HoldUnscaled, s.Istiod.Scaling, s.Metrics.Endpoints = false, "weighted", "sum(endpoints)"
		if bend != nil {
			bend(s)
		}
	})
}

func TestConnectionsWeighByEndpoints(t *testing.T) {
	const count = `sum(max by (pod, version) (last_over_time(pilot_xds{namespace="istio-system",pod=~"istiod-[^-]+(-[^-]+)?"}[1m])))`
	type weighs struct {
		theta, own, budget, least, thetaRest, min int64
		query                                     string // without the count of connections
	}
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want weighs
	}{
		"as heavy as the endpoints that there are, and at rest no lighter": {nil, weighs{
			80, 0, 432000, 1700, 254, 8, "160 * ceil(… * (clamp_min(max(sum(endpoints)) > 0, 1700) or vector(5400)) / 864000)",
		}},
		"what a connection costs by itself counts in endpoints, rounded up": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.BytesPerConnection = decimal("100001") },
			weighs{80, 251, 452080, 1700, 231, 8, "160 * ceil(… * ((clamp_min(max(sum(endpoints)) > 0, 1700) or vector(5400)) + 251) / 904160)"},
		},
		"where reconnects allow 109 connections a pod, no fewer endpoints count than they do at": {
			func(s *profile.Spec) { s.Istiod.ReconnectCost = decimal("0.5") },
			weighs{80, 0, 432000, 3964, 108, 10, "160 * ceil(… * (clamp_min(max(sum(endpoints)) > 0, 3964) or vector(5400)) / 864000)"},
		},
		"without a zone's loss to survive, in whole connections": {
			func(s *profile.Spec) { s.Istiod.Survive = profile.Survive{Mode: "pod"} },
			weighs{160, 0, 864000, 1700, 508, 6, "ceil(… * (clamp_min(max(sum(endpoints)) > 0, 1700) or vector(5400)) / 5400)"},
		},
		"a calendar without more endpoints weighs as at rest": {
			func(s *profile.Spec) { s.Events = nil },
			weighs{270, 0, 459000, 1700, 270, 8, "540 * ceil(… * (clamp_min(max(sum(endpoints)) > 0, 1700) or vector(1700)) / 918000)"},
		},
		"a law without a line over endpoints weighs as at the worst moment": {
			func(s *profile.Spec) {
				pushModel(&s.Istiod.MemoryModel)
				s.Istiod.MemoryModel.VisibleShare = decimal("1")
			},
			weighs{170, 0, 918000, 5400, 170, 8, "340 * ceil(… * (clamp_min(max(sum(endpoints)) > 0, 5400) or vector(5400)) / 1836000)"},
		},
		"endpoints that are a hundredth of a connection weigh nothing": {
			func(s *profile.Spec) {
				s.Istiod.MemoryModel.BytesPerConnection, s.Istiod.MemoryModel.BytesPerConnectionEndpoint = decimal("2000000"), decimal("3.7")
			},
			weighs{90, 0, 486000, 5400, 90, 16, "180 * ceil(… * (clamp_min(max(sum(endpoints)) > 0, 5400) or vector(5400)) / 972000)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, weightedSale(c.bend))
			d, _ := pl.Decision("istiod.connectionBudget")
			term := func(name string) int64 {
				found, ok := find(d.Terms, name)
				if !ok {
					t.Fatalf("no term %s in %+v", name, pl.Findings)
				}
				return found.Value.Num().Int64()
			}
			least, err := pl.Int("istiod.replicas.min")
			if err != nil {
				t.Fatal(err)
			}
			trigger := pl.Istiod.Triggers[0]
			got := weighs{trigger.Threshold, term("own"), trigger.Weight.Budget(trigger.Threshold), term("least"), term("thetaRest"), least, strings.Replace(trigger.Query, count, "…", 1)}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(weighs{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Next to the weighted trigger nothing else of the plan may differ from the static
// one but the floor, and what is counted from it.
func TestEventsAskForAsMuchWhetherConnectionsWeighOrNot(t *testing.T) {
	weighted, static := build(t, weightedSale(nil)), build(t, weightedSale(func(s *profile.Spec) { s.Istiod.Scaling = "static" }))
	for _, subject := range []string{"istiod.connectionThreshold", "istiod.replicas.event.sale", "istiod.replicas.max", "istiod.fallback.replicas"} {
		x, _ := weighted.Decision(subject)
		y, _ := static.Decision(subject)
		if x.Value == nil || x.Value != y.Value {
			t.Errorf("%s is %v weighted and %v static", subject, x.Value, y.Value)
		}
	}
}

// What is survived between rest and the events is counted with the pods that the
// weighted trigger asks for: a loss of 30 % takes 2 of its 4 pods.
func TestTheLoadThatIsSurvivedCountsTheWeighedPods(t *testing.T) {
	mesh := func(scaling string) *profile.Profile {
		return weightedSale(func(s *profile.Spec) {
			s.Istiod.Survive, s.Istiod.Scaling = profile.Survive{Mode: "share", Share: big.NewRat(3, 10)}, scaling
			s.Istiod.UnplannedSurge = decimal("1")
		})
	}
	survived := map[string]string{}
	for _, scaling := range []string{"static", "weighted"} {
		d, _ := build(t, mesh(scaling)).Decision("istiod.replicas.min")
		found, _ := find(d.Terms, "survived")
		survived[scaling] = found.Value.RatString()
	}
	if diff := cmp.Diff(map[string]string{"static": "7/2", "weighted": "11/10"}, survived); diff != "" {
		t.Errorf("multiples of rest (-want +got):\n%s", diff)
	}
}
