package plan

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// scaling decides the ScaledObject of every workload that meshgen scales: its
// bounds, its targets, and how many pods each event needs from when on.
func (b *builder) scaling() {
	b.judgeScalers()
	for i := range b.workloads {
		b.judgeDisagreements(&b.workloads[i])
	}
	b.judgeNames()
	b.callees()
	if !b.judgeOpenZones() {
		return
	}
	for i := range b.workloads {
		if w := &b.workloads[i]; b.managed(w) && !b.full() {
			b.scale(w)
		}
	}
	b.judgeAuthentication()
}

// judgeAuthentication warns where triggers of workloads ask Prometheus with
// credentials that KEDA looks for in the workload's own namespace.
func (b *builder) judgeAuthentication() {
	a := b.spec().Metrics.AuthenticationRef
	if a == nil || a.Kind != "TriggerAuthentication" {
		return
	}
	var namespaces []string
	for _, w := range b.workloads {
		if w.Scaling != nil && asksPrometheus(w.Scaling) && w.Namespace != b.spec().Istio.Namespace {
			namespaces = append(namespaces, w.Namespace)
		}
	}
	if namespaces = distinct(namespaces); len(namespaces) == 0 {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/authentication-namespace",
		Message: fmt.Sprintf("triggers of workloads name TriggerAuthentication %s, which KEDA looks for in their own namespace: it must be in %s too", a.Name, few(namespaces)),
		Hint:    "make it a ClusterTriggerAuthentication and set spec.metrics.authenticationRef.kind, or put one of that name into each of these namespaces",
	}, "spec.metrics.authenticationRef")
}

func asksPrometheus(s *Scaling) bool {
	return slices.ContainsFunc(s.Triggers, func(t Trigger) bool { return t.Query != "" })
}

// judgeOpenZones counts the zones that workloads may use. ok is false when some
// workload is scaled by meshgen and there is none.
func (b *builder) judgeOpenZones() (ok bool) {
	b.openZones = int64(len(b.sharedZones()))
	scaled := slices.ContainsFunc(b.workloads, func(w deployed) bool { return b.managed(&w) })
	if b.openZones > 0 || !scaled {
		return true
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/workloads-nowhere-to-run",
		Message: fmt.Sprintf("workloads may use no node in any of the %d zones: every pool is empty or tainted, and how many pods survive the loss of a zone cannot be said", len(b.spec().Zones)),
		Hint:    "add a pool with nodes and without NoSchedule or NoExecute taints",
	}, "spec.zones")
	return false
}

// sharedZones are the zones with nodes that pods without tolerations may use, as
// indices into spec.zones.
func (b *builder) sharedZones() []int {
	var zones []int
	for i, z := range b.spec().Zones {
		if slices.ContainsFunc(z.NodePools, func(p profile.NodePool) bool { return p.Nodes.Now > 0 && untainted(p) }) {
			zones = append(zones, i)
		}
	}
	return zones
}

// untainted reports whether pods without tolerations may stand on the pool's
// nodes.
func untainted(p profile.NodePool) bool {
	return !slices.ContainsFunc(p.Taints, func(t profile.Taint) bool { return t.Effect != "PreferNoSchedule" })
}

// scale decides one workload's ScaledObject.
func (b *builder) scale(w *deployed) {
	s, path := b.service(w.services[0]), servicePath(w.services[0])
	runs := s.Autoscaling.Running
	w.Scaling = &Scaling{HPA: runs.HPA, ReplicasInManifest: runs.ReplicasInManifest != nil && *runs.ReplicasInManifest}
	w.Scaling.Name, _ = b.scaledObject(w)
	if runs.ScaledObject != "" { // which owns its HPA
		w.Scaling.HPA, w.Scaling.Extends = "", true
	}
	b.judgeRunning(w, path)
	b.bounds(w, s.Replicas, path)
	if !w.Scaling.Extends {
		b.targets(w, s.Autoscaling, path+".autoscaling")
	}
	for i := range w.prescales {
		b.prescaled(w, &w.prescales[i])
	}
	b.workloadFallback(w, path)
}

// bounds decides the fewest and the most replicas: what the profile says.
func (b *builder) bounds(w *deployed, bounds profile.Replicas, path string) {
	w.Scaling.Min, w.Scaling.Max = bounds.Min, bounds.Max
	w.Scaling.MinReason = "the replicas of rest, as the profile says; events add to them"
	w.Scaling.MaxReason = "the ceiling that the profile sets; no event may need more"
	for _, d := range []struct {
		name   string
		value  int64
		reason string
	}{{"min", bounds.Min, w.Scaling.MinReason}, {"max", bounds.Max, w.Scaling.MaxReason}} {
		from := path + ".replicas." + d.name
		terms := []Term{{Name: d.name, Value: big.NewRat(d.value, 1), Unit: "replicas", From: from}}
		b.decide(&derivation{terms: terms}, Decision{
			Subject: w.Subject() + ".replicas." + d.name, Value: d.value, Unit: "replicas",
			Reason: d.reason, Source: "the profile",
		}, from)
	}
	if bounds.Min == 0 {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/scale-to-zero", Subject: w.Subject() + ".replicas.min",
			Message: fmt.Sprintf("replicas.min of %s/%s is 0: outside events KEDA takes its last pod away, and no utilisation of no pod brings one back", w.Namespace, w.Name),
			Hint:    fmt.Sprintf("set %s.replicas.min to at least 1, or autoscaling.managedBy to none", path),
		}, path+".replicas.min")
	}
}

// defaultCPUUtilization is the target where the profile gives none and nothing
// runs whose target could be kept, in percent of the request: a pod at it has
// room for two thirds more until the HPA's new pods are ready.
const defaultCPUUtilization = 60

// targets decides the utilisations that the autoscaler aims at.
func (b *builder) targets(w *deployed, a profile.Autoscaling, path string) {
	cpu := a.CPUUtilization
	if cpu == nil && a.MemoryUtilization == nil {
		if a.Running.HPA != "" {
			b.metricsUnknown(w, a.Running.HPA, path)
			return
		}
		standard := int64(defaultCPUUtilization)
		cpu = &standard
	}
	if cpu != nil {
		w.Scaling.CPUUtilization = *cpu
		b.target(w, "cpuUtilization", *cpu, path)
	}
	if m := a.MemoryUtilization; m != nil {
		w.Scaling.MemoryUtilization = *m
		b.target(w, "memoryUtilization", *m, path)
	}
}

func (b *builder) target(w *deployed, name string, percent int64, path string) {
	of := "the whole pod requests, its sidecar included"
	if w.Container != "" {
		of = "container " + w.Container + " requests, without the sidecar"
	}
	at := path + "." + name
	terms := []Term{{Name: "target", Value: big.NewRat(percent, 1), Unit: "%", From: at, Default: !b.profile.Given(at)}}
	b.decide(&derivation{terms: terms}, Decision{
		Subject: w.Subject() + "." + name, Value: percent, Unit: "% of the request",
		Reason: fmt.Sprintf("the HPA adds pods above %d %% of what %s", percent, of),
		Source: "a Resource metric averages over all containers, a ContainerResource metric over one",
	}, at)
}

func (b *builder) metricsUnknown(w *deployed, hpa, path string) {
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/hpa-metrics-unknown", Subject: w.Subject(),
		Message: fmt.Sprintf("HPA %s scales %s/%s today and the profile says none of its metrics: taking it over would drop them", hpa, w.Namespace, w.Name),
		Hint:    "give its targets as autoscaling.cpuUtilization or memoryUtilization; where it has other metrics, move them into a ScaledObject first and name that in autoscaling.running.scaledObject",
	}, path)
}

// workloadFallback decides the replicas while Prometheus does not answer, where
// a trigger asks it.
func (b *builder) workloadFallback(w *deployed, path string) {
	if !asksPrometheus(w.Scaling) {
		return
	}
	largest := int64(0)
	for _, p := range w.prescales {
		largest = max(largest, p.replicas)
	}
	d := &derivation{terms: []Term{
		{Name: "Nmin", Value: big.NewRat(w.Scaling.Min, 1), Unit: "replicas", From: w.Subject() + ".replicas.min"},
		{Name: "Nevent", Value: big.NewRat(largest, 1), Unit: "replicas", Note: "the most that any event asks for"},
	}}
	w.Scaling.Fallback = d.whole("fallback", "max(Nevent, Nmin)", "replicas")
	b.decide(d, Decision{
		Subject: w.Subject() + ".fallback.replicas", Value: w.Scaling.Fallback, Unit: "replicas",
		Reason: "with Prometheus down the largest event is still met, and nothing is scaled in",
		Source: "KEDA fallback with behavior currentReplicasIfHigher",
	}, path)
}
