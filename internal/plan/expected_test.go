package plan_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/schema"
)

func exampleOf(t *testing.T, name string) *plan.Plan {
	t.Helper()
	p, found := schema.Load(os.DirFS("../.."), "examples/clusters/"+name+"/profile.yaml")
	if p == nil {
		t.Fatal(found)
	}
	pl, err := plan.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// The worked values were computed apart from this code.
func TestWorkedValues(t *testing.T) {
	for name, want := range map[string]map[string]any{
		"bigsale": {
			"istiod.cpu":                                int64(2),
			"istiod.connectionThreshold":                int64(80),
			"istiod.replicas.event.big-sale":            int64(46),
			"istiod.replicas.event.weekday-lunch":       int64(16),
			"istiod.replicas.min":                       int64(24),
			"istiod.replicas.max":                       int64(92),
			"istiod.fallback.replicas":                  int64(46),
			"istiod.keepaliveMaxServerConnectionAge":    "15m",
			"istiod.prescale.lead.big-sale":             "29m",
			"istiod.prescale.lead.weekday-lunch":        "24m",
			"istiod.prescale.window.big-sale":           "2026-12-19T07:31:00Z/2026-12-19T12:00:00Z",
			"istiod.prescale.window.weekday-lunch":      "Mon,Tue,Wed,Thu,Fri 11:06-13:30 Asia/Seoul",
			"istiod.freeze.big-sale":                    "2026-12-19T05:01:00Z/2026-12-19T12:00:00Z",
			"istiod.podDisruptionBudget.maxUnavailable": int64(2),

			"workload/shop/cart.replicas.event.big-sale":      int64(20),
			"workload/shop/cart.prescale.lead.big-sale":       "5m",
			"workload/shop/cart.prescale.window.big-sale":     "2026-12-19T07:55:00Z/2026-12-19T12:00:00Z",
			"workload/shop/cart.replicas.min":                 int64(6),
			"workload/shop/cart.replicas.max":                 int64(60),
			"workload/shop/cart.fallback.replicas":            int64(20),
			"workload/shop/checkout.replicas.event.big-sale":  int64(8),
			"workload/shop/checkout.prescale.lead.big-sale":   "5m",
			"workload/platform/auth.replicas.event.big-sale":  int64(18),
			"workload/platform/auth.prescale.lead.big-sale":   "5m",
			"workload/platform/auth.prescale.window.big-sale": "2026-12-19T07:55:00Z/2026-12-19T12:00:00Z",
		},
		"featureflag": {"istiod.connectionThreshold": int64(270)},
		"boutique":    {"istiod.connectionThreshold": int64(540)},
	} {
		t.Run(name, func(t *testing.T) {
			pl := exampleOf(t, name)
			for subject, value := range want {
				d, ok := pl.Decision(subject)
				if !ok || d.Value != value {
					t.Errorf("%s is %v, want %v", subject, d.Value, value)
				}
			}
		})
	}
}

func TestWorkedTerms(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"bigsale": {
			"NSafe": "219 connections", "memorySafe": "84 connections", "reconnectSafe": "272 connections",
			"ageSafe": "818 connections", "binds": "memory", "f": "0.5", "hot": "209.2 connections", "hotShare": "0.8248 of L",
		},
		"featureflag": {"memorySafe": "2,959 connections", "reconnectSafe": "272 connections", "binds": "reconnect", "A": "10 reconnects/s"},
		"boutique":    {"reconnectSafe": "545 connections", "binds": "reconnect"},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := exampleOf(t, name).Decision("istiod.connectionThreshold")
			got := map[string]string{}
			for _, term := range d.Terms {
				if _, asked := want[term.Name]; asked {
					got[term.Name] = term.Short()
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatRunsTodayIsJudged(t *testing.T) {
	pl := exampleOf(t, "bigsale")
	want := map[string]plan.Verdict{
		"istiod.connectionThreshold": plan.Unsafe, "istiod.keepaliveMaxServerConnectionAge": plan.Unsafe, "istiod.replicas.min": plan.Same,
	}
	got := map[string]plan.Verdict{}
	for _, d := range pl.Decisions {
		if d.Running != nil {
			got[d.Subject] = d.Running.Verdict
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, f := range pl.Findings {
		if f.Subject == "istiod.connectionThreshold" && strings.Contains(f.Message, "255.7 connections, 94.4 % of the memory limit") {
			return
		}
	}
	t.Errorf("no finding says how unsafe the threshold is: %v", pl.Findings)
}

func TestTriggers(t *testing.T) {
	type trigger struct{ Name, Query, Start, End, Zone string }
	var got []trigger
	for _, tr := range exampleOf(t, "bigsale").Istiod.Triggers {
		got = append(got, trigger{tr.Name, tr.Query, tr.Start, tr.End, tr.TimeZone})
	}
	want := []trigger{
		{Name: "connections", Query: `160 * ceil(sum(max by (pod, version) (last_over_time(pilot_xds{namespace="istio-system",pod=~"istiod-[^-]+(-[^-]+)?"}[1m]))) / 160)`},
		{Name: "event_weekday_lunch", Start: "6 11 * * 1-5", End: "30 13 * * 1-5", Zone: "Asia/Seoul"},
		{Name: "event_big_sale", Query: "vector(46 * (time() >= bool 1797665460) * (time() < bool 1797681600))"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
