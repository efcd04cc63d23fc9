package workloads

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	appsv1apply "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
)

// workload writes the patch for a workload's spread, and its autoscaler.
func (c *component) workload(w plan.Workload) {
	if w.Spread != nil {
		c.spread(w)
	}
	if w.Scaling != nil {
		c.scale(w, *w.Scaling)
	}
}

// constraintsPath is the list that meshgen owns as a whole: merged, a base's hard
// constraint or its minDomains would survive in ours.
var constraintsPath = []string{"spec", "template", "spec", "topologySpreadConstraints"}

func (c *component) spread(w plan.Workload) {
	pod := corev1apply.PodTemplateSpec().WithSpec(corev1apply.PodSpec().WithTopologySpreadConstraints(constraints(w)...))
	name, namespace := w.Name, c.meshNamespace()
	var object any
	switch w.Kind {
	case "Deployment":
		d := appsv1apply.Deployment(name, namespace).WithSpec(appsv1apply.DeploymentSpec().WithTemplate(pod))
		d.Namespace = given(namespace)
		object = d
	case "StatefulSet":
		s := appsv1apply.StatefulSet(name, namespace).WithSpec(appsv1apply.StatefulSetSpec().WithTemplate(pod))
		s.Namespace = given(namespace)
		object = s
	default:
		c.fail(fmt.Errorf("workload %s is a %q, neither Deployment nor StatefulSet", name, w.Kind))
		return
	}
	c.aim(strings.ToLower(w.Kind)+"-"+name+".yaml", artifact.Patch{Object: object, Replace: [][]string{constraintsPath}},
		map[string]string{strings.Join(constraintsPath, "."): w.SpreadReason})
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// constraints count the pods of each revision of the workload apart, for a
// rollout that counts old pods ends skewed, and leave out nodes that the pods may
// not use, for a dead zone would hold up the others.
func constraints(w plan.Workload) []*corev1apply.TopologySpreadConstraintApplyConfiguration {
	revision := map[string]string{"Deployment": "pod-template-hash", "StatefulSet": "controller-revision-hash"}[w.Kind]
	var all []*corev1apply.TopologySpreadConstraintApplyConfiguration
	for _, s := range w.Spread {
		all = append(all, corev1apply.TopologySpreadConstraint().
			WithMaxSkew(int32(s.MaxSkew)).
			WithTopologyKey(s.TopologyKey).
			WithWhenUnsatisfiable(corev1.UnsatisfiableConstraintAction(s.WhenUnsatisfiable)).
			WithLabelSelector(metav1apply.LabelSelector().WithMatchLabels(w.Labels)).
			WithNodeTaintsPolicy(corev1.NodeInclusionPolicyHonor).
			WithMatchLabelKeys(revision))
	}
	return all
}

// route writes the patch for a Service. Both annotations go: either beats the
// field, even while it achieves nothing.
func (c *component) route(r plan.Route) {
	s := corev1apply.Service(r.Name, c.meshNamespace())
	s.Namespace = given(c.meshNamespace())
	p := artifact.Patch{Object: s, Null: [][]string{
		{"metadata", "annotations", corev1.AnnotationTopologyMode},
		{"metadata", "annotations", corev1.DeprecatedAnnotationTopologyAwareHints},
	}}
	if r.TrafficDistribution == "" {
		p.Null = append(p.Null, []string{"spec", "trafficDistribution"})
	} else {
		s.WithSpec(corev1apply.ServiceSpec().WithTrafficDistribution(r.TrafficDistribution))
	}
	c.aim("service-"+r.Name+".yaml", p, map[string]string{
		"metadata.annotations":     "either annotation beats the field, even where it achieves nothing",
		"spec.trafficDistribution": r.Reason,
	})
}
