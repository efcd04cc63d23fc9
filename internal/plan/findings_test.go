package plan

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

func dated(name, start, end string, connections string) profile.Event {
	at := func(text string) *profile.Instant {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			panic(err)
		}
		return &profile.Instant{Time: t}
	}
	m := decimal(connections)
	return profile.Event{Name: name, Start: at(start), End: at(end), Multiplier: &profile.Multiplier{Connections: &m}}
}

func weekly(zone, start, end string, days ...string) profile.Event {
	m := decimal("3")
	return profile.Event{
		Name: "weekly", Multiplier: &profile.Multiplier{Connections: &m},
		Weekly: &profile.Weekly{Days: days, Start: start, End: end, TimeZone: zone},
	}
}

// Each case bends a mesh that has no findings, and names every finding that
// comes of it as "severity id: part of the message".
func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want []string
	}{
		"a sound mesh": {func(*profile.Spec) {}, nil},
		"a freeze that nothing written keeps": {
			func(s *profile.Spec) {
				s.Events = []profile.Event{dated("sale", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "3")}
				s.ArgoCD = &profile.ArgoCD{Project: profile.ArgoCDProject{Name: "platform"}}
			},
			[]string{"warning plan/freezes-not-enforced: project platform is somebody else's: nothing that is written stops Argo CD in 1 freeze"},
		},
		"a project of somebody else's in a year without a freeze": {
			func(s *profile.Spec) { s.ArgoCD = &profile.ArgoCD{} }, nil,
		},
		"a folder of a namespace for which nothing is written": {
			func(s *profile.Spec) {
				s.ArgoCD = &profile.ArgoCD{}
				s.Namespaces = append(s.Namespaces, profile.Namespace{Name: "tools", SidecarScope: profile.SidecarScope{Rollout: "report"}, ArgoCD: &profile.ArgoCDOverlay{Path: "apps/tools"}})
			},
			[]string{"warning plan/argocd-without-component: nothing is written for the workloads of tools: no Application builds apps/tools"},
		},
		"a mesh whose every pool is tainted": {
			func(s *profile.Spec) {
				for i := range s.Zones {
					s.Zones[i].NodePools[0].Taints = []profile.Taint{{Key: "dedicated", Value: "edge", Effect: "NoExecute"}}
				}
			},
			[]string{"error plan/nowhere-to-run: no node in any of the 3 zones"},
		},
		"survive zone with nodes in one zone": {
			func(s *profile.Spec) { s.Zones[1].NodePools[0].Nodes.Now, s.Zones[2].NodePools = 0, nil },
			[]string{"error plan/no-zone-to-lose: at least 2 zones, found 1 of 3"},
		},
		"a fraction of a core": {
			func(s *profile.Spec) { s.Istiod.Resources.CPU = quantity("600m") },
			[]string{"warning plan/cpu-raised: CPU limit 600m is not a whole number of at least 2 cores; 2 is written"},
		},
		"a rebalance that no connection age can keep": {
			func(s *profile.Spec) { s.Istiod.RebalanceWithin.Duration = 5 * time.Minute },
			[]string{"error plan/rebalance-too-short: rebalanceWithin 5m is below 5m30s"},
		},
		"a limit below the base": {
			func(s *profile.Spec) { s.Istiod.Resources.Memory = quantity("256Mi") },
			[]string{"error plan/no-memory-left: not more than the base of 240000000"},
		},
		"connections that cost nothing, which the schema refuses first": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.BytesPerConnectionEndpoint = decimal("0") },
			[]string{"error plan/free-connections: a connection costs nothing"},
		},
		"a limit that holds few connections": {
			func(s *profile.Spec) { s.Istiod.Resources.Memory = quantity("300Mi") },
			[]string{"error plan/threshold-too-low: memory allows"},
		},
		"a limit that holds some": {
			func(s *profile.Spec) { s.Istiod.Resources.Memory = quantity("325Mi") },
			[]string{"warning plan/threshold-low: connection threshold 30 is below 50"},
		},
		"headroom where the collector never rests": {
			func(s *profile.Spec) {
				s.Istio.Version, s.Istiod.MemoryModel.IstioVersion, s.Istiod.Headroom = "1.29", "1.29", decimal("0.9")
			},
			[]string{"error plan/headroom-above-gomemlimit: headroom 0.9 is not below 0.90"},
		},
		"a model far beyond its fit": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.FittedEndpoints.Max = 1133 },
			[]string{"error plan/extrapolation: 1,700 endpoints at the worst moment are beyond 1.5 × the 1,133"},
		},
		"a model somewhat beyond its fit, by the unplanned surge": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.FittedEndpoints.Max = 2549 },
			[]string{"warning plan/beyond-fit: at 2,550 endpoints, beyond the 2,549"},
		},
		"a model of unknown range": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.FittedEndpoints = nil },
			[]string{"warning plan/model-range-unknown: nothing guards against extrapolation"},
		},
		"a model of another Istio": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.IstioVersion = "1.23" },
			[]string{"warning plan/model-version: fitted on Istio 1.23, the cluster runs 1.24"},
		},
		"a model of an unknown Istio": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.IstioVersion = "" },
			[]string{"warning plan/model-version: does not say on which Istio"},
		},
		"a model fitted under scopes that are not live": {
			func(s *profile.Spec) { s.Istiod.MemoryModel.Scoped = true },
			[]string{"warning plan/model-scope: fewer pods than are needed"},
		},
		"scopes that are live under a model fitted without": {
			func(s *profile.Spec) {
				s.Mesh = profile.Mesh{OutboundTrafficPolicy: "ALLOW_ANY", CallGraph: "complete"}
				s.Namespaces = []profile.Namespace{scopedNamespace("a", "namespace", "live")}
				s.Services = []profile.Service{service("a", "cart", 1700)}
			},
			[]string{"warning plan/model-scope: more pods than are needed"},
		},
		"a weighted trigger below a floor of today": {
			func(s *profile.Spec) {
				floor := int64(24)
				s.Istiod.Scaling, s.Istiod.Running.MinReplicas = "weighted", &floor
			},
			[]string{"warning plan/weighted-saves-nothing: 24 pods always run, and scaling static would ask for 3"},
		},
		"a weighted trigger that lets the floor fall below what an event needs": {
			func(s *profile.Spec) { *s = weightedSale(nil).Spec },
			[]string{"warning plan/weighted-unannounced: 8 pods run at rest where scaling static has 14"},
		},
		"no Prometheus": {
			func(s *profile.Spec) { s.Metrics.ServerAddress = "" },
			[]string{"error plan/no-prometheus: the profile names none"},
		},
		"scrapes so rare that the HPA cannot wait for three": {
			func(s *profile.Spec) { s.Metrics.ScrapeInterval.Duration = 20 * time.Minute },
			[]string{"error plan/scrapes-too-rare: the scale-up window would be 3615 s"},
		},
		"an unknown zone": {
			func(s *profile.Spec) { s.Events = []profile.Event{weekly("Asia/Soeul", "11:00", "12:00", "Mon")} },
			[]string{`error plan/unknown-time-zone: "Asia/Soeul" of event weekly`},
		},
		"an event with less load than rest": {
			func(s *profile.Spec) {
				e := dated("sale", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "2")
				few := int64(900)
				e.Multiplier, e.Load = nil, &profile.EventLoad{Connections: &few}
				s.Events = []profile.Event{e}
			},
			[]string{"error plan/event-below-rest: 900 connections, fewer than the 1000 at rest"},
		},
		"an event that asks for no more than always runs": {
			func(s *profile.Spec) {
				s.Events = []profile.Event{dated("small", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "1.2")}
			},
			[]string{"warning plan/event-below-minimum: event small asks for 3 istiod pods, not more than 1.1 × the 3"},
		},
		"an event of a size that few survive": {
			func(s *profile.Spec) {
				s.Istiod.HoldUnscaled = false
				s.Events = []profile.Event{dated("huge", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "120")}
			},
			[]string{"warning plan/many-replicas: 225 istiod pods"},
		},
		"an event that is dear to hold unscaled": {
			func(s *profile.Spec) {
				s.Events = []profile.Event{dated("huge", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "30")}
			},
			[]string{"warning plan/held-for-events: pod-hours a year"},
		},
		"a weekly start that the clocks skip": {
			func(s *profile.Spec) { s.Events = []profile.Event{weekly("America/New_York", "02:30", "05:00", "Sun")} },
			[]string{"error plan/dst-gap: falls on 2026-03-08 02:"},
		},
		"a weekly end that the clocks show twice": {
			func(s *profile.Spec) { s.Events = []profile.Event{weekly("America/New_York", "00:45", "01:30", "Sun")} },
			[]string{"error plan/dst-overlap: its end falls on 2026-11-01 01:30"},
		},
		"a weekly lead that the clocks eat": {
			func(s *profile.Spec) { s.Events = []profile.Event{weekly("Europe/London", "02:10", "05:00", "Sun")} },
			[]string{"error plan/dst-gap: its pre-scale", "error plan/dst-overlap: its pre-scale"},
		},
		"a weekly event without a pause": {
			func(s *profile.Spec) {
				s.Events = []profile.Event{weekly("UTC", "00:00", "24:00", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")}
			},
			[]string{"error plan/weekly-touching: begins before the window of the day before has ended"},
		},
		"a threshold, an age, a floor and a ceiling that are unsafe today": {
			func(s *profile.Spec) {
				theta, least, most := int64(900), int64(2), int64(2)
				s.Istiod.Running = profile.Running{
					ConnectionThreshold: &theta, MinReplicas: &least, MaxReplicas: &most,
					KeepaliveMaxServerConnectionAge: &profile.Duration{Duration: 30 * time.Minute},
				}
			},
			[]string{
				"warning plan/running-unsafe: istiod.connectionThreshold runs at 900", "warning plan/running-unsafe: istiod.keepaliveMaxServerConnectionAge runs at 30m",
				"warning plan/running-unsafe: istiod.replicas.max runs at 2", "warning plan/running-unsafe: istiod.replicas.min runs at 2",
			},
		},
		"replicas in the manifest that runs today": {
			func(s *profile.Spec) { keeps := true; s.Istiod.Running.ReplicasInManifest = &keeps },
			[]string{"warning plan/replicas-in-manifest: resets istiod to 1 pod"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			judgeFindings(t, c.bend, c.want)
		})
	}
}

// judgeFindings builds a bent mesh and holds its findings, sorted, against
// expectations of the form "severity id: part of the message".
func judgeFindings(t *testing.T, bend func(*profile.Spec), want []string) {
	t.Helper()
	pl := build(t, meshOf(func(p *profile.Profile) { bend(&p.Spec) }))
	var got []string
	for _, f := range pl.Findings {
		got = append(got, matched(f, want))
		if f.Hint == "" || f.Subject == "" || f.File == "" {
			t.Errorf("no way out, subject or place: %v", f)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// matched is the expectation that the finding meets, or the finding.
func matched(f diag.Finding, want []string) string {
	for _, w := range want {
		head, part, _ := strings.Cut(w, ": ")
		if head == string(f.Severity)+" "+f.ID && strings.Contains(f.Message, part) {
			return w
		}
	}
	return string(f.Severity) + " " + f.ID + ": " + f.Message
}

func TestATaintThatIsToleratedOpensThePool(t *testing.T) {
	taint := []profile.Taint{{Key: "dedicated", Value: "mesh", Effect: "NoSchedule"}}
	for name, c := range map[string]struct {
		toleration profile.Toleration
		zones      int64
	}{
		"an equal value":           {profile.Toleration{Key: "dedicated", Operator: "Equal", Value: "mesh"}, 3},
		"any value of the key":     {profile.Toleration{Key: "dedicated", Operator: "Exists"}, 3},
		"every taint":              {profile.Toleration{Operator: "Exists"}, 3},
		"the effect that is there": {profile.Toleration{Key: "dedicated", Operator: "Exists", Effect: "NoSchedule"}, 3},
		"another value":            {profile.Toleration{Key: "dedicated", Operator: "Equal", Value: "edge"}, 2},
		"another key":              {profile.Toleration{Key: "pool", Operator: "Exists"}, 2},
		"another effect":           {profile.Toleration{Key: "dedicated", Operator: "Exists", Effect: "NoExecute"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, meshOf(func(p *profile.Profile) {
				p.Spec.Zones[2].NodePools[0].Taints = taint
				p.Spec.Istiod.Tolerations = []profile.Toleration{c.toleration}
			}))
			if pl.Istiod.Zones != c.zones {
				t.Errorf("istiod may use %d zones, want %d", pl.Istiod.Zones, c.zones)
			}
		})
	}
}

func TestDedicatedPoolsAreToldByLabelsOfTheirOwn(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Zones[0].NodePools[0].Labels = map[string]string{"team": "mesh"}
		p.Spec.Zones[0].NodePools = append(p.Spec.Zones[0].NodePools, profile.NodePool{
			Name: "edge", Nodes: profile.Nodes{Now: 4}, Labels: map[string]string{"team": "mesh", "pool": "edge"},
			Taints: []profile.Taint{{Key: "dedicated", Effect: "NoSchedule"}},
		})
	}))
	want := []DedicatedPool{{Name: "edge", Labels: map[string]string{"pool": "edge"}}}
	if diff := cmp.Diff(want, pl.Istiod.DedicatedPools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheConnectionTriggerCountsThisMeshAlone(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Istio.Revision = "1-24"
		p.Spec.Metrics.Selector = map[string]string{"cluster": `a"b\`, "az": "x"}
		p.Spec.Metrics.ScrapeInterval.Duration = time.Minute
		p.Spec.Istiod.Survive = profile.Survive{Mode: "share", Share: big.NewRat(1, 4)}
	}))
	want := `sum(max by (pod, version) (last_over_time(pilot_xds{namespace="istio-system",pod=~"istiod-1-24-[^-]+(-[^-]+)?",az="x",cluster="a\"b\\"}[3m])))`
	if got := pl.Istiod.Triggers[0].Query; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if w, _ := pl.Text("istiod.scaleUp.stabilizationWindow"); w != "195s" {
		t.Errorf("the scale-up window is %s, want 195s", w)
	}
}

func TestAnEventIsLedByItsSlowestWorkload(t *testing.T) {
	slow := profile.Duration{Duration: 10 * time.Minute}
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Events = []profile.Event{dated("sale", "2026-12-19T17:00:00Z", "2026-12-19T21:00:00Z", "3")}
		p.Spec.Services = []profile.Service{
			{Name: "cart", Workload: &profile.Workload{Name: "cart", Labels: map[string]string{"app": "cart"}}, Replicas: profile.Replicas{Min: 1, Max: 9}, Autoscaling: profile.Autoscaling{ManagedBy: "meshgen"}, PodReady: &slow, Events: map[string]profile.ServiceEvent{"sale": {Multiplier: decimal("3")}}},
			{Name: "slower", Autoscaling: profile.Autoscaling{ManagedBy: "none"}, PodReady: &profile.Duration{Duration: time.Hour}, Events: map[string]profile.ServiceEvent{"sale": {Multiplier: decimal("3")}}},
		}
	}))
	d, _ := pl.Decision("istiod.prescale.lead.sale")
	workloads, _ := find(d.Terms, "workloads")
	if workloads.Short() != "780 s" { // 10 m + 2 m + 15 s × 3, up to the minute
		t.Errorf("workloads lead by %s, want 780 s", workloads.Short())
	}
}
