package workloads

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	autoscalingv2apply "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	"github.com/meshgen/meshgen/internal/argocd"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/keda"
	"github.com/meshgen/meshgen/internal/plan"
)

func (c *component) scale(w plan.Workload, s plan.Scaling) {
	c.scales = true
	if s.Extends {
		c.extend(w, s)
		return
	}
	if s.HPA != "" {
		c.takeOver(s.HPA)
	}
	file := "scaledobject-" + s.Name + ".yaml"
	c.keep(artifact.YAML(c.path(file), owner, keda.New(keda.Scaling{
		Metadata: c.meta(s),
		Kind:     w.Kind, Target: w.Name,
		Min: c.count(w.Subject()+".replicas.min", s.Min), Max: c.count(w.Subject()+".replicas.max", s.Max),
		Fallback: c.fallback(w, s),
		HPA:      s.HPA,
		Triggers: c.triggers(w, s),
	}), c.scalingReasons(s)))
	c.resources = append(c.resources, file)
}

// meta has one label, which never changes: KEDA copies labels and annotations to
// the HPA, and updates it whenever one changes.
func (c *component) meta(s plan.Scaling) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Name: s.Name, Namespace: c.meshNamespace(),
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "meshgen"},
		Annotations: argocd.Resource(c.plan, argocd.Autoscaler, argocd.Kept),
	}
	if s.HPA != "" {
		metav1.SetMetaDataAnnotation(&m, keda.TransferOwnership, "true")
	}
	return m
}

func (c *component) fallback(w plan.Workload, s plan.Scaling) *keda.Fallback {
	if s.Fallback == 0 {
		return nil
	}
	return keda.AtLeast(c.count(w.Subject()+".fallback.replicas", s.Fallback))
}

// triggers are the workload's own load first and then its events: KEDA names
// metrics by index.
func (c *component) triggers(w plan.Workload, s plan.Scaling) []keda.Trigger {
	var all []keda.Trigger
	if s.CPUUtilization > 0 {
		all = append(all, keda.Utilization("cpu", w.Container, s.CPUUtilization))
	}
	if s.MemoryUtilization > 0 {
		all = append(all, keda.Utilization("memory", w.Container, s.MemoryUtilization))
	}
	for _, t := range s.Triggers {
		all = append(all, keda.Planned(t, c.plan.Istiod))
	}
	return all
}

func (c *component) scalingReasons(s plan.Scaling) map[string]string {
	reasons := map[string]string{"spec.minReplicaCount": s.MinReason, "spec.maxReplicaCount": s.MaxReason}
	if s.HPA != "" {
		reasons["metadata.annotations"] = "KEDA takes over the HPA that runs, by its name; two autoscalers would fight"
	}
	if s.Fallback > 0 {
		reasons["spec.fallback"] = "with Prometheus down the largest event is still met, and nothing is scaled in"
	}
	at := 0
	for _, own := range []int64{s.CPUUtilization, s.MemoryUtilization} {
		if own > 0 {
			at++
		}
	}
	for i, t := range s.Triggers {
		reasons[fmt.Sprintf("spec.triggers[%d]", at+i)] = t.Reason
	}
	return reasons
}

// takeOver deletes the user's HPA from the build: KEDA makes one of the same
// name, with the same metrics.
func (c *component) takeOver(name string) {
	h := autoscalingv2apply.HorizontalPodAutoscaler(name, c.meshNamespace())
	h.Namespace = given(c.meshNamespace())
	c.aim("horizontalpodautoscaler-"+name+".yaml", artifact.Patch{Object: h, Delete: true},
		map[string]string{"$patch": "KEDA makes the HPA of this name, with the same metrics: the ScaledObject beside this file"})
}

// extension is what a ScaledObject of the user is given; its triggers, its target
// and all else stay.
type extension struct {
	metav1.TypeMeta
	Metadata extendedMeta `json:"metadata"`
	Spec     extendedSpec `json:"spec"`
}

type extendedMeta struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

type extendedSpec struct {
	MinReplicaCount int32          `json:"minReplicaCount"`
	MaxReplicaCount int32          `json:"maxReplicaCount"`
	Fallback        *keda.Fallback `json:"fallback,omitempty"`
}

// extend patches the ScaledObject that runs. The events' triggers come after its
// own, which keep their index and so their metric's name.
func (c *component) extend(w plan.Workload, s plan.Scaling) {
	e := extension{TypeMeta: keda.Type(), Metadata: extendedMeta{s.Name, c.meshNamespace()}, Spec: extendedSpec{
		MinReplicaCount: c.count(w.Subject()+".replicas.min", s.Min),
		MaxReplicaCount: c.count(w.Subject()+".replicas.max", s.Max),
		Fallback:        c.fallback(w, s),
	}}
	own := s
	own.Triggers, own.HPA = nil, ""
	c.aim("scaledobject-"+s.Name+".yaml", artifact.Patch{Object: e}, c.scalingReasons(own))
	if len(s.Triggers) == 0 {
		return
	}
	var added []artifact.Append
	reasons := map[string]string{}
	for i, t := range s.Triggers {
		added = append(added, artifact.Append{List: "/spec/triggers", Value: keda.Planned(t, c.plan.Istiod)})
		reasons[fmt.Sprintf("[%d]", i)] = t.Reason
	}
	file := "triggers-" + s.Name + ".yaml"
	c.keep(artifact.AppendYAML(c.path(file), owner, added, reasons))
	c.patches = append(c.patches, patch{file, &target{
		Group: keda.Group, Version: keda.Version, Kind: "ScaledObject", Name: s.Name, Namespace: c.meshNamespace(),
	}})
}

// referencesFile keeps scaleTargetRef right where a kustomization of the user
// puts a prefix before names.
const referencesFile = "namereference.yaml"

func references() any {
	type fieldSpec struct {
		Kind  string `json:"kind"`
		Group string `json:"group"`
		Path  string `json:"path"`
	}
	type reference struct {
		Kind       string      `json:"kind"`
		Group      string      `json:"group"`
		FieldSpecs []fieldSpec `json:"fieldSpecs"`
	}
	target := []fieldSpec{{"ScaledObject", keda.Group, "spec/scaleTargetRef/name"}}
	return map[string][]reference{"nameReference": {{"Deployment", "apps", target}, {"StatefulSet", "apps", target}}}
}
