package keda_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// script is what a Deployment of istiod goes through in a namespace of its own.
type script struct {
	namespace string
	from      time.Time // the clock when it begins
	load      meshLoad
	podDelay  time.Duration // from a new pod to a ready one
	replicas  int           // how many run when it begins
	event     int           // how many the event asks for
	object    *kedav1alpha1.ScaledObject
}

// scriptRun is a script on its way.
type scriptRun struct {
	script
	control    *controlPlane
	clock      *scriptClock
	prometheus *scriptPrometheus
	hpa        autoscalingv2.HorizontalPodAutoscaler // as KEDA made it
	podDelay   atomic.Int64                          // a time.Duration

	mu        sync.Mutex
	log       []moment
	lastAsked time.Time
	targets   map[string]float64 // what one replica stands for, by metric
}

// start begins a script once its pods are ready and the HPA that KEDA makes of
// the ScaledObject hears of them. The ScaledObject is changed in two ways: its
// durations run with the script, and it asks the script's Prometheus.
func (c *controlPlane) start(t *testing.T, s script) *scriptRun {
	t.Helper()
	clock := newScriptClock(s.from)
	r := &scriptRun{script: s, control: c, clock: clock, targets: map[string]float64{}}
	r.prometheus = startScriptPrometheus(t, clock, s.load, func() ([]string, error) { return c.readyPods(s.namespace) })
	c.add(r)
	c.createDeployment(t, s.namespace, s.object.Spec.ScaleTargetRef.Name, s.replicas)

	ctx, cancel := context.WithCancel(c.ctx)
	var scraping sync.WaitGroup
	scraping.Go(func() { r.prometheus.keepScraping(ctx, t, 15*time.Second) })
	t.Cleanup(func() {
		cancel()
		scraping.Wait()
	})

	r.object = s.object.DeepCopy()
	r.object.Namespace = s.namespace
	askPrometheus(r.object, r.prometheus.url)
	accelerate(t, r.object)
	if err := c.client.Create(ctx, r.object); err != nil {
		t.Fatal(err)
	}
	r.hpa = c.waitForHPA(t, r.object, "")
	r.begin()
	return r
}

// begin opens the log, with the pods that run.
func (r *scriptRun) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, metric := range r.hpa.Spec.Metrics {
		if metric.External != nil {
			r.targets[metric.External.Metric.Name] = metric.External.Target.AverageValue.AsApproximateFloat64()
		}
	}
	r.podDelay.Store(int64(r.script.podDelay))
	r.log = []moment{{r.clock.now(), r.replicas, r.replicas}}
}

func (r *scriptRun) scaled(replicas int) {
	r.note(func(m *moment) { m.wanted = replicas })
}

func (r *scriptRun) readied(pods int) {
	r.note(func(m *moment) { m.ready = pods })
}

// note adds a moment that differs from the last, once the script has begun.
func (r *scriptRun) note(change func(*moment)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.log) == 0 {
		return
	}
	last := r.log[len(r.log)-1]
	next := last
	change(&next)
	if next != last {
		next.at = r.clock.now()
		r.log = append(r.log, next)
	}
}

// answered notes when a trigger asks for the event's replicas.
func (r *scriptRun) answered(metric string, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if target := r.targets[metric]; target > 0 && value >= target*float64(r.event) {
		r.lastAsked = r.clock.now()
	}
}

// happened is the log up to now.
func (r *scriptRun) happened() ([]moment, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log), r.lastAsked
}

// runTo lets the script run to a time.
func (r *scriptRun) runTo(at time.Time) {
	time.Sleep(onWall(at.Sub(r.clock.now())))
}

// runUntil lets the script run until its last moment is as it shall be, and fails
// where it is not by a time.
func (r *scriptRun) runUntil(t *testing.T, by time.Time, done func(moment) bool) {
	t.Helper()
	for {
		log, _ := r.happened()
		last := log[len(log)-1]
		if done(last) {
			return
		}
		if r.clock.now().After(by) {
			t.Fatalf("at %s still %d are wanted and %d ready\n%s\n%s", clockTime(by), last.wanted, last.ready, replicaTable(log, r.load), r.control.said(r.object, r.hpa.Name))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// settledAt is a moment at which so many are wanted and ready.
func settledAt(replicas int) func(moment) bool {
	return func(m moment) bool { return m.wanted == replicas && m.ready == replicas }
}

// judge fails where a promise is not kept.
func (r *scriptRun) judge(t *testing.T, p promise) {
	t.Helper()
	r.printReplicas(t)
	log, lastAsked := r.happened()
	if broken := p.broken(log, lastAsked); len(broken) > 0 {
		t.Errorf("bigsale/istiod/scaledobject-istiod.yaml does not keep what the plan promises:\n%s\n%s", strings.Join(broken, "\n"), r.control.said(r.object, r.hpa.Name))
	}
}

func (r *scriptRun) printReplicas(t *testing.T) {
	t.Helper()
	log, _ := r.happened()
	t.Logf("\n%s", replicaTable(log, r.load))
}

// waitForFallback waits until KEDA says that it answers without its triggers.
func (r *scriptRun) waitForFallback(t *testing.T) {
	t.Helper()
	eventually(t, "KEDA falls back", func() (bool, error) {
		var found kedav1alpha1.ScaledObject
		err := r.control.client.Get(r.control.ctx, client.ObjectKeyFromObject(r.object), &found)
		fallback := found.Status.Conditions.GetFallbackCondition()
		return fallback.IsTrue(), err
	})
}

// said is what KEDA and the HPA controller say of a ScaledObject.
func (c *controlPlane) said(object *kedav1alpha1.ScaledObject, hpa string) string {
	var text strings.Builder
	var found kedav1alpha1.ScaledObject
	if err := c.client.Get(c.ctx, client.ObjectKeyFromObject(object), &found); err != nil {
		fmt.Fprintln(&text, err)
	}
	for _, condition := range found.Status.Conditions {
		fmt.Fprintf(&text, "KEDA: %s is %s: %s\n", condition.Type, condition.Status, condition.Message)
	}
	made, err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(object.Namespace).Get(c.ctx, hpa, metav1.GetOptions{})
	if err != nil {
		fmt.Fprintln(&text, err)
		return text.String()
	}
	for _, condition := range made.Status.Conditions {
		fmt.Fprintf(&text, "HPA %s: %s is %s: %s\n", hpa, condition.Type, condition.Status, condition.Message)
	}
	return text.String()
}

// renderedScaledObject is a ScaledObject of bigsale as meshgen rendered it.
func renderedScaledObject(t *testing.T, path string) *kedav1alpha1.ScaledObject {
	t.Helper()
	files := cluster.Rendered(t, "bigsale", path)
	if len(files) != 1 {
		t.Fatalf("bigsale/%s: %d files", path, len(files))
	}
	var object kedav1alpha1.ScaledObject
	if err := yaml.UnmarshalStrict([]byte(files[0].Text), &object); err != nil {
		t.Fatalf("%s: %v", files[0].Path, err)
	}
	return &object
}

// askPrometheus has each trigger ask the Prometheus of a test.
func askPrometheus(object *kedav1alpha1.ScaledObject, url string) {
	for _, trigger := range object.Spec.Triggers {
		if trigger.Metadata["serverAddress"] != "" {
			trigger.Metadata["serverAddress"] = url
		}
	}
}

// accelerate divides the durations of the HPA that KEDA is to make.
func accelerate(t *testing.T, object *kedav1alpha1.ScaledObject) {
	t.Helper()
	for _, seconds := range behaviorSeconds(object.Spec.Advanced.HorizontalPodAutoscalerConfig.Behavior) {
		if *seconds%speedUp != 0 {
			t.Fatalf("the behavior has a duration of %d s, which no whole seconds are %d times as fast as", *seconds, speedUp)
		}
		*seconds /= speedUp
	}
}

// behaviorSeconds are all the durations of a behavior.
func behaviorSeconds(b *autoscalingv2.HorizontalPodAutoscalerBehavior) []*int32 {
	var all []*int32
	for _, rules := range []*autoscalingv2.HPAScalingRules{b.ScaleUp, b.ScaleDown} {
		all = append(all, rules.StabilizationWindowSeconds)
		for i := range rules.Policies {
			all = append(all, &rules.Policies[i].PeriodSeconds)
		}
	}
	return all
}

const podContainer = "main"

func millicores(n int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(n, resource.DecimalSI)}
}

// createDeployment makes a namespace with a Deployment, and waits until its pods
// are ready.
func (c *controlPlane) createDeployment(t *testing.T, namespace, name string, replicas int) {
	t.Helper()
	if _, err := c.kube.CoreV1().Namespaces().Create(c.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	app := map[string]string{"app": name}
	container := corev1.Container{Name: podContainer, Image: name, Resources: corev1.ResourceRequirements{Requests: millicores(cpuRequest)}}
	made, err := c.kube.AppsV1().Deployments(namespace).Create(c.ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(replicas)),
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("%d pods of %s/%s are ready", replicas, namespace, name), func() (bool, error) {
		made, err = c.kube.AppsV1().Deployments(namespace).Get(c.ctx, name, metav1.GetOptions{})
		return err == nil && int(made.Status.ReadyReplicas) == replicas, err
	})
}

// waitForHPA is the HPA that KEDA makes of a ScaledObject, once the HPA
// controller has what it asks for. One that is known to be gone does not count.
func (c *controlPlane) waitForHPA(t *testing.T, object *kedav1alpha1.ScaledObject, gone types.UID) autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	var found autoscalingv2.HorizontalPodAutoscaler
	eventually(t, fmt.Sprintf("KEDA makes an HPA of %s/%s that scales", object.Namespace, object.Name), func() (bool, error) {
		all, err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(object.Namespace).List(c.ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(all.Items, func(h autoscalingv2.HorizontalPodAutoscaler) bool {
			return h.UID != gone && metav1.IsControlledBy(&h, object) && scales(h)
		})
		if i >= 0 {
			found = all.Items[i]
		}
		return i >= 0, nil
	})
	return found
}

// scales reports whether the HPA controller has seen an HPA as it is now, and has
// all that it needs to scale by it.
func scales(h autoscalingv2.HorizontalPodAutoscaler) bool {
	return len(h.Status.CurrentMetrics) == len(h.Spec.Metrics) && slices.ContainsFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionTrue
	})
}

// eventually waits for a minute, which is long for what takes the controllers a
// second.
func eventually(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var ok bool
		if ok, err = done(); ok {
			return
		}
	}
	t.Fatalf("not after a minute: %s (%v)", what, err)
}
