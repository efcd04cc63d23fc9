// Package keda has KEDA's ScaledObject as meshgen writes it, from KEDA's own
// types: a field that upstream renames breaks the build.
package keda

import (
	"strconv"

	"github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/meshgen/meshgen/internal/plan"
)

// TransferOwnership is the annotation by which KEDA takes an HPA over instead of
// refusing the ScaledObject beside it; the HPA's name must be given too.
const TransferOwnership = v1alpha1.ScaledObjectTransferHpaOwnershipAnnotation

// ScaledObject is KEDA's without the empty scalingModifiers that its type would
// print.
type ScaledObject struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     spec              `json:"spec"`
}

type spec struct {
	v1alpha1.ScaledObjectSpec
	Advanced *advanced `json:"advanced,omitempty"`
}

type advanced struct {
	HPA *v1alpha1.HorizontalPodAutoscalerConfig `json:"horizontalPodAutoscalerConfig"`
}

// Trigger is one trigger of a ScaledObject.
type Trigger = v1alpha1.ScaleTriggers

// Fallback is what a ScaledObject asks for while Prometheus does not answer.
type Fallback = v1alpha1.Fallback

// Scaling is what a ScaledObject of ours says.
type Scaling struct {
	Metadata metav1.ObjectMeta
	Kind     string // of the workload
	Target   string // the workload's name
	Min, Max int32
	Fallback *Fallback
	HPA      string // the name of the HPA; empty leaves KEDA's own where it fits
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior
	Triggers []Trigger
}

// New is the ScaledObject.
func New(s Scaling) ScaledObject {
	return ScaledObject{TypeMeta: Type(), Metadata: s.Metadata, Spec: spec{
		Advanced: s.advanced(),
		ScaledObjectSpec: v1alpha1.ScaledObjectSpec{
			ScaleTargetRef:  &v1alpha1.ScaleTarget{APIVersion: "apps/v1", Kind: s.Kind, Name: s.Target},
			MinReplicaCount: &s.Min,
			MaxReplicaCount: &s.Max,
			Fallback:        s.Fallback,
			Triggers:        s.Triggers,
		},
	}}
}

// Type is the type line of a ScaledObject.
func Type() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ScaledObject"}
}

// Group and Version are those of ScaledObjects.
var Group, Version = v1alpha1.GroupVersion.Group, v1alpha1.GroupVersion.Version

// maxName is how long an HPA's name may be.
const maxName = 63

// advanced names the HPA where KEDA's own name for it, keda-hpa-<name>, is too
// long.
func (s Scaling) advanced() *advanced {
	name := s.HPA
	if name == "" && len("keda-hpa-"+s.Metadata.Name) > maxName {
		name = s.Metadata.Name
	}
	if name == "" && s.Behavior == nil {
		return nil
	}
	return &advanced{&v1alpha1.HorizontalPodAutoscalerConfig{Name: name, Behavior: s.Behavior}}
}

// AtLeast is a fallback to that many replicas, or to those that run if they are
// more.
func AtLeast(replicas int32) *Fallback {
	return &Fallback{FailureThreshold: 3, Replicas: replicas, Behavior: v1alpha1.FallbackBehaviorCurrentReplicasIfHigher}
}

// Planned is a trigger of the plan: prometheus where it has a query, else cron.
func Planned(t plan.Trigger, i plan.Istiod) Trigger {
	if t.Query == "" {
		return Trigger{Type: "cron", Name: t.Name, MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
			"timezone": t.TimeZone, "start": t.Start, "end": t.End, "desiredReplicas": strconv.FormatInt(t.Replicas, 10),
		}}
	}
	trigger := Trigger{Type: "prometheus", Name: t.Name, MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
		"serverAddress":    i.ServerAddress,
		"query":            t.Query,
		"threshold":        strconv.FormatInt(t.Threshold, 10),
		"ignoreNullValues": "false", // an empty answer is an outage, not a load of 0
	}}
	if a := i.AuthenticationRef; a != nil {
		trigger.AuthenticationRef = &v1alpha1.AuthenticationRef{Name: a.Name, Kind: a.Kind}
	}
	return trigger
}

// Utilization is a trigger on a share of what the pods request, in percent. The
// container may be empty, which means all of the pod's.
func Utilization(resource, container string, percent int64) Trigger {
	metadata := map[string]string{"value": strconv.FormatInt(percent, 10)}
	if container != "" {
		metadata["containerName"] = container
	}
	return Trigger{Type: resource, Name: resource, MetricType: autoscalingv2.UtilizationMetricType, Metadata: metadata}
}
