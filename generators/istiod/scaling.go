package istiod

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/meshgen/meshgen/internal/argocd"
	"github.com/meshgen/meshgen/internal/keda"
)

// meta has one label, which never changes: KEDA copies labels and annotations to
// the HPA, and updates it whenever one changes.
func (w *writer) meta(annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: w.plan.Istiod.Deployment, Namespace: w.plan.Istiod.Namespace,
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "meshgen"},
		Annotations: annotations,
	}
}

func (w *writer) scaledObject(file string) {
	scaling := keda.Scaling{
		Metadata: w.meta(argocd.Resource(w.plan, argocd.Autoscaler, argocd.Kept)),
		Kind:     "Deployment", Target: w.plan.Istiod.Deployment,
		Min: w.number("istiod.replicas.min"), Max: w.number("istiod.replicas.max"),
		Fallback: keda.AtLeast(w.number("istiod.fallback.replicas")),
		Behavior: w.behavior(),
	}
	for _, t := range w.plan.Istiod.Triggers {
		scaling.Triggers = append(scaling.Triggers, keda.Planned(t, w.plan.Istiod))
	}
	w.add(file, keda.New(scaling), w.scalingReasons())
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
	if w.plan.ArgoCD != nil {
		reasons["metadata.annotations"] = "after istiod's pods; with it goes the HPA, so that somebody has to confirm a deletion"
	}
	for i, t := range w.plan.Istiod.Triggers {
		reasons[fmt.Sprintf("spec.triggers[%d]", i)] = t.Reason
	}
	return reasons
}

func (w *writer) behavior() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	window, err := time.ParseDuration(w.text("istiod.scaleUp.stabilizationWindow"))
	w.fail(err)
	up, down, fastest := int32(window/time.Second), int32(600), autoscalingv2.MaxChangePolicySelect
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{
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
	}
}

func (w *writer) budget(file string) {
	reasons := map[string]string{
		"spec.maxUnavailable":             w.reason("istiod.podDisruptionBudget.maxUnavailable"),
		"spec.unhealthyPodEvictionPolicy": "a pod that serves nobody must not hold up a drain",
	}
	if w.plan.ArgoCD != nil {
		reasons["metadata.annotations"] = "before anything restarts; as a whole, for the chart's budget of this name has a minAvailable"
	}
	most := intstr.FromInt32(w.number("istiod.podDisruptionBudget.maxUnavailable"))
	always := policyv1.AlwaysAllow
	w.add(file, &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: w.meta(argocd.Resource(w.plan, argocd.Budget, argocd.Replaced)),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &most, UnhealthyPodEvictionPolicy: &always,
			Selector: &metav1.LabelSelector{MatchLabels: w.podLabels()},
		},
	}, reasons)
}
