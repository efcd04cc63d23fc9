package manifests

import (
	"fmt"
	"strconv"

	"github.com/meshgen/meshgen/internal/plan"
)

// part is what was decided for one workload or one Service. An object belongs to
// one part alone, so a Component may be proven part by part.
type part struct {
	workload *workload
	route    *route
}

type workload struct{ plan.Workload }

type route struct{ plan.Route }

func (w workload) ref() ref { return ref{w.Kind, w.Namespace, w.Name} }

// scaledObject is the one that scales the workload, ours or one that is extended.
func (w workload) scaledObject() ref { return ref{"ScaledObject", w.Namespace, w.Scaling.Name} }

// hpa is the one that is taken over; the zero ref without one.
func (w workload) hpa() ref {
	if w.Scaling == nil || w.Scaling.HPA == "" {
		return ref{}
	}
	return ref{"HorizontalPodAutoscaler", w.Namespace, w.Scaling.HPA}
}

func (r route) ref() ref { return ref{"Service", r.Namespace, r.Name} }

// ref is the workload or the Service.
func (p part) ref() ref {
	if p.route != nil {
		return p.route.ref()
	}
	return p.workload.ref()
}

// partsOf are the plan's parts by namespace, in the plan's order.
func partsOf(p *plan.Plan) map[string][]part {
	parts := map[string][]part{}
	for _, w := range p.Workloads {
		parts[w.Namespace] = append(parts[w.Namespace], part{workload: &workload{w}})
	}
	for _, r := range p.Routes {
		parts[r.Namespace] = append(parts[r.Namespace], part{route: &route{r}})
	}
	return parts
}

// effect is what a Component does to an object.
type effect int

// A spared object must come out as it went in.
const (
	spared effect = iota
	patched
	added
	removed
)

// change is what the plan makes of one object: how it must come out at the paths
// that are meshgen's. Everywhere else a patched object must stay as it was.
type change struct {
	ref    ref
	effect effect
	owned  []owned
}

// shape is what kind of object is patched at which paths, with how much; values
// and names aside.
func (c change) shape() string {
	shape := c.ref.kind
	for _, o := range c.owned {
		amount := "set"
		switch w := o.want.(type) {
		case nil:
			amount = "deleted"
		case []any:
			amount = fmt.Sprint(len(w))
		case appended:
			amount = fmt.Sprint(len(w), " more")
		}
		shape += " " + dotted(o.path) + " " + amount
	}
	return shape
}

// owned is a path that is meshgen's, and the planned value: a plain one, which
// must be met exactly, nil for none, within or appended.
type owned struct {
	path []any
	want any
}

// within is a map that may have more keys than these.
type within map[string]any

// appended are the elements that come after those that were there.
type appended []any

var (
	spreadPath       = []any{"spec", "template", "spec", "topologySpreadConstraints"}
	distributionPath = []any{"spec", "trafficDistribution"}
	modePath         = []any{"metadata", "annotations", "service.kubernetes.io/topology-mode"}
	hintsPath        = []any{"metadata", "annotations", "service.kubernetes.io/topology-aware-hints"}
	transferPath     = []any{"metadata", "annotations", "scaledobject.keda.sh/transfer-hpa-ownership"}
)

// changes are what the part does to every object that it knows of. target is the
// name that the workload has in the build.
func (p part) changes(target, serverAddress string) []change {
	if p.route != nil {
		return []change{p.route.change()}
	}
	all := []change{p.workload.spreadChange()}
	if p.workload.Scaling == nil {
		return all
	}
	all = append(all, p.workload.scalingChange(target, serverAddress))
	if hpa := p.workload.hpa(); hpa != (ref{}) {
		all = append(all, change{ref: hpa, effect: removed})
	}
	return all
}

func (r route) change() change {
	var distribution any
	if r.TrafficDistribution != "" {
		distribution = r.TrafficDistribution
	}
	return change{r.ref(), patched, []owned{{modePath, nil}, {hintsPath, nil}, {distributionPath, distribution}}}
}

func (w workload) spreadChange() change {
	if w.Spread == nil {
		return change{ref: w.ref(), effect: spared}
	}
	revision := "pod-template-hash"
	if w.Kind == "StatefulSet" {
		revision = "controller-revision-hash"
	}
	var list any
	constraints := []any{}
	for _, s := range w.Spread {
		constraints = append(constraints, map[string]any{
			"maxSkew": int(s.MaxSkew), "topologyKey": s.TopologyKey, "whenUnsatisfiable": s.WhenUnsatisfiable,
			"nodeTaintsPolicy": "Honor", "matchLabelKeys": []any{revision},
			"labelSelector": map[string]any{"matchLabels": anyMap(w.Labels)},
		})
	}
	if len(constraints) > 0 {
		list = constraints
	}
	return change{w.ref(), patched, []owned{{spreadPath, list}}}
}

func anyMap(labels map[string]string) map[string]any {
	all := make(map[string]any, len(labels))
	for key, value := range labels {
		all[key] = value
	}
	return all
}

// scalingChange is the ScaledObject, or what is put on the one that runs.
func (w workload) scalingChange(target, serverAddress string) change {
	s := w.Scaling
	c := change{w.scaledObject(), added, []owned{
		{[]any{"spec", "scaleTargetRef", "name"}, target},
		{[]any{"spec", "minReplicaCount"}, int(s.Min)},
		{[]any{"spec", "maxReplicaCount"}, int(s.Max)},
	}}
	if s.Fallback > 0 || !s.Extends {
		c.owned = append(c.owned, owned{[]any{"spec", "fallback"}, fallback(s.Fallback)})
	}
	var triggers []any
	for _, t := range s.Triggers {
		triggers = append(triggers, triggerOf(t, serverAddress))
	}
	if s.Extends {
		c.effect = patched
		c.owned = append(c.owned, owned{[]any{"spec", "triggers"}, appended(triggers)})
		return c
	}
	c.owned = append(c.owned, owned{[]any{"spec", "scaleTargetRef"}, within{"apiVersion": "apps/v1", "kind": w.Kind}})
	c.owned = append(c.owned, owned{[]any{"spec", "triggers"}, append(w.utilizationTriggers(), triggers...)})
	return w.takeOver(c)
}

// takeOver adds what makes KEDA take the HPA that runs, under its name.
func (w workload) takeOver(c change) change {
	if w.Scaling.HPA == "" {
		c.owned = append(c.owned, owned{transferPath, nil})
		return c
	}
	c.owned = append(c.owned,
		owned{transferPath, "true"},
		owned{[]any{"spec", "advanced", "horizontalPodAutoscalerConfig", "name"}, w.Scaling.HPA})
	return c
}

func fallback(replicas int64) any {
	if replicas == 0 {
		return nil
	}
	return within{"replicas": int(replicas), "behavior": "currentReplicasIfHigher"}
}

func (w workload) utilizationTriggers() []any {
	var all []any
	for _, t := range []struct {
		kind    string
		percent int64
	}{{"cpu", w.Scaling.CPUUtilization}, {"memory", w.Scaling.MemoryUtilization}} {
		if t.percent > 0 {
			all = append(all, within{
				"type": t.kind, "metricType": "Utilization",
				"metadata": within{"value": strconv.FormatInt(t.percent, 10)},
			})
		}
	}
	return all
}

func triggerOf(t plan.Trigger, serverAddress string) any {
	if t.Query != "" {
		return within{"type": "prometheus", "metricType": "AverageValue", "metadata": within{
			"serverAddress": serverAddress, "query": t.Query, "threshold": strconv.FormatInt(t.Threshold, 10),
		}}
	}
	return within{"type": "cron", "metricType": "AverageValue", "metadata": within{
		"timezone": t.TimeZone, "start": t.Start, "end": t.End, "desiredReplicas": strconv.FormatInt(t.Replicas, 10),
	}}
}
