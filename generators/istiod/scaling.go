package istiod

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/meshgen/meshgen/internal/plan"
)

// scaledObject is KEDA's ScaledObject without the empty scalingModifiers that
// its type would print.
type scaledObject struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     scaledObjectSpec  `json:"spec"`
}

type scaledObjectSpec struct {
	v1alpha1.ScaledObjectSpec
	Advanced advanced `json:"advanced"`
}

type advanced struct {
	HPA *v1alpha1.HorizontalPodAutoscalerConfig `json:"horizontalPodAutoscalerConfig"`
}

// hpaPrefix is what KEDA puts before a ScaledObject's name for its HPA's, which
// may have 63 characters.
const hpaPrefix, maxName = "keda-hpa-", 63

// meta has one label, which never changes: KEDA copies labels and annotations to
// the HPA, and updates it whenever one changes.
func (w *writer) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: w.plan.Istiod.Deployment, Namespace: w.plan.Istiod.Namespace,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "meshgen"},
	}
}

func (w *writer) scaledObject(file string) {
	low, high := w.number("istiod.replicas.min"), w.number("istiod.replicas.max")
	o := scaledObject{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ScaledObject"},
		Metadata: w.meta(),
		Spec: scaledObjectSpec{Advanced: advanced{w.hpa()}, ScaledObjectSpec: v1alpha1.ScaledObjectSpec{
			ScaleTargetRef:  &v1alpha1.ScaleTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: w.plan.Istiod.Deployment},
			MinReplicaCount: &low,
			MaxReplicaCount: &high,
			Fallback: &v1alpha1.Fallback{
				FailureThreshold: 3, Replicas: w.number("istiod.fallback.replicas"), Behavior: v1alpha1.FallbackBehaviorCurrentReplicasIfHigher,
			},
		}},
	}
	for _, t := range w.plan.Istiod.Triggers {
		o.Spec.Triggers = append(o.Spec.Triggers, w.trigger(t))
	}
	w.add(file, o, w.scalingReasons())
}

func (w *writer) scalingReasons() map[string]string {
	behavior := "spec.advanced.horizontalPodAutoscalerConfig.behavior."
	reasons := map[string]string{
		"spec.minReplicaCount": w.reason("istiod.replicas.min"),
		"spec.maxReplicaCount": w.reason("istiod.replicas.max"),
		"spec.fallback":        w.reason("istiod.fallback.replicas"),
		behavior + "scaleUp":   w.reason("istiod.scaleUp.stabilizationWindow"),
		behavior + "scaleDown": "a pod that goes drops its connections at one instant: at most a tenth a minute, after ten quiet minutes",
	}
	for i, t := range w.plan.Istiod.Triggers {
		reasons[fmt.Sprintf("spec.triggers[%d]", i)] = t.Reason
	}
	return reasons
}

func (w *writer) hpa() *v1alpha1.HorizontalPodAutoscalerConfig {
	window, err := time.ParseDuration(w.text("istiod.scaleUp.stabilizationWindow"))
	w.fail(err)
	up, down, fastest := int32(window/time.Second), int32(600), autoscalingv2.MaxChangePolicySelect
	c := &v1alpha1.HorizontalPodAutoscalerConfig{Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp: &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: &up, SelectPolicy: &fastest,
			Policies: []autoscalingv2.HPAScalingPolicy{
				{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
				{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			},
		},
		ScaleDown: &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: &down,
			Policies:                   []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PercentScalingPolicy, Value: 10, PeriodSeconds: 60}},
		},
	}}
	if len(hpaPrefix+w.plan.Istiod.Deployment) > maxName {
		c.Name = w.plan.Istiod.Deployment
	}
	return c
}

func (w *writer) trigger(t plan.Trigger) v1alpha1.ScaleTriggers {
	if t.Query == "" {
		return v1alpha1.ScaleTriggers{Type: "cron", Name: t.Name, MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
			"timezone": t.TimeZone, "start": t.Start, "end": t.End, "desiredReplicas": strconv.FormatInt(t.Replicas, 10),
		}}
	}
	trigger := v1alpha1.ScaleTriggers{Type: "prometheus", Name: t.Name, MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
		"serverAddress":    w.plan.Istiod.ServerAddress,
		"query":            t.Query,
		"threshold":        strconv.FormatInt(t.Threshold, 10),
		"ignoreNullValues": "false", // an empty answer is an outage, not a load of 0
	}}
	if a := w.plan.Istiod.AuthenticationRef; a != nil {
		trigger.AuthenticationRef = &v1alpha1.AuthenticationRef{Name: a.Name, Kind: a.Kind}
	}
	return trigger
}

func (w *writer) budget(file string) {
	most := intstr.FromInt32(w.number("istiod.podDisruptionBudget.maxUnavailable"))
	always := policyv1.AlwaysAllow
	w.add(file, &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: w.meta(),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &most, UnhealthyPodEvictionPolicy: &always,
			Selector: &metav1.LabelSelector{MatchLabels: w.podLabels()},
		},
	}, map[string]string{
		"spec.maxUnavailable":             w.reason("istiod.podDisruptionBudget.maxUnavailable"),
		"spec.unhealthyPodEvictionPolicy": "a pod that serves nobody must not hold up a drain",
	})
}
