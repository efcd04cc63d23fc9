package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// judgeScalers finds Services whose events nobody scales for, and Services that
// meshgen is told to scale without a workload.
func (b *builder) judgeScalers() {
	for i := range b.spec().Services {
		s, path := b.service(i), servicePath(i)
		switch {
		case s.Autoscaling.ManagedBy == "meshgen" && s.Workload == nil:
			b.find(diag.Finding{
				Severity: diag.Error, ID: "plan/workload-unknown", Subject: nameOf(s),
				Message: fmt.Sprintf("autoscaling.managedBy of %s is meshgen, and the profile names no workload to scale", nameOf(s)),
				Hint:    fmt.Sprintf("add workload: {kind: Deployment, name: %s} with the labels of its pods", s.Name),
			}, path+".autoscaling")
		case s.Autoscaling.ManagedBy != "meshgen" && len(s.Events) > 0:
			b.judgeUnmanaged(s, path)
		}
	}
}

func nameOf(s *profile.Service) string { return s.Namespace + "/" + s.Name }

// judgeUnmanaged judges a Service that names events and that meshgen does not
// scale.
func (b *builder) judgeUnmanaged(s *profile.Service, path string) {
	events := "event " + strings.Join(slices.Sorted(maps.Keys(s.Events)), ", ")
	runs := s.Autoscaling.Running
	if runs.HPA == "" && runs.ScaledObject == "" {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/nobody-scales", Subject: nameOf(s),
			Message: fmt.Sprintf("%s multiplies the load of %s, and nobody scales it: autoscaling.managedBy is none and nothing runs", events, nameOf(s)),
			Hint:    "set autoscaling.managedBy: meshgen, or name what scales it in autoscaling.running; without either take the event out",
		}, path+".events")
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/not-prescaled", Subject: nameOf(s),
		Message: fmt.Sprintf("%s multiplies the load of %s, which is not pre-scaled: autoscaling.managedBy is none, and %s adds pods only after the load has come", events, nameOf(s), scalerText(runs)),
		Hint:    "set autoscaling.managedBy: meshgen to take it over by name, or see to its pre-scale where it is written",
	}, path+".events")
}

func scalerText(runs profile.RunningAutoscaler) string {
	if runs.ScaledObject != "" {
		return "ScaledObject " + runs.ScaledObject
	}
	return "HPA " + runs.HPA
}

// judgeRunning judges what scales the workload today, and where its manifest
// stands in the way.
func (b *builder) judgeRunning(w *deployed, path string) {
	runs := b.service(w.services[0]).Autoscaling.Running
	if own := "keda-hpa-" + runs.ScaledObject; runs.ScaledObject != "" && runs.HPA != "" && runs.HPA != own {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/two-autoscalers", Subject: w.Subject(),
			Message: fmt.Sprintf("HPA %s and ScaledObject %s both scale %s/%s: KEDA's own HPA would be %s, so that each undoes what the other does", runs.HPA, runs.ScaledObject, w.Namespace, w.Name, own),
			Hint:    "keep one and name it alone; where the ScaledObject gives its HPA that name (horizontalPodAutoscalerConfig.name), leave autoscaling.running.hpa out",
		}, path+".autoscaling.running")
	}
	if w.Scaling.ReplicasInManifest {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/replicas-in-manifest", Subject: w.Subject(),
			Message: fmt.Sprintf("the manifest of %s/%s has spec.replicas: every apply sets its pods back to that number, and dropping it at once resets them to 1", w.Namespace, w.Name),
			Hint:    "adopt in the two steps that PLAN.md gives: first whoever applies lets go of the field, then it is dropped",
		}, path+".autoscaling.running.replicasInManifest")
	}
}

// longestName is the most characters of a ScaledObject's name: KEDA writes it
// into a label.
const longestName = 63

// judgeNames finds names that a ScaledObject cannot have: too long, or another's.
func (b *builder) judgeNames() {
	istiod := b.plan.Istiod
	taken := map[string]string{istiod.Namespace + "/" + istiod.Deployment: "istiod"}
	for i := range b.workloads {
		w := &b.workloads[i]
		if !b.managed(w) {
			continue
		}
		name, path := b.scaledObject(w)
		if len(name) > longestName {
			b.find(diag.Finding{
				Severity: diag.Error, ID: "plan/scaled-object-name", Subject: w.Subject(),
				Message: fmt.Sprintf("ScaledObject %s has %d characters, and KEDA takes at most %d", name, len(name), longestName),
				Hint:    "shorten the workload's name, or scale it with an autoscaler of another name and set autoscaling.managedBy to none",
			}, path)
		}
		if other, twice := taken[w.Namespace+"/"+name]; twice {
			b.sharedScaledObject(w, other, name, path)
		}
		taken[w.Namespace+"/"+name] = w.Subject()
	}
}

// scaledObject is the name of the workload's ScaledObject, and the field that
// gives it: the one that runs, else the workload's own.
func (b *builder) scaledObject(w *deployed) (name, path string) {
	path = servicePath(w.services[0])
	if runs := b.service(w.services[0]).Autoscaling.Running.ScaledObject; runs != "" {
		return runs, path + ".autoscaling.running.scaledObject"
	}
	return w.Name, path + ".workload.name"
}

func (b *builder) sharedScaledObject(w *deployed, other, name, path string) {
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/shared-scaled-object", Subject: w.Subject(),
		Message: fmt.Sprintf("%s and %s would both be scaled by ScaledObject %s, which has one target", other, w.Subject(), name),
		Hint:    "correct autoscaling.running.scaledObject: it names the ScaledObject of that workload alone",
	}, path)
}

// agreed are the fields that describe a workload: every Service in front of it
// says the same.
var agreed = []struct {
	field string
	text  func(*profile.Service) string
}{
	{"workload.kind", func(s *profile.Service) string { return s.Workload.Kind }},
	{"workload.container", func(s *profile.Service) string { return s.Workload.Container }},
	{"workload.labels", func(s *profile.Service) string { return labelsText(s.Workload.Labels) }},
	{"replicas", func(s *profile.Service) string { return fmt.Sprintf("%d to %d", s.Replicas.Min, s.Replicas.Max) }},
	{"requests.cpu", func(s *profile.Service) string { return quantityText(s.Requests.CPU) }},
	{"requests.memory", func(s *profile.Service) string { return quantityText(s.Requests.Memory) }},
	{"autoscaling.managedBy", func(s *profile.Service) string { return s.Autoscaling.ManagedBy }},
	{"autoscaling.cpuUtilization", func(s *profile.Service) string { return countText(s.Autoscaling.CPUUtilization) }},
	{"autoscaling.memoryUtilization", func(s *profile.Service) string { return countText(s.Autoscaling.MemoryUtilization) }},
	{"autoscaling.running.hpa", func(s *profile.Service) string { return s.Autoscaling.Running.HPA }},
	{"autoscaling.running.scaledObject", func(s *profile.Service) string { return s.Autoscaling.Running.ScaledObject }},
}

func quantityText(q *profile.Quantity) string {
	if q == nil {
		return ""
	}
	return profile.Exact(&q.Rat)
}

// labelsText is labels as a selector says them.
func labelsText(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return strings.Join(all, ",")
}

func countText(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// judgeDisagreements finds Services in front of one workload that do not
// describe the same workload.
func (b *builder) judgeDisagreements(w *deployed) {
	first := b.service(w.services[0])
	for _, i := range w.services[1:] {
		s := b.service(i)
		for _, a := range agreed {
			x, y := a.text(first), a.text(s)
			if x == y {
				continue
			}
			b.find(diag.Finding{
				Severity: diag.Error, ID: "plan/workload-disagreement", Subject: w.Subject(),
				Message: fmt.Sprintf("%s of %s is %s, and %s says %s of the same workload %s/%s", a.field, nameOf(s), quoted(y), nameOf(first), quoted(x), w.Namespace, w.Name),
				Hint:    fmt.Sprintf("both Services stand before one workload: give both the same %s", a.field),
			}, servicePath(i)+"."+a.field)
		}
	}
}

// quoted is a value for people, also where there is none.
func quoted(text string) string {
	if text == "" {
		return "not given"
	}
	return text
}
