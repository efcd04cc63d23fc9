package apiserver_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// release is istiod's release under Helm's own code, with its records in
// Secrets, as its command line keeps them.
type release struct {
	*server
	namespace string
}

func (r release) config(t *testing.T) *action.Configuration {
	t.Helper()
	kube.ManagedFieldsManager = "helm"
	var config action.Configuration
	if err := config.Init(&access{r.server, r.namespace}, r.namespace, "secret", func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	return &config
}

// upgrade is `helm upgrade --install`.
func (r release) upgrade(t *testing.T, given chartutil.Values) {
	t.Helper()
	_, err := action.NewHistory(r.config(t)).Run("istiod")
	switch {
	case errors.Is(err, driver.ErrReleaseNotFound):
		install := action.NewInstall(r.config(t))
		install.ReleaseName, install.Namespace = "istiod", r.namespace
		_, err = install.Run(istiodChart(t), given)
	case err == nil:
		upgrade := action.NewUpgrade(r.config(t))
		upgrade.Namespace = r.namespace
		_, err = upgrade.Run("istiod", istiodChart(t), given)
	}
	if err != nil {
		t.Fatalf("helm upgrade --install: %v", err)
	}
}

func (r release) uninstall(t *testing.T) {
	t.Helper()
	if _, err := action.NewUninstall(r.config(t)).Run("istiod"); err != nil {
		t.Fatal(err)
	}
}

// deployment is istiod's.
func (r release) deployment() object {
	o := object{Unstructured: &unstructured.Unstructured{}}
	o.SetAPIVersion("apps/v1")
	o.SetKind("Deployment")
	o.SetNamespace(r.namespace)
	o.SetName("istiod")
	return o
}

// forget deletes the release's record as PLAN.md says.
func (r release) forget(t *testing.T, a adoption) {
	t.Helper()
	command := regexp.MustCompile("`kubectl delete secret -n NAMESPACE -l ([^` ]+)`").FindStringSubmatch(a.plan(t))
	if command == nil {
		t.Fatalf("PLAN.md does not say how Helm forgets:\n%s", a.plan(t))
	}
	labels := metav1.ListOptions{LabelSelector: strings.ReplaceAll(command[1], "RELEASE", "istiod")}
	if err := r.kubernetes.CoreV1().Secrets(r.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, labels); err != nil {
		t.Fatal(err)
	}
}

// set is the values and one more, as --set gives it.
func set(given chartutil.Values, key string, value any) chartutil.Values {
	all := maps.Clone(given)
	all[key] = value
	return all
}

func (s *server) helmAdoption(t *testing.T, folder string) {
	a := rendered(t, folder, false)
	r := release{s, "istio-system"}
	s.namespaces(t, r.namespace)
	old := chartutil.Values{"autoscaleEnabled": false, "replicaCount": manifest, "topologySpreadConstraints": []any{
		map[string]any{"topologyKey": "example.com/rack", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1},
	}}
	for name, c := range map[string]struct {
		least int64
		steps func()
	}{
		"naively": {1, func() { r.upgrade(t, values(t, a.folder)) }},
		"in two steps": {scaled, func() {
			r.upgrade(t, set(values(t, a.folder), "replicaCount", scaled))
			r.forget(t, a)
			r.upgrade(t, values(t, a.folder))
			r.upgrade(t, values(t, a.folder))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r.upgrade(t, old)
			defer r.uninstall(t)
			s.scale(t, []object{r.deployment()}, scaled)
			from := s.versions(t, []object{r.deployment()})
			c.steps()
			counts := s.replicas(t, r.deployment(), from[r.deployment().id()])
			if got := slices.Min(counts); got != c.least {
				t.Errorf("istiod had %v replicas, at least %d expected", counts, c.least)
			}
			if left := s.leftovers(t, r.chart(t, a)); len(left) > 0 {
				t.Errorf("left on the server: %v", left)
			}
		})
	}
}

// chart is what the chart gives with meshgen's values.
func (r release) chart(t *testing.T, a adoption) []object {
	t.Helper()
	return istiod(t, r.namespace, "meshgen's values", values(t, a.folder))
}

// helmFirst says in which order Helm and the istiod folder go: the chart has an
// HPA and a PodDisruptionBudget of its own, under the same names.
func (s *server) helmFirst(t *testing.T, folder string) {
	a := rendered(t, folder, false)
	r := release{s, "istio-system"}
	s.namespaces(t, r.namespace)
	apply := with("--server-side", "--force-conflicts")
	r.upgrade(t, chartutil.Values{"autoscaleMin": 2})
	defer r.uninstall(t)
	if err := apply(t, s, overlay(t, a.folder+"/istiod")); err == nil {
		t.Error("two kinds of bounds in one PodDisruptionBudget are accepted")
	} else {
		t.Log(err)
	}
	r.upgrade(t, values(t, a.folder))
	apply.must(t, s, overlay(t, a.folder+"/istiod"))
	defer s.prune(t, overlay(t, a.folder+"/istiod"))
	r.upgrade(t, values(t, a.folder))
	budgets, err := s.kubernetes.PolicyV1().PodDisruptionBudgets(r.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(budgets.Items) != 1 || budgets.Items[0].Spec.MinAvailable != nil {
		t.Errorf("want meshgen's PodDisruptionBudget alone, got %v %v", budgets, err)
	}
	hpas, err := s.kubernetes.AutoscalingV2().HorizontalPodAutoscalers(r.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(hpas.Items) > 0 {
		t.Errorf("the chart's HPA stays: %v %v", hpas, err)
	}
}
