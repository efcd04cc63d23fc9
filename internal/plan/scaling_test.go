package plan

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// cart is a Service with 6 to 60 pods that meshgen scales; events are pairs of a
// name and a multiplier.
func cart(events ...string) profile.Service {
	s := profile.Service{
		Name: "cart", Namespace: "shop", Workload: &profile.Workload{Kind: "Deployment", Name: "cart", Labels: map[string]string{"app": "cart"}},
		Replicas: profile.Replicas{Min: 6, Max: 60}, Autoscaling: profile.Autoscaling{ManagedBy: "meshgen"},
		Events: map[string]profile.ServiceEvent{},
	}
	for i := 0; i < len(events); i += 2 {
		s.Events[events[i]] = profile.ServiceEvent{Multiplier: decimal(events[i+1])}
	}
	return s
}

func renamed(name string, s profile.Service) profile.Service {
	s.Name = name
	w := *s.Workload
	w.Name = name
	s.Workload = &w
	return s
}

func capacityOf(peak, perEndpoint string) *profile.Capacity {
	return &profile.Capacity{Peak: decimal(peak), PerEndpoint: decimal(perEndpoint)}
}

// sale is four hours of one day; promotion begins within it and ends after it.
func sale() profile.Event {
	return dated("sale", "2026-12-19T08:00:00Z", "2026-12-19T12:00:00Z", "2")
}

func promotion() profile.Event {
	return dated("promotion", "2026-12-19T11:00:00Z", "2026-12-19T15:00:00Z", "2")
}

func TestTheReplicasOfAnEvent(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want int64
	}{
		"rest, multiplied": {func(s *profile.Spec) { s.Services = []profile.Service{cart("sale", "2")} }, 12},
		"a fraction of a pod is a pod, and zones have as many": { // 6·1.15 = 6.9
			func(s *profile.Spec) { s.Services = []profile.Service{cart("sale", "1.15")} }, 9,
		},
		"capacity, with a third of the pods lost": { // 3/2 · 400·2 / 75 = 16
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2")}
				s.Services[0].Capacity = capacityOf("400", "100")
			}, 18,
		},
		"capacity, with half of them lost": { // 2 · 400·2 / 75 = 21.3
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2")}
				s.Services[0].Capacity = capacityOf("400", "100")
				s.Zones[2].NodePools[0].Nodes.Now = 0
			}, 22,
		},
		"capacity in one zone, which cannot be lost": { // 500·2 / 75 = 13.3
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2")}
				s.Services[0].Capacity = capacityOf("500", "100")
				s.Zones, s.Istiod.Survive = s.Zones[:1], profile.Survive{Mode: "pod"}
			}, 14,
		},
		"capacity that rest exceeds": { // 3/2 · 10·2 / 75 = 0.4
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2")}
				s.Services[0].Capacity = capacityOf("10", "100")
			}, 12,
		},
		"a zone that istiod alone tolerates is none": { // as with half lost
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2")}
				s.Services[0].Capacity = capacityOf("400", "100")
				s.Zones[2].NodePools[0].Taints = []profile.Taint{{Key: "dedicated", Value: "mesh", Effect: "NoSchedule"}}
				s.Istiod.Tolerations = []profile.Toleration{{Key: "dedicated", Operator: "Exists"}}
			}, 22,
		},
		"a taint that only prefers keeps the zone": {
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2")}
				s.Services[0].Capacity = capacityOf("400", "100")
				s.Zones[2].NodePools[0].Taints = []profile.Taint{{Key: "spot", Effect: "PreferNoSchedule"}}
			}, 18,
		},
		"two Services that load the same pods add up": { // 3/2 · (400·2 + 200) / 75 = 20
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2"), cart()}
				s.Services[1].Name = "cart-grpc"
				s.Services[0].Capacity, s.Services[1].Capacity = capacityOf("400", "100"), capacityOf("200", "100")
			}, 21,
		},
		"two events that overlap add their excess": { // 6 · (1 + 1 + 0.5)
			func(s *profile.Spec) { s.Services = []profile.Service{cart("sale", "2", "promotion", "1.5")} }, 15,
		},
		"an event that the Service does not name adds nothing": {
			func(s *profile.Spec) { s.Services = []profile.Service{cart("sale", "2")} }, 12,
		},
		"an event that overlaps multiplies the other Service of the workload": { // 3/2 · (400·2 + 200·1.5) / 75 = 22
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2"), cart("promotion", "1.5")}
				s.Services[1].Name = "cart-grpc"
				s.Services[0].Capacity, s.Services[1].Capacity = capacityOf("400", "100"), capacityOf("200", "100")
			}, 24,
		},
		"of two Services in front of one workload, the larger need": { // 3/2 · 300·3 / 75 = 18
			func(s *profile.Spec) {
				s.Services = []profile.Service{cart("sale", "2"), cart("sale", "3")}
				s.Services[1].Name, s.Services[1].Capacity = "cart-grpc", capacityOf("300", "100")
			}, 18,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, meshOf(func(p *profile.Profile) {
				p.Spec.Events = []profile.Event{sale(), promotion()}
				c.bend(&p.Spec)
			}))
			if got := number64(t, pl, "workload/shop/cart.replicas.event.sale"); got != c.want {
				t.Errorf("%d pods, want %d", got, c.want)
			}
			if got := number64(t, pl, "workload/shop/cart.fallback.replicas"); got != c.want {
				t.Errorf("%d pods without Prometheus, want those of the event, %d", got, c.want)
			}
		})
	}
}

func TestTheLeadOfAWorkload(t *testing.T) {
	for name, c := range map[string]struct {
		podReady   time.Duration
		multiplier string
		want       string
	}{
		"is 5 minutes at least":               {0, "3", "5m"},                 // 60 + 120 + 45 s
		"counts the Service's own pods":       {4 * time.Minute, "3", "7m"},   // 240 + 120 + 45 = 405 s
		"counts no doubling without a load":   {6 * time.Minute, "1", "9m"},   // 360 + 120 + 15 = 495 s
		"counts a doubling for each doubling": {4 * time.Minute, "64", "8m"},  // 240 + 120 + 105 = 465 s
		"is exact at a power of two":          {225 * time.Second, "8", "7m"}, // 225 + 120 + 60 = 405 s
		"is whole where it is whole":          {285 * time.Second, "1", "7m"}, // 285 + 120 + 15 = 420 s
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, meshOf(func(p *profile.Profile) {
				p.Spec.Events = []profile.Event{sale()}
				s := cart("sale", c.multiplier)
				s.Replicas.Max = 600
				if c.podReady > 0 {
					s.PodReady = &profile.Duration{Duration: c.podReady}
				}
				p.Spec.Services = []profile.Service{s}
			}))
			if got, _ := pl.Text("workload/shop/cart.prescale.lead.sale"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestTheLeadOfAWorkloadIsThatOfItsSlowestService(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Events = []profile.Event{sale()}
		p.Spec.Services = []profile.Service{cart("sale", "2"), cart("sale", "2")}
		p.Spec.Services[1].Name, p.Spec.Services[1].PodReady = "cart-grpc", &profile.Duration{Duration: 10 * time.Minute}
	}))
	if got, _ := pl.Text("workload/shop/cart.prescale.lead.sale"); got != "13m" { // 600 + 120 + 30 s
		t.Errorf("%s, want 13m", got)
	}
	if len(pl.Workloads) != 1 || len(pl.Workloads[0].Scaling.Triggers) != 1 {
		t.Errorf("one workload has one ScaledObject with one trigger, got %+v", pl.Workloads)
	}
}

func TestTheTriggersOfAWorkload(t *testing.T) {
	lunch := weekly("Asia/Seoul", "00:02", "02:00", "Tue", "Mon")
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Events = []profile.Event{promotion(), sale(), lunch}
		p.Spec.Services = []profile.Service{cart("promotion", "2", "weekly", "1.5", "sale", "3")}
	}))
	want := []Trigger{
		{Name: "event_weekly", Event: "weekly", Start: "57 23 * * 0,1", End: "0 2 * * 1,2", TimeZone: "Asia/Seoul", Replicas: 9},
		{Name: "event_sale", Event: "sale", Query: "vector(24 * (time() >= bool 1797666900) * (time() < bool 1797681600))", Threshold: 1, Replicas: 24},
		{Name: "event_promotion", Event: "promotion", Query: "vector(24 * (time() >= bool 1797677700) * (time() < bool 1797692400))", Threshold: 1, Replicas: 24},
	}
	if diff := cmp.Diff(want, pl.Workloads[0].Scaling.Triggers, cmpopts.IgnoreFields(Trigger{}, "Reason")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, _ := pl.Text("workload/shop/cart.prescale.window.weekly"); got != "Mon,Sun 23:57-02:00 Asia/Seoul" {
		t.Errorf("the weekly window is %s", got)
	}
}

func TestTheScaledObjectOfAWorkload(t *testing.T) {
	percent := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		bend func(*profile.Autoscaling)
		want Scaling
	}{
		"where nothing runs": {
			func(*profile.Autoscaling) {},
			Scaling{Name: "cart", Min: 6, Max: 60, CPUUtilization: 60},
		},
		"with a target of its own": {
			func(a *profile.Autoscaling) { a.CPUUtilization = percent(70) },
			Scaling{Name: "cart", Min: 6, Max: 60, CPUUtilization: 70},
		},
		"that scales on memory alone": {
			func(a *profile.Autoscaling) { a.MemoryUtilization = percent(80) },
			Scaling{Name: "cart", Min: 6, Max: 60, MemoryUtilization: 80},
		},
		"that takes an HPA over": {
			func(a *profile.Autoscaling) {
				a.CPUUtilization, a.MemoryUtilization, a.Running.HPA = percent(70), percent(80), "cart-hpa"
			},
			Scaling{Name: "cart", HPA: "cart-hpa", Min: 6, Max: 60, CPUUtilization: 70, MemoryUtilization: 80},
		},
		"that extends a ScaledObject, whose triggers stay": {
			func(a *profile.Autoscaling) { a.CPUUtilization, a.Running.ScaledObject = percent(70), "cart-scaler" },
			Scaling{Name: "cart-scaler", Extends: true, Min: 6, Max: 60},
		},
		"that extends a ScaledObject with KEDA's HPA": {
			func(a *profile.Autoscaling) {
				a.Running = profile.RunningAutoscaler{ScaledObject: "cart", HPA: "keda-hpa-cart"}
			},
			Scaling{Name: "cart", Extends: true, Min: 6, Max: 60},
		},
		"of a workload whose manifest has replicas": {
			func(a *profile.Autoscaling) { keeps := true; a.Running.ReplicasInManifest = &keeps },
			Scaling{Name: "cart", Min: 6, Max: 60, CPUUtilization: 60, ReplicasInManifest: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, meshOf(func(p *profile.Profile) {
				p.Spec.Services = []profile.Service{cart()}
				c.bend(&p.Spec.Services[0].Autoscaling)
			}))
			if pl.Findings.HasErrors() || len(pl.Workloads) != 1 {
				t.Fatalf("%d workloads, findings %v", len(pl.Workloads), pl.Findings)
			}
			if diff := cmp.Diff(&c.want, pl.Workloads[0].Scaling, cmpopts.IgnoreFields(Scaling{}, "MinReason", "MaxReason")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestATargetThatNobodyGaveShowsAsADefault(t *testing.T) {
	d, _ := build(t, meshOf(func(p *profile.Profile) { p.Spec.Services = []profile.Service{cart()} })).Decision("workload/shop/cart.cpuUtilization")
	if d.Value != int64(60) || len(d.Terms) != 1 || !d.Terms[0].Default {
		t.Errorf("%v from %+v, want 60 by default", d.Value, d.Terms)
	}
	if !strings.Contains(d.Reason, "its sidecar included") {
		t.Errorf("the reason does not say that the sidecar counts: %s", d.Reason)
	}
}

func TestAFallbackIsForTriggersThatAskPrometheus(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Events = []profile.Event{weekly("UTC", "11:00", "13:00", "Mon")}
		p.Spec.Services = []profile.Service{cart("weekly", "2")}
	}))
	if d, decided := pl.Decision("workload/shop/cart.fallback.replicas"); decided || pl.Workloads[0].Scaling.Fallback != 0 {
		t.Errorf("a cron trigger cannot fail, yet the fallback is %v", d.Value)
	}
}

func TestAWorkloadThatSomebodyElseScalesIsLeftAlone(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Services = []profile.Service{cart()}
		p.Spec.Services[0].Autoscaling = profile.Autoscaling{ManagedBy: "none"}
	}))
	for _, d := range pl.Decisions {
		if strings.HasPrefix(d.Subject, "workload/shop/cart.replicas") {
			t.Errorf("decided %s", d.Subject)
		}
	}
	for _, w := range pl.Workloads {
		if w.Scaling != nil {
			t.Errorf("%s is scaled", w.Subject())
		}
	}
}

// Each case bends a mesh with a sale and one Service that meshgen scales for it.
func TestFindingsOfWorkloads(t *testing.T) {
	percent := func(n int64) *int64 { return &n }
	first := func(bend func(*profile.Service)) func(*profile.Spec) {
		return func(s *profile.Spec) { bend(&s.Services[0]) }
	}
	second := func(bend func(*profile.Service)) func(*profile.Spec) {
		return func(s *profile.Spec) {
			other := cart("sale", "2")
			other.Name = "cart-grpc"
			bend(&other)
			s.Services = append(s.Services, other)
		}
	}
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want []string
	}{
		"a sound workload": {func(*profile.Spec) {}, nil},
		"an event that needs as many pods as there may be": {
			first(func(s *profile.Service) { s.Replicas.Max = 12 }), nil,
		},
		"an event that needs more": {
			first(func(s *profile.Service) { s.Replicas.Max = 11 }),
			[]string{"error plan/above-maximum: event sale needs 12 pods of shop/cart, more than the 11 of replicas.max: 2 × the 6 pods of rest"},
		},
		"an event that needs more pods than there are numbers": {
			first(func(s *profile.Service) { s.Capacity = capacityOf("1e12", "1e-12") }),
			[]string{"error plan/above-maximum: event sale needs 4000000000000"},
		},
		"an uplift that the HPA cannot see": {
			first(func(s *profile.Service) { *s = cart("sale", "1.05"); s.Replicas = profile.Replicas{Min: 60, Max: 66} }),
			[]string{"warning plan/workload-event-below-minimum: event sale asks for 63 pods of shop/cart, not more than 1.1 × the 60"},
		},
		"an uplift that the HPA can just see": {
			first(func(s *profile.Service) { *s = cart("sale", "1.15"); s.Replicas = profile.Replicas{Min: 60, Max: 69} }), nil,
		},
		"a workload that may have no pod": {
			first(func(s *profile.Service) { s.Replicas.Min, s.Capacity = 0, capacityOf("100", "100") }),
			[]string{"error plan/scale-to-zero: replicas.min of shop/cart is 0"},
		},
		"no workload to scale": {
			first(func(s *profile.Service) { s.Workload = nil }),
			[]string{"error plan/workload-unknown: of shop/cart is meshgen, and the profile names no workload"},
		},
		"an event for a Service that nobody scales": {
			first(func(s *profile.Service) { s.Autoscaling.ManagedBy = "none" }),
			[]string{"error plan/nobody-scales: event sale multiplies the load of shop/cart, and nobody scales it"},
		},
		"an event for a Service that its own HPA scales": {
			first(func(s *profile.Service) {
				s.Autoscaling = profile.Autoscaling{ManagedBy: "none", Running: profile.RunningAutoscaler{HPA: "cart"}}
			}),
			[]string{"warning plan/not-prescaled: HPA cart adds pods only after the load has come"},
		},
		"nobody scales a Service without events": {
			first(func(s *profile.Service) { *s = cart(); s.Autoscaling.ManagedBy = "none" }), nil,
		},
		"an HPA whose metrics nobody gave": {
			first(func(s *profile.Service) { s.Autoscaling.Running.HPA = "cart" }),
			[]string{"error plan/hpa-metrics-unknown: HPA cart scales shop/cart today"},
		},
		"an HPA with a metric that somebody gave": {
			first(func(s *profile.Service) {
				s.Autoscaling.Running.HPA, s.Autoscaling.MemoryUtilization = "cart", percent(80)
			}), nil,
		},
		"an HPA beside a ScaledObject": {
			first(func(s *profile.Service) {
				s.Autoscaling.Running = profile.RunningAutoscaler{HPA: "cart", ScaledObject: "cart"}
			}),
			[]string{"error plan/two-autoscalers: KEDA's own HPA would be keda-hpa-cart"},
		},
		"the HPA of a ScaledObject": {
			first(func(s *profile.Service) {
				s.Autoscaling.Running = profile.RunningAutoscaler{HPA: "keda-hpa-cart", ScaledObject: "cart"}
			}), nil,
		},
		"replicas in the manifest that runs today": {
			first(func(s *profile.Service) { keeps := true; s.Autoscaling.Running.ReplicasInManifest = &keeps }),
			[]string{"warning plan/replicas-in-manifest: the manifest of shop/cart has spec.replicas"},
		},
		"a name of 63 characters": {
			first(func(s *profile.Service) { s.Workload.Name = strings.Repeat("x", 63) }), nil,
		},
		"a name of 64 characters": {
			first(func(s *profile.Service) { s.Workload.Name = strings.Repeat("x", 64) }),
			[]string{"error plan/scaled-object-name: has 64 characters, and KEDA takes at most 63"},
		},
		"a long name that is scaled by a short one": {
			first(func(s *profile.Service) {
				s.Workload.Name, s.Autoscaling.Running.ScaledObject = strings.Repeat("x", 64), "cart"
			}), nil,
		},
		"two workloads with one ScaledObject": {
			second(func(s *profile.Service) {
				*s = renamed("basket", *s)
				s.Autoscaling.Running.ScaledObject = "cart"
			}),
			[]string{"error plan/shared-scaled-object: workload/shop/basket and workload/shop/cart would both be scaled by ScaledObject cart"},
		},
		"two workloads of one name in two namespaces": {
			second(func(s *profile.Service) { s.Namespace = "web" }), nil,
		},
		"a Service in front of istiod that meshgen is to scale": {
			first(func(s *profile.Service) { *s = renamed("istiod", *s); s.Namespace = "istio-system" }),
			[]string{"error plan/shared-scaled-object: istiod and workload/istio-system/istiod would both be scaled by ScaledObject istiod"},
		},
		"no zone for workloads": {
			func(s *profile.Spec) {
				for i := range s.Zones {
					s.Zones[i].NodePools[0].Taints = []profile.Taint{{Key: "dedicated", Effect: "NoExecute"}}
				}
				s.Istiod.Tolerations = []profile.Toleration{{Operator: "Exists"}}
			},
			[]string{"error plan/workloads-nowhere-to-run: no node in any of the 3 zones"},
		},
		"no zone for workloads that somebody else scales": {
			func(s *profile.Spec) {
				for i := range s.Zones {
					s.Zones[i].NodePools[0].Taints = []profile.Taint{{Key: "dedicated", Effect: "NoExecute"}}
				}
				s.Istiod.Tolerations = []profile.Toleration{{Operator: "Exists"}}
				s.Services[0] = cart()
				s.Services[0].Autoscaling.ManagedBy = "none"
			}, nil,
		},
		"two Services that agree on their workload": {second(func(*profile.Service) {}), nil},
		"two that differ in what is each one's own": {
			second(func(s *profile.Service) {
				s.PodReady, s.Capacity = &profile.Duration{Duration: time.Minute}, capacityOf("10", "10")
				*s = func(o profile.Service) profile.Service { o.Events = nil; return o }(*s)
			}), nil,
		},
		"two that differ in who scales": {
			second(func(s *profile.Service) {
				s.Autoscaling = profile.Autoscaling{ManagedBy: "none", Running: profile.RunningAutoscaler{HPA: "cart"}}
			}),
			[]string{
				"error plan/workload-disagreement: autoscaling.managedBy of shop/cart-grpc is none, and shop/cart says meshgen",
				"error plan/workload-disagreement: autoscaling.running.hpa of shop/cart-grpc is cart, and shop/cart says not given",
				"warning plan/not-prescaled: shop/cart-grpc",
			},
		},
		"credentials in a namespace of their own": {
			func(s *profile.Spec) {
				s.Metrics.AuthenticationRef = &profile.AuthenticationRef{Name: "prometheus", Kind: "TriggerAuthentication"}
			},
			[]string{"warning plan/authentication-namespace: TriggerAuthentication prometheus, which KEDA looks for in their own namespace: it must be in shop too"},
		},
		"credentials for all namespaces": {
			func(s *profile.Spec) {
				s.Metrics.AuthenticationRef = &profile.AuthenticationRef{Name: "prometheus", Kind: "ClusterTriggerAuthentication"}
			}, nil,
		},
		"two that differ in replicas, kind and labels": {
			second(func(s *profile.Service) {
				s.Replicas.Max = 50
				s.Workload = &profile.Workload{Kind: "StatefulSet", Name: "cart", Labels: map[string]string{"tier": "1", "app": "basket"}}
			}),
			[]string{
				"error plan/workload-disagreement: replicas of shop/cart-grpc is 6 to 50, and shop/cart says 6 to 60",
				"error plan/workload-disagreement: workload.kind of shop/cart-grpc is StatefulSet, and shop/cart says Deployment",
				"error plan/workload-disagreement: workload.labels of shop/cart-grpc is app=basket,tier=1, and shop/cart says app=cart",
			},
		},
		"two that differ in requests and targets": {
			second(func(s *profile.Service) {
				s.Requests = profile.Resources{CPU: quantity("500m")}
				s.Autoscaling.CPUUtilization = percent(70)
			}),
			[]string{
				"error plan/workload-disagreement: autoscaling.cpuUtilization of shop/cart-grpc is 70, and shop/cart says not given",
				"error plan/workload-disagreement: requests.cpu of shop/cart-grpc is 0.5, and shop/cart says not given",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			judgeFindings(t, func(s *profile.Spec) {
				s.Events = []profile.Event{sale()}
				s.Services = []profile.Service{cart("sale", "2")}
				c.bend(s)
			}, c.want)
		})
	}
}

// Events' starts and ends are one for istiod and every workload; only leads differ.
func TestAProblemOfTheClocksIsSaidOnce(t *testing.T) {
	for name, c := range map[string]struct {
		event    profile.Event
		podReady time.Duration // istiod's
		want     []string
	}{
		"a start that the clocks skip": {
			weekly("America/New_York", "02:30", "05:00", "Sun"), time.Minute,
			[]string{"error plan/dst-gap: falls on 2026-03-08 02:"},
		},
		"a lead of workloads that the clocks skip, and one of istiod that they show twice": {
			weekly("America/New_York", "03:02", "05:00", "Sun"), time.Hour,
			[]string{"error plan/dst-gap: its pre-scale, 5m before the start, falls on 2026-03-08 02:57", "error plan/dst-overlap: its pre-scale, 88m before the start, falls on 2026-11-01 01:34"},
		},
		"a time that the clocks leave alone": {weekly("America/New_York", "12:00", "13:00", "Sun"), time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			judgeFindings(t, func(s *profile.Spec) {
				s.Events = []profile.Event{c.event}
				s.Istiod.PodReady.Duration = c.podReady
				for _, name := range []string{"cart", "basket"} {
					service := renamed(name, cart("weekly", "2"))
					service.PodReady = &profile.Duration{Duration: time.Minute}
					s.Services = append(s.Services, service)
				}
			}, c.want)
		})
	}
}

// randomServices are up to 6 Services that meshgen scales for random events, of
// which two may stand in front of one workload.
func randomServices(r *rand.Rand, s *profile.Spec) {
	for i := range 1 + r.IntN(6) {
		service := renamed(fmt.Sprintf("s%d", i), cart())
		service.Replicas = profile.Replicas{Min: 1 + r.Int64N(40), Max: 1000000}
		if i > 0 && r.IntN(3) == 0 {
			service.Workload, service.Replicas = s.Services[i-1].Workload, s.Services[i-1].Replicas
		}
		if r.IntN(2) == 0 {
			service.Capacity = capacityOf(fmt.Sprint(r.IntN(5000)), fmt.Sprintf("%d.%d", 1+r.IntN(300), r.IntN(10)))
		}
		for _, e := range s.Events {
			if r.IntN(2) == 0 {
				service.Events[e.Name] = profile.ServiceEvent{Multiplier: decimal(fmt.Sprintf("%d.%02d", 1+r.IntN(3), r.IntN(100)))}
			}
		}
		s.Services = append(s.Services, service)
	}
}

// In every segment of the calendar each trigger that is active asks, alone, for
// what each Service in front of its workload needs, in whole zones.
func TestRandomWorkloadsAreCovered(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 17))
	planned := 0
	for range 80 {
		p := randomMesh(random)
		randomServices(random, &p.Spec)
		pl := build(t, p)
		if pl.Findings.HasErrors() {
			continue
		}
		planned++
		for _, segment := range calendar.Segments(eventsOf(p)) {
			judgeSegment(t, p, pl, segment.Active)
		}
		for _, d := range pl.Decisions {
			if _, err := Explain(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	if planned < 30 {
		t.Errorf("only %d of 80 random meshes could be planned", planned)
	}
}

func judgeSegment(t *testing.T, p *profile.Profile, pl *Plan, active []int) {
	t.Helper()
	zones := int64(len(p.Spec.Zones))
	for _, s := range p.Spec.Services {
		m := big.NewRat(1, 1)
		var named []string
		for _, i := range active {
			if e, ok := s.Events[p.Spec.Events[i].Name]; ok {
				named = append(named, p.Spec.Events[i].Name)
				m.Add(m, &e.Multiplier.Rat).Sub(m, big.NewRat(1, 1))
			}
		}
		for _, event := range named {
			n := number64(t, pl, "workload/shop/"+s.Workload.Name+".replicas.event."+event)
			if n < sizing.CeilMul(s.Replicas.Min, m) || n%zones != 0 {
				t.Fatalf("%s has %d pods in %s, %s × %d are needed in %d zones", s.Name, n, event, m.FloatString(2), s.Replicas.Min, zones)
			}
			if s.Capacity == nil {
				continue
			}
			left := n - n/zones
			if u := sizing.Utilization(&s.Capacity.Peak.Rat, m, &s.Capacity.PerEndpoint.Rat, left); u.Cmp(big.NewRat(3, 4)) > 0 {
				t.Fatalf("%s is used to %s by the %d pods that %s leaves with a zone lost", s.Name, u.FloatString(4), left, event)
			}
		}
	}
}

func TestDecisionsOfWorkloadsStandByNamespaceAndName(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) {
		other := renamed("a", cart())
		other.Namespace = "web"
		p.Spec.Services = []profile.Service{other, renamed("b", cart()), renamed("a", cart())}
	}))
	var subjects []string
	for _, d := range pl.Decisions {
		if owner, ok := strings.CutSuffix(d.Subject, ".replicas.min"); ok && strings.HasPrefix(owner, "workload/") {
			subjects = append(subjects, owner)
		}
	}
	if want := []string{"workload/shop/a", "workload/shop/b", "workload/web/a"}; !slices.Equal(subjects, want) {
		t.Errorf("%v, want %v", subjects, want)
	}
}
