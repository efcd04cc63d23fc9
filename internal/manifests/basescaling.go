package manifests

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// scalers are the base's autoscalers by what they scale.
func (j *baseJudge) scalers() map[ref][]baseObject {
	all := map[ref][]baseObject{}
	for _, kind := range []string{"HorizontalPodAutoscaler", "ScaledObject"} {
		for _, o := range j.byKind[kind] {
			target := o.target()
			all[target] = append(all[target], o)
		}
	}
	return all
}

// target is the workload that an autoscaler scales; KEDA takes no kind for a
// Deployment.
func (o baseObject) target() ref {
	object := Object{Object: o.object}
	kind := object.text("spec", "scaleTargetRef", "kind")
	if kind == "" {
		kind = "Deployment"
	}
	return ref{kind, o.ref.namespace, object.text("spec", "scaleTargetRef", "name")}
}

// scaling judges who scales the workload o today: exactly who the profile names,
// with nothing that would be lost.
func (j *baseJudge) scaling(w workload, o baseObject, scalers map[ref][]baseObject) {
	named := ref{}
	if w.Scaling.HPA != "" && !j.gone[w.hpa()] {
		named = w.hpa()
	}
	if w.Scaling.Extends {
		named = w.scaledObject()
	}
	taken := baseObject{}
	if own := j.base.index[ref{"ScaledObject", j.namespace(w.ref()), w.Scaling.Name}]; len(own) > 0 && !w.Scaling.Extends {
		j.stranger(w, own[0])
		return
	}
	if named != (ref{}) {
		var ok bool
		if taken, ok = j.locate(named); !ok {
			return
		}
	}
	all := slices.Clone(scalers[o.ref])
	if o.source != o.ref.name { // kustomize leaves the reference of a ScaledObject as it was
		all = append(all, scalers[o.ref.named(o.source)]...)
	}
	for _, s := range all {
		if s.ref != taken.ref {
			j.stranger(w, s)
		}
	}
	if !w.Scaling.Extends {
		j.requests(w, o)
	}
	switch named.kind {
	case "HorizontalPodAutoscaler":
		j.takenOver(w, taken)
	case "ScaledObject":
		j.extended(w, o, taken)
	}
}

func (j *baseJudge) stranger(w workload, s baseObject) {
	if label, _ := get(s.object, managedBy); label == "meshgen" {
		j.add(diag.Error, "manifests/base-autoscaler", s, []any{"metadata", "name"},
			fmt.Sprintf("%s of the base is meshgen's own: the base holds the generated Component already, and it would come over itself", s.ref),
			"give --base what lies below the Components: the kustomization that yours with `components:` has under resources")
		return
	}
	field := "hpa"
	if s.ref.kind == "ScaledObject" {
		field = "scaledObject"
	}
	j.add(diag.Error, "manifests/base-autoscaler", s, []any{"metadata", "name"},
		fmt.Sprintf("%s of the base scales %s, and the profile does not say so: beside ours two autoscalers would fight over %s", s.ref, s.target(), w.ref()),
		fmt.Sprintf("name it in spec.services[].autoscaling.running.%s, or set managedBy to none", field))
}

// takenOver judges an HPA that a ScaledObject of ours takes the place of.
func (j *baseJudge) takenOver(w workload, o baseObject) {
	if o.ref.name != w.Scaling.HPA {
		j.add(diag.Error, "manifests/base-two-names", o, []any{"metadata", "name"},
			fmt.Sprintf("%s is called %s once the base has put its prefix on: KEDA would look for an HPA %s that is not there, and the one that is would go", w.hpa(), o.ref.name, w.Scaling.HPA),
			fmt.Sprintf("write the names that the cluster has into the profile, such as autoscaling.running.hpa: %s, and keep the Component over the kustomization that sets the prefix: no reference follows an HPA that is taken out", o.ref.name))
		return
	}
	j.bounds(o, "minReplicas", "maxReplicas", 1, 0, w)
	metrics, _ := get(o.object, []any{"spec", "metrics"})
	list, _ := metrics.([]any)
	for i, metric := range list {
		if lost := w.loses(metric); lost != "" {
			j.add(diag.Error, "manifests/base-metrics", o, []any{"spec", "metrics", i},
				fmt.Sprintf("%s scales on %s, which the ScaledObject that takes it over does not", o.ref, lost),
				"give the profile its utilization; for any other metric, make it a ScaledObject first and name that in running.scaledObject: its triggers stay")
		}
	}
	if behavior, _ := get(o.object, []any{"spec", "behavior"}); behavior != nil {
		j.add(diag.Error, "manifests/base-metrics", o, []any{"spec", "behavior"},
			fmt.Sprintf("%s has a behavior of its own, which the ScaledObject that takes it over does not", o.ref),
			"make it a ScaledObject with that behavior first, and name it in running.scaledObject: what it has stays")
	}
}

// loses is a metric that the planned triggers do not have; empty when they do.
func (w workload) loses(metric any) string {
	kind, _ := at(metric, "type").(string)
	name, _ := at(metric, "resource", "name").(string)
	percent, isPercent := at(metric, "resource", "target", "averageUtilization").(int)
	planned := map[string]int64{"cpu": w.Scaling.CPUUtilization, "memory": w.Scaling.MemoryUtilization}
	switch {
	case kind != "Resource":
		return fmt.Sprintf("a metric of type %s", kind)
	case !isPercent:
		return fmt.Sprintf("%s by another target than a utilization", name)
	case planned[name] != int64(percent):
		return fmt.Sprintf("%s at %d %%", name, percent)
	}
	return ""
}

// extended judges a ScaledObject that runs and gets triggers of ours.
func (j *baseJudge) extended(w workload, target, o baseObject) {
	if got := o.target(); got != target.ref && got != target.ref.named(target.source) {
		j.add(diag.Error, "manifests/base-autoscaler", o, []any{"spec", "scaleTargetRef"},
			fmt.Sprintf("%s scales %s in the base, the profile says %s", o.ref, got, w.ref()),
			"correct spec.services[].autoscaling.running.scaledObject")
	}
	if triggers, _ := get(o.object, []any{"spec", "triggers"}); triggers == nil {
		j.add(diag.Error, "manifests/base-autoscaler", o, []any{"spec"},
			fmt.Sprintf("%s has no triggers in the base: KEDA refuses it, and those of events come after its own", o.ref),
			"give it the triggers that scale the workload outside events")
	}
	j.bounds(o, "minReplicaCount", "maxReplicaCount", 0, 100, w)
}

// requests finds containers whose utilization cannot be computed: a share of
// nothing is requested. A LimitRange may fill it in, so it is a warning.
func (j *baseJudge) requests(w workload, o baseObject) {
	containers, _ := get(o.object, []any{"spec", "template", "spec", "containers"})
	list, _ := containers.([]any)
	for i, c := range list {
		name, _ := at(c, "name").(string)
		if w.Container != "" && name != w.Container {
			continue
		}
		path := []any{"spec", "template", "spec", "containers", i}
		j.request(o, path, c, "cpu", w.Scaling.CPUUtilization)
		j.request(o, path, c, "memory", w.Scaling.MemoryUtilization)
	}
}

func (j *baseJudge) request(o baseObject, path []any, container any, resource string, percent int64) {
	if percent == 0 || at(container, "resources", "requests", resource) != nil || at(container, "resources", "limits", resource) != nil {
		return
	}
	j.add(diag.Warning, "manifests/base-requests", o, path,
		fmt.Sprintf("container %v of %s requests no %s in the base, and the ScaledObject aims at %d %% of what it requests: KEDA refuses that unless a LimitRange fills it in", at(container, "name"), o.ref, resource, percent),
		"give the container a request, or name in workload.container the one that has it")
}

// bounds finds a floor or a ceiling that the plan would lower. What is absent
// has the API's default.
func (j *baseJudge) bounds(o baseObject, low, high string, lowDefault, highDefault int, w workload) {
	for _, b := range []struct {
		field   string
		absent  int
		planned int64
	}{{low, lowDefault, w.Scaling.Min}, {high, highDefault, w.Scaling.Max}} {
		path := []any{"spec", b.field}
		value, _ := get(o.object, path)
		n, given := value.(int)
		if !given {
			n = b.absent
		}
		if int64(n) > b.planned {
			j.add(diag.Error, "manifests/base-bounds", o, path,
				fmt.Sprintf("%s has %s %d in the base, planned is %d: a margin that the cluster has today", o.ref, b.field, n, b.planned),
				"raise spec.services[].replicas to what runs, or lower it in the base first")
		}
	}
}

// compare holds what the Components made of the base against what it was. The
// objects are under the names of the plan.
func (j *baseJudge) compare(after []baseObject, components map[string]*component) ([]Object, error) {
	was, is := byRef(j.base.objects), byRef(after)
	parts := partsOf(j.in.Plan)
	var objects []Object
	for _, namespace := range slices.Sorted(maps.Keys(components)) {
		for _, p := range parts[namespace] {
			for _, change := range p.changes(j.built(p.ref()).name, j.in.Plan.Istiod.ServerAddress) {
				object, err := j.settle(p, change, was, is)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", components[namespace].where(change.ref), err)
				}
				if object.Object == nil {
					continue
				}
				object.File = components[namespace].file(change.ref)
				if change.effect == spared {
					object.File = components[namespace].file(p.workload.scaledObject())
				}
				objects = append(objects, object)
			}
		}
	}
	return objects, untouched(was, is)
}

// settle judges one change and takes its object out of both sides.
func (j *baseJudge) settle(p part, c change, was, is map[ref]map[string]any) (Object, error) {
	planned := c.ref
	c.ref = j.built(planned)
	before, after := was[c.ref], is[c.ref]
	delete(was, c.ref)
	delete(is, c.ref)
	if err := c.judge(before, after); err != nil {
		return Object{}, err
	}
	scaled := c.effect == spared && p.workload != nil && p.workload.Scaling != nil
	if c.effect != patched && c.effect != added && !scaled {
		return Object{}, nil
	}
	j.rename(p, planned, after)
	return Object{Object: after}, nil
}

// untouched judges all that the plan says nothing of.
func untouched(was, is map[ref]map[string]any) error {
	for _, r := range slices.SortedFunc(maps.Keys(was), compareRefs) {
		if err := (change{ref: r, effect: spared}).judge(was[r], is[r]); err != nil {
			return err
		}
		delete(is, r)
	}
	for _, r := range slices.SortedFunc(maps.Keys(is), compareRefs) {
		return fmt.Errorf("%s comes out, and is not planned", r)
	}
	return nil
}

func byRef(objects []baseObject) map[ref]map[string]any {
	all := map[ref]map[string]any{}
	for _, o := range objects {
		all[o.ref] = o.object
	}
	return all
}

// built is what a planned object is in the build.
func (j *baseJudge) built(r ref) ref {
	if o, ok := j.actual[r]; ok {
		return o.ref
	}
	return ref{r.kind, j.namespace(r), r.name}
}

// rename puts an object of the part under the names that the plan has.
func (j *baseJudge) rename(p part, planned ref, object map[string]any) {
	metadata := object["metadata"].(map[string]any)
	metadata["name"], metadata["namespace"] = planned.name, planned.namespace
	target, ok := at(object, "spec", "scaleTargetRef").(map[string]any)
	if ok && target["name"] == j.built(p.ref()).name {
		target["name"] = p.ref().name
	}
}
