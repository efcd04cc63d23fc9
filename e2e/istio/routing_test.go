package istio_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/serviceregistry/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// Istio, which reads the field and no hints, keeps the calls to a Service in
// their zone where that was planned and nowhere else, whatever the Service had
// before.
func TestIstioRoutesAsPlanned(t *testing.T) {
	got := map[string]int{}
	for _, name := range cluster.Names(t) {
		plan := cluster.Plan(t, cluster.Example(name))
		for _, file := range cluster.Rendered(t, name, "workloads/*/service-*.yaml") {
			for _, before := range []string{"", corev1.ServiceTrafficDistributionPreferSameNode} {
				service := under(t, file.Text, before)
				planned := plan["service/"+service.Namespace+"/"+service.Name+".trafficDistribution"].Value
				want := model.TrafficDistributionAny
				if planned != nil {
					want = model.TrafficDistributionPreferSameZone
				}
				converted := kube.ConvertService(*service, nil, "cluster.local", "Kubernetes", "cluster.local")
				if of := converted.Attributes.TrafficDistribution; of != want {
					t.Errorf("%s over %q: Istio prefers %v, planned %v", file.Path, before, of, planned)
				}
			}
			got[name]++
		}
	}
	if diff := cmp.Diff(map[string]int{"featureflag": 2, "thousand": 138}, got); diff != "" {
		t.Errorf("Services judged, by cluster (-want +got):\n%s", diff)
	}
}

// under is a Service with some zone routing and both annotations of topology
// hints, under a rendered patch, merged as the API server merges. The hints are
// gone.
func under(t *testing.T, patch, before string) *corev1.Service {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		corev1.AnnotationTopologyMode: "Auto", corev1.DeprecatedAnnotationTopologyAwareHints: "Auto",
	}}}
	if before != "" {
		service.Spec.TrafficDistribution = &before
	}
	old, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	change, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(old, change, corev1.Service{})
	if err != nil {
		t.Fatal(err)
	}
	after := &corev1.Service{}
	if err := json.Unmarshal(merged, after); err != nil {
		t.Fatal(err)
	}
	for key := range after.Annotations {
		if strings.HasPrefix(key, "service.kubernetes.io/topology-") {
			t.Errorf("%s/%s keeps the annotation %s", after.Namespace, after.Name, key)
		}
	}
	return after
}
