package keda_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// bigSale is the event of bigsale as its author wrote it, and what the plan says
// of it.
type bigSale struct {
	load     meshLoad
	promise  promise
	window   time.Time // from when the trigger asks
	spread   time.Time // when the pods must be ready, to have their share at the start
	podDelay time.Duration
	fallback int
}

func readBigSale(t *testing.T) bigSale {
	t.Helper()
	profile, plan := cluster.ReadProfile(t, cluster.Example("bigsale")), cluster.Plan(t, cluster.Example("bigsale"))
	i := slices.IndexFunc(profile.Events, func(e cluster.Event) bool { return e.Name == "big-sale" })
	if i < 0 {
		t.Fatal("bigsale has no event big-sale")
	}
	event := profile.Events[i]
	start, end, ramp := at(t, event.Start), at(t, event.End), duration(t, event.Ramp)
	whole := func(value any) int {
		n, isNumber := value.(float64)
		if !isNumber {
			t.Fatalf("%v is no number", value)
		}
		return int(n)
	}
	decided := func(subject string) int { return whole(plan[subject].Value) }
	lead := plan["istiod.prescale.lead.big-sale"].Terms
	seconds := func(term string) time.Duration { return time.Duration(whole(lead[term])) * time.Second }
	from, _, _ := strings.Cut(fmt.Sprint(plan["istiod.prescale.window.big-sale"].Value), "/")
	return bigSale{
		load: meshLoad{rest: profile.Istiod.Load.Connections, peak: event.Load.Connections, start: start, end: end, ramp: ramp},
		promise: promise{
			start: start, end: end, min: decided("istiod.replicas.min"),
			event: decided("istiod.replicas.event.big-sale"), max: decided("istiod.replicas.max"),
		},
		window:   at(t, from),
		spread:   start.Add(-seconds("workloads") - seconds("T")*5/4),
		podDelay: seconds("podReady") + seconds("nodeReady"),
		fallback: decided("istiod.fallback.replicas"),
	}
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	found, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	found, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// script is bigsale's istiod at rest, two hours before the event.
func (s bigSale) script(t *testing.T, namespace string) script {
	t.Helper()
	return script{
		namespace: namespace,
		from:      s.promise.start.Add(-2 * time.Hour),
		load:      s.load,
		podDelay:  s.podDelay,
		replicas:  s.promise.min,
		event:     s.promise.event,
		object:    renderedScaledObject(t, "istiod/scaledobject-istiod.yaml"),
	}
}

// unplanned is bigsale's istiod in an event that came a third larger than
// planned: the connections brought more pods than the fallback has.
func (s bigSale) unplanned(t *testing.T, namespace string) (script, promise) {
	t.Helper()
	const connections, pods = 4800, 60 // at 80 a pod
	p, larger := s.promise, s.script(t, namespace)
	p.event = pods
	larger.from, larger.load.peak = s.promise.start.Add(time.Hour), connections
	larger.replicas, larger.event = pods, pods
	return larger, p
}

// The control loop takes bigsale's istiod through its event: KEDA makes the HPA,
// the HPA controller asks KEDA, and KEDA asks Prometheus.
func TestControlLoop(t *testing.T) {
	sale := readBigSale(t)
	control := startControlPlane(t)
	t.Run("the pods are there before the event, and go slowly after it", func(t *testing.T) {
		t.Parallel()
		s := sale.script(t, "istio-system")
		r := control.start(t, s)
		r.checkHPA(t)
		r.prometheus.skipTo(t, sale.window.Add(-2*time.Minute))
		r.runUntil(t, sale.promise.event, sale.promise.start)
		t.Logf("all pods are ready %s before they must be, to have their share at the start", sale.spread.Sub(r.clock.now()).Round(time.Second))
		r.prometheus.skipTo(t, sale.promise.start.Add(-time.Minute))
		r.runTo(sale.load.start.Add(sale.load.ramp + time.Minute))
		r.prometheus.skipTo(t, sale.promise.end.Add(-time.Minute))
		r.runUntil(t, sale.promise.min, sale.promise.end.Add(30*time.Minute))
		r.runTo(r.clock.now().Add(time.Minute))
		r.judge(t, sale.promise)
	})
	t.Run("without Prometheus before the event, the fallback brings the pods", func(t *testing.T) {
		t.Parallel()
		r := control.start(t, sale.script(t, "gone-before"))
		r.prometheus.skipTo(t, sale.window.Add(-2*time.Minute))
		r.prometheus.setGone(true)
		r.runUntil(t, sale.fallback, sale.promise.start)
		r.printReplicas(t)
	})
	t.Run("without Prometheus in the event, nothing goes until it is back", func(t *testing.T) {
		t.Parallel()
		s, p := sale.unplanned(t, "gone-within")
		r := control.start(t, s)
		r.runTo(r.clock.now().Add(time.Minute))
		p.start = r.clock.now()
		r.prometheus.setGone(true)
		r.waitForFallback(t)
		r.prometheus.skipTo(t, sale.promise.end.Add(-time.Minute))
		r.runTo(sale.promise.end.Add(stabilization + 3*time.Minute))
		p.end = r.clock.now()
		r.prometheus.setGone(false)
		r.runUntil(t, p.min, p.end.Add(30*time.Minute))
		r.judge(t, p)
	})
	t.Run("the HPA that scales a workload today is taken over", func(t *testing.T) {
		t.Parallel()
		testTakeover(t, control, sale)
	})
	t.Run("without the dated trigger, the pods come too late", func(t *testing.T) {
		t.Parallel()
		s := sale.script(t, "no-dated-trigger")
		s.object.Spec.Triggers = slices.DeleteFunc(s.object.Spec.Triggers, func(trigger kedav1alpha1.ScaleTriggers) bool {
			return trigger.Name == "event_big_sale"
		})
		r := control.start(t, s)
		r.prometheus.skipTo(t, sale.promise.start.Add(-time.Minute))
		r.runUntil(t, sale.promise.event, sale.promise.start.Add(40*time.Minute))
		r.printReplicas(t)
		log, lastAsked := r.happened()
		const want = "at the start 24 of 46 pods are ready"
		if broken := sale.promise.broken(log, lastAsked); !slices.Contains(broken, want) {
			t.Errorf("broken: %q, want among them %q", broken, want)
		}
	})
}

// checkHPA compares the HPA that KEDA made with what meshgen counts on.
func (r *scriptRun) checkHPA(t *testing.T) {
	t.Helper()
	got := map[string]any{"name": r.hpa.Name, "min": *r.hpa.Spec.MinReplicas, "max": r.hpa.Spec.MaxReplicas, "target": r.hpa.Spec.ScaleTargetRef, "managed by": r.hpa.Labels["app.kubernetes.io/managed-by"]}
	want := map[string]any{
		"name": "keda-hpa-istiod", "min": int32(24), "max": int32(92), "managed by": "meshgen",
		"target": autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "istiod"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("KEDA's HPA (-want +got):\n%s", diff)
	}
	wantTargets := map[string]float64{"s0-prometheus": 80, "s1-cron-Asia-Seoul-611xx1-5-3013xx1-5": 1, "s2-prometheus": 1}
	if diff := cmp.Diff(wantTargets, r.targets); diff != "" {
		t.Errorf("the metrics of KEDA's HPA and what one replica stands for (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.object.Spec.Advanced.HorizontalPodAutoscalerConfig.Behavior, r.hpa.Spec.Behavior); diff != "" {
		t.Errorf("the behavior of KEDA's HPA (-written +got):\n%s", diff)
	}
	if !metav1.IsControlledBy(&r.hpa, r.object) {
		t.Errorf("KEDA's HPA has the owners %v", r.hpa.OwnerReferences)
	}
}
