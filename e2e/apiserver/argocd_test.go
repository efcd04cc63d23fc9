package apiserver_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// replacedBudget takes the first of istiod's waves while the chart's budget of the
// same name is still there, from Helm: what says so is replaced as a whole, as
// Argo CD does, and the server takes it.
func (s *server) replacedBudget(t *testing.T, _ string) {
	r := release{s, "istio-system"}
	s.namespaces(t, r.namespace)
	r.upgrade(t, chartutil.Values{"autoscaleMin": 2})
	defer r.uninstall(t)
	replaced := 0
	for _, o := range overlay(t, cluster.Folder("bigsale")+"/istiod") {
		if !strings.Contains(o.GetAnnotations()["argocd.argoproj.io/sync-options"], "Replace=true") {
			continue
		}
		replaced++
		live, err := s.get(t.Context(), o.Unstructured)
		if err != nil {
			t.Fatalf("the chart has no %s: %v", o.id(), err)
		}
		o.SetResourceVersion(live.GetResourceVersion())
		resource, err := s.resource(o.Unstructured)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resource.Update(t.Context(), o.Unstructured, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Errorf("%s is refused: %v", o.id(), err)
		}
	}
	budgets, err := s.kubernetes.PolicyV1().PodDisruptionBudgets(r.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || replaced != 1 || len(budgets.Items) != 1 {
		t.Fatalf("%d objects were replaced and %d budgets are there: %v; want the one budget", replaced, len(budgets.Items), err)
	}
	if spec := budgets.Items[0].Spec; spec.MinAvailable != nil || spec.MaxUnavailable == nil || *spec.MaxUnavailable != intstr.FromInt32(2) {
		t.Errorf("the budget has minAvailable %v and maxUnavailable %v; want 2 unavailable alone", spec.MinAvailable, spec.MaxUnavailable)
	}
}
