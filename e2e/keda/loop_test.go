package keda_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
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
	window   time.Time     // from when the trigger asks
	spread   time.Time     // by when the pods must be ready, to have their share at the start
	podDelay time.Duration // from a new pod to a ready one, where a node must come first
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
		spread:   start.Add(-seconds("workloads") - seconds("T")),
		podDelay: seconds("podReady") + seconds("nodeReady"),
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

// The control loop takes bigsale's istiod through its event: KEDA makes the HPA,
// the HPA controller asks KEDA, and KEDA asks Prometheus. The scripts run at one
// time, for they mostly wait: -parallel, which goes by the number of cores, would
// have them wait for each other.
func TestControlLoop(t *testing.T) {
	sale := readBigSale(t)
	control := startControlPlane(t)
	var running sync.WaitGroup
	for name, script := range map[string]func(*testing.T, *controlPlane, bigSale){
		"the pods are there before the event, and go slowly after it":      testEvent,
		"without Prometheus before the event, the fallback brings them":    testGoneBefore,
		"without Prometheus in the event, none goes until it is back":      testGoneWithin,
		"without the dated trigger, they come too late":                    testWithoutDatedTrigger,
		"the HPA that scales a workload today is taken over by KEDA's own": testTakeover,
	} {
		running.Go(func() {
			t.Run(name, func(t *testing.T) { script(t, control, sale) })
		})
	}
	running.Wait()
}

// testEvent takes istiod through the whole event. Hours in which the connections
// stay as they are, and the replicas have come to rest, are left out. The pods
// must be ready an age of a connection before the workloads bring more; the lead
// has a quarter of an age besides, which is left for what this machine is late.
func testEvent(t *testing.T, c *controlPlane, sale bigSale) {
	const margin = 30 * time.Second
	p := sale.promise
	r := c.start(t, sale.script(t, "istio-system"))
	r.checkHPA(t)
	r.prometheus.skipTo(t, sale.window.Add(-margin))
	r.runUntil(t, sale.spread, settledAt(p.event))
	r.prometheus.skipTo(t, p.start.Add(-margin))
	r.runTo(p.start.Add(sale.load.ramp + margin))
	r.prometheus.skipTo(t, p.end.Add(-margin))
	r.runUntil(t, p.end.Add(30*time.Minute), settledAt(p.min))
	r.runTo(r.clock.now().Add(margin))
	r.judge(t, p)
}

// testGoneBefore loses Prometheus before it could ask for the event's pods.
func testGoneBefore(t *testing.T, c *controlPlane, sale bigSale) {
	r := c.start(t, sale.script(t, "gone-before"))
	r.prometheus.skipTo(t, sale.window.Add(-time.Minute))
	r.prometheus.setGone(true)
	r.runUntil(t, sale.promise.start, settledAt(sale.promise.event))
	r.printReplicas(t)
}

// testGoneWithin loses Prometheus in an event a third larger than planned, when
// more pods run than the fallback has. The promise is that of an event that
// lasts while Prometheus is away.
func testGoneWithin(t *testing.T, c *controlPlane, sale bigSale) {
	const connections, pods = 4800, 60 // at 80 a pod
	s, p := sale.script(t, "gone-within"), sale.promise
	s.from, s.load.peak = p.start.Add(time.Hour), connections
	s.replicas, s.event, p.event = pods, pods, pods
	r := c.start(t, s)
	r.runTo(r.clock.now().Add(time.Minute))
	p.start = r.clock.now()
	r.prometheus.setGone(true)
	r.waitForFallback(t)
	r.prometheus.skipTo(t, p.end.Add(-time.Minute))
	r.runTo(p.end.Add(stabilization + 3*time.Minute))
	p.end = r.clock.now()
	r.prometheus.setGone(false)
	r.runUntil(t, p.end.Add(30*time.Minute), settledAt(p.min))
	r.judge(t, p)
}

// testWithoutDatedTrigger takes the dated trigger away, which the plan relies on:
// the connections bring pods only as they come. Those are enough in the end, but
// for the tolerance of the HPA, which the threshold leaves room for.
func testWithoutDatedTrigger(t *testing.T, c *controlPlane, sale bigSale) {
	p, s := sale.promise, sale.script(t, "no-dated-trigger")
	s.object.Spec.Triggers = slices.DeleteFunc(s.object.Spec.Triggers, func(trigger kedav1alpha1.ScaleTriggers) bool {
		return trigger.Name == "event_big_sale"
	})
	r := c.start(t, s)
	r.prometheus.skipTo(t, p.start.Add(-time.Minute))
	r.runUntil(t, p.start.Add(40*time.Minute), func(m moment) bool {
		return float64(m.ready)*(1+hpaTolerance)*r.targets["s0-prometheus"] >= float64(sale.load.peak)
	})
	r.printReplicas(t)
	log, lastAsked := r.happened()
	const want = "at the start 24 of 46 pods are ready"
	if broken := p.broken(log, lastAsked); !slices.Contains(broken, want) {
		t.Errorf("broken: %q, want among them %q", broken, want)
	}
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
	behavior := r.object.Spec.Advanced.HorizontalPodAutoscalerConfig.Behavior.DeepCopy()
	behavior.ScaleDown.SelectPolicy = new(autoscalingv2.MaxChangePolicySelect) // the API server's default
	if diff := cmp.Diff(behavior, r.hpa.Spec.Behavior); diff != "" {
		t.Errorf("the behavior of KEDA's HPA (-written +got):\n%s", diff)
	}
	if !metav1.IsControlledBy(&r.hpa, r.object) {
		t.Errorf("KEDA's HPA has the owners %v", r.hpa.OwnerReferences)
	}
}
