package manifests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// baseJudge holds the user's base against the plan before anything is patched.
type baseJudge struct {
	in     Input
	base   *base
	byKind map[string][]baseObject
	actual map[ref]baseObject // what each planned object is in the base
	taken  map[ref]ref        // the planned object that each of the base's is
	gone   map[ref]bool       // HPAs that an earlier run has taken out
	found  diag.List
}

// apiVersions are those that the patches are for: kustomize takes an object of
// another version for another object.
func apiVersion(kind string) string {
	switch kind {
	case "Deployment", "StatefulSet":
		return "apps/v1"
	case "HorizontalPodAutoscaler":
		return "autoscaling/v2"
	case "ScaledObject":
		return "keda.sh/v1alpha1"
	}
	return "v1"
}

func (j *baseJudge) judge() {
	j.byKind = map[string][]baseObject{}
	for _, o := range j.base.objects {
		j.byKind[o.ref.kind] = append(j.byKind[o.ref.kind], o)
	}
	running := j.running()
	scalers := j.scalers()
	for _, w := range j.in.Plan.Workloads {
		j.workload(workload{w}, scalers)
	}
	written := map[string]bool{}
	for _, r := range j.in.Plan.Routes {
		written[r.Subject()] = true
		j.route(route{r}, running[r.Subject()])
	}
	for _, d := range j.in.Plan.Decisions {
		if r, ok := routeOf(d.Subject); ok && !written[d.Subject] {
			j.unwritten(r, running[d.Subject])
		}
	}
}

// routeOf is the Service that a decision on zone routing is about.
func routeOf(subject string) (route, bool) {
	name, ok := strings.CutPrefix(strings.TrimSuffix(subject, ".trafficDistribution"), "service/")
	namespace, name, _ := strings.Cut(name, "/")
	return route{plan.Route{Namespace: namespace, Name: name}}, ok
}

// running is what the profile says of today's zone routing, by decision.
func (j *baseJudge) running() map[string]string {
	all := map[string]string{}
	for _, d := range j.in.Plan.Decisions {
		if d.Running != nil && strings.HasPrefix(d.Subject, "service/") {
			all[d.Subject] = fmt.Sprint(d.Running.Value)
		}
	}
	return all
}

// add is a finding where the base has the object's field.
func (j *baseJudge) add(severity diag.Severity, id string, o baseObject, path []any, message, hint string) {
	pos, ok := j.base.sources.position(o, path...)
	if !ok {
		pos = j.base.kustomization()
	} else {
		pos.File = j.base.show(pos.File)
	}
	j.found = append(j.found, diag.Finding{Severity: severity, ID: id, Pos: pos, Subject: o.ref.String(), Message: message, Hint: hint})
}

// locate finds the one object of the base that a patch for r would change, as
// kustomize does: by the name that it has now, or had before a prefix. ok is
// false, and a finding says why, when there is none or more than one.
func (j *baseJudge) locate(r ref) (baseObject, bool) {
	var matches []baseObject
	for _, o := range j.base.index[ref{r.kind, j.namespace(r), r.name}] {
		if o.version() == apiVersion(r.kind) {
			matches = append(matches, o)
		}
	}
	switch len(matches) {
	case 0:
		j.missing(r)
		return baseObject{}, false
	case 1:
		return matches[0], j.take(r, matches[0])
	}
	var names []string
	for _, o := range matches {
		names = append(names, o.ref.name)
	}
	slices.Sort(names)
	j.add(diag.Error, "manifests/base-two-names", matches[0], []any{"metadata", "name"},
		fmt.Sprintf("the base has %s %d times, as %s: a patch for %s would be for each of them, and kustomize refuses", r, len(matches), strings.Join(names, " and "), r.name),
		"put the generated Component into each kustomization that sets a namePrefix, beside the base, and give --base one of these")
	return baseObject{}, false
}

// take notes what a planned object is in the base. Where bases have no namespace,
// one object may answer to two.
func (j *baseJudge) take(r ref, o baseObject) bool {
	if other, taken := j.taken[o.ref]; taken {
		j.add(diag.Error, "manifests/base-namespace", o, []any{"metadata", "name"},
			fmt.Sprintf("%s and %s are one object in the base, which has no namespaces: the patches of both would change it", other, r),
			"prove each namespace over a base of its own: give --base the kustomization that sets the namespaces, and leave spec.kubernetes.bases.namespaced out")
		return false
	}
	j.actual[r], j.taken[o.ref] = o, r
	return true
}

// namespace is the one that the base's object has when the profile is right.
func (j *baseJudge) namespace(r ref) string {
	if j.in.Plan.Bases.Namespaced {
		return r.namespace
	}
	return ""
}

func (o baseObject) version() string { return Object{Object: o.object}.text("apiVersion") }

// missing says what the base has in place of an object that a patch is for.
func (j *baseJudge) missing(r ref) {
	const id = "manifests/base-missing"
	var names []string
	for _, o := range j.byKind[r.kind] {
		switch {
		case o.ref.name != r.name && o.source != r.name:
			if o.ref.namespace == j.namespace(r) {
				names = append(names, o.ref.name)
			}
		case o.ref.namespace == j.namespace(r):
			j.add(diag.Error, id, o, []any{"apiVersion"},
				fmt.Sprintf("%s is %s in the base, and its patch is for %s: kustomize takes them for two objects", r, o.version(), apiVersion(r.kind)),
				"write it as "+apiVersion(r.kind)+" in the base")
			return
		default:
			j.wrongNamespace(r, o)
			return
		}
	}
	hint := "add it to the base, or correct its name in the profile"
	if other := (ref{otherKind(r.kind), j.namespace(r), r.name}); len(j.base.index[other]) > 0 {
		hint = "the base has a " + other.kind + " of that name: correct spec.services[].workload.kind"
	} else if nearest, ok := diag.Nearest(r.name, names); ok {
		hint = "the nearest in the base is " + nearest + "; the profile and the base must call it the same"
	}
	j.found = append(j.found, diag.Finding{
		Severity: diag.Error, ID: id, Pos: j.base.kustomization(), Subject: r.String(),
		Message: fmt.Sprintf("the base builds no %s, which a patch is for: applying it would fail", r), Hint: hint,
	})
}

// otherKind is the kind that a workload may be mistaken for.
func otherKind(kind string) string {
	switch kind {
	case "Deployment":
		return "StatefulSet"
	case "StatefulSet":
		return "Deployment"
	}
	return ""
}

func (j *baseJudge) wrongNamespace(r ref, o baseObject) {
	message := fmt.Sprintf("the base has %s in namespace %s, the profile has it in %s: a patch for one does not find the other", o.ref.name, o.ref.namespace, r.namespace)
	hint := "correct the namespace in the profile, or in the base"
	switch {
	case o.ref.namespace == "":
		message = fmt.Sprintf("%s has no namespace in the base, and its patch is for namespace %s: kustomize takes them for two objects", r, r.namespace)
		hint = "set spec.kubernetes.bases.namespaced to false in the profile, and put the Component where the namespace is set; or give --base the kustomization that sets it"
	case !j.in.Plan.Bases.Namespaced:
		message = fmt.Sprintf("the base puts %s into namespace %s, and spec.kubernetes.bases.namespaced says that bases have none: what the Component adds would have none", r.name, o.ref.namespace)
		hint = "leave spec.kubernetes.bases.namespaced out of the profile, or give --base the kustomization that does not set the namespace yet"
	}
	j.add(diag.Error, "manifests/base-namespace", o, []any{"metadata", "namespace"}, message, hint)
}

// workload judges the pods' template, and who scales them.
func (j *baseJudge) workload(w workload, scalers map[ref][]baseObject) {
	o, ok := j.locate(w.ref())
	if !ok {
		return
	}
	j.labels(w, o)
	if w.Spread != nil {
		j.spread(w, o)
	}
	if w.Scaling == nil {
		return
	}
	j.replicas(w, o)
	j.scaling(w, o, scalers)
}

func (j *baseJudge) labels(w workload, o baseObject) {
	path := []any{"spec", "template", "metadata", "labels"}
	value, _ := get(o.object, path)
	labels, _ := value.(map[string]any)
	for _, key := range sortedKeys(w.Labels) {
		if labels[key] != w.Labels[key] {
			j.add(diag.Error, "manifests/base-labels", o, path,
				fmt.Sprintf("the pods of %s have %s in the base, the profile says %s: %s: constraints would count none of them", w.ref(), labelled(labels, key), key, w.Labels[key]),
				"correct spec.services[].workload.labels: they must be labels that these pods have")
			return
		}
	}
}

func labelled(labels map[string]any, key string) string {
	if value, ok := labels[key]; ok {
		return fmt.Sprintf("%s: %v", key, value)
	}
	return "no label " + key
}

// spread finds a margin that the cluster has today and ours would not have.
func (j *baseJudge) spread(w workload, o baseObject) {
	value, _ := get(o.object, spreadPath)
	list, _ := value.([]any)
	for i, item := range list {
		c := constraintOf(item)
		path := append(slices.Clone(spreadPath), i)
		if !w.keeps(c) {
			j.add(diag.Error, "manifests/base-spread", o, path,
				fmt.Sprintf("%s is spread by %s in the base, a margin that the cluster has today and the planned list does not have (%s)", w.ref(), c, w.planned()),
				"list it under spec.services[].workload.topologySpreadConstraints to keep it, or take it out of the base first")
		} else if c.minDomains > 0 {
			j.add(diag.Warning, "manifests/base-spread", o, append(path, "minDomains"),
				fmt.Sprintf("%s has minDomains %d on %s in the base, which the planned list does not have", w.ref(), c.minDomains, c.key),
				"with a zone down fewer domains are left than it asks for, and no pod could be placed; without it, a cluster with nodes in one zone alone may place all there")
		}
	}
}

// constraint is a topology spread constraint of the base.
type constraint struct {
	key, when           string
	maxSkew, minDomains int
}

func constraintOf(item any) constraint {
	c := constraint{}
	c.key, _ = at(item, "topologyKey").(string)
	c.when, _ = at(item, "whenUnsatisfiable").(string)
	c.maxSkew, _ = at(item, "maxSkew").(int)
	c.minDomains, _ = at(item, "minDomains").(int)
	return c
}

func (c constraint) hard() bool { return c.when != "ScheduleAnyway" }

func (c constraint) String() string { return fmt.Sprintf("%s %s %d", c.key, c.when, c.maxSkew) }

// keeps reports whether a planned constraint is at least as strict.
func (w workload) keeps(c constraint) bool {
	for _, s := range w.Spread {
		if s.TopologyKey == c.key && s.MaxSkew <= int64(c.maxSkew) && (s.WhenUnsatisfiable == "DoNotSchedule" || !c.hard()) {
			return true
		}
	}
	return false
}

func (w workload) planned() string {
	all := []string{}
	for _, s := range w.Spread {
		all = append(all, s.String())
	}
	if len(all) == 0 {
		return "no constraint"
	}
	return strings.Join(all, "; ")
}

func (j *baseJudge) replicas(w workload, o baseObject) {
	path := []any{"spec", "replicas"}
	if n, _ := get(o.object, path); n != nil {
		j.add(diag.Error, "manifests/base-replicas", o, path,
			fmt.Sprintf("%s keeps spec.replicas %v in the base, and ScaledObject %s scales it: each sync would reset what the autoscaler set", w.ref(), n, w.Scaling.Name),
			w.dropsReplicas())
	}
}

// dropsReplicas is how spec.replicas leaves a manifest without its pods going.
func (w workload) dropsReplicas() string {
	if w.Scaling.ReplicasInManifest {
		return "take spec.replicas out of the base when step 1 of PLAN.md's two is done, not before; until then leave --base out of render and CI, for only step 2 applies what is proven here"
	}
	return fmt.Sprintf("set autoscaling.running.replicasInManifest and adopt in the two steps that PLAN.md then gives: dropped at once the field resets the workload from %d or more pods to 1", w.Scaling.Min)
}

// route tells what today's routing is where the profile does not.
func (j *baseJudge) route(r route, running string) {
	if o, ok := j.locate(r.ref()); ok {
		j.unmentioned(r, o, running, "the plan did not weigh it, and the patch replaces it")
	}
}

// unwritten is route for a Service of which nothing is written; the base need not
// have it.
func (j *baseJudge) unwritten(r route, running string) {
	at := r.ref()
	at.namespace = j.namespace(at)
	for _, o := range j.base.index[at] {
		j.unmentioned(r, o, running, "the plan did not weigh it, and it stays")
	}
}

func (j *baseJudge) unmentioned(r route, o baseObject, running, fate string) {
	for _, path := range [][]any{distributionPath, modePath, hintsPath} {
		value, _ := get(o.object, path)
		if value == nil || strings.Contains(running, fmt.Sprint(value)) || slices.Equal(path, distributionPath) && value == r.TrafficDistribution {
			continue
		}
		j.add(diag.Warning, "manifests/base-routing", o, path,
			fmt.Sprintf("%s has %s %v in the base, which the profile does not mention: %s", r.ref(), path[len(path)-1], value, fate),
			"say it under spec.services[].routing, so that the plan compares what runs with what it writes")
	}
}
