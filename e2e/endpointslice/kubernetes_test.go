package endpointslice_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/endpointslice"
	"k8s.io/endpointslice/topologycache"
	"k8s.io/endpointslice/util"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// controller is Kubernetes' own reconciler of EndpointSlices over the nodes of a
// profile; the API server behind it is client-go's fake.
type controller struct {
	*endpointslice.Reconciler
	client *fake.Clientset
	nodes  map[string][]string // names by zone
	events chan string
}

// newController has every node of the profile. Kubernetes knows PreferSameZone
// from 1.34 on, which is when the feature gate is on.
func newController(t *testing.T, p cluster.Profile) controller {
	t.Helper()
	c := controller{client: fake.NewClientset(), nodes: map[string][]string{}}
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	var all []*core.Node
	for _, node := range nodes(t, p) {
		if err := index.Add(node); err != nil {
			t.Fatal(err)
		}
		all = append(all, node)
		zone := node.Labels[core.LabelTopologyZone]
		c.nodes[zone] = append(c.nodes[zone], node.Name)
	}
	hints := topologycache.NewTopologyCache()
	hints.SetNodes(logr.Discard(), all)
	recorder := record.NewFakeRecorder(10)
	c.events = recorder.Events
	c.Reconciler = endpointslice.NewReconciler(c.client, listers.NewNodeLister(index), 100,
		util.NewEndpointSliceTracker(), hints, recorder, "endpointslice-controller.k8s.io",
		endpointslice.WithPreferSameTrafficDistributionEnabled(p.Kubernetes.Version >= "1.34"))
	return c
}

func nodes(t *testing.T, p cluster.Profile) []*core.Node {
	t.Helper()
	var all []*core.Node
	for _, zone := range p.Zones {
		for _, pool := range zone.NodePools {
			cpu, err := resource.ParseQuantity(pool.AllocatableCPU)
			if err != nil {
				t.Fatalf("allocatableCPU %q: %v", pool.AllocatableCPU, err)
			}
			for range pool.Nodes {
				all = append(all, &core.Node{
					ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("node-%d", len(all)), Labels: map[string]string{core.LabelTopologyZone: zone.Name}},
					Status: core.NodeStatus{
						Allocatable: core.ResourceList{core.ResourceCPU: cpu},
						Conditions:  []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue}},
					},
				})
			}
		}
	}
	return all
}

// pods are ready pods behind a Service, as many in each zone as the profile says.
func (c controller) pods(s cluster.Service) []*core.Pod {
	var all []*core.Pod
	for _, zone := range slices.Sorted(maps.Keys(s.Endpoints)) {
		for i := range s.Endpoints[zone] {
			ip := fmt.Sprintf("10.0.0.%d", len(all)+1)
			all = append(all, &core.Pod{
				ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("pod-%d", len(all)), Namespace: s.Namespace, Labels: map[string]string{"app": s.Name}},
				Spec:       core.PodSpec{NodeName: c.nodes[zone][i%len(c.nodes[zone])]},
				Status: core.PodStatus{
					Phase: core.PodRunning, PodIP: ip, PodIPs: []core.PodIP{{IP: ip}},
					Conditions: []core.PodCondition{{Type: core.PodReady, Status: core.ConditionTrue}},
				},
			})
		}
	}
	return all
}

// today is the Service as the profile says that it runs.
func today(s cluster.Service) *core.Service {
	service := &core.Service{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta.ObjectMeta{Name: s.Name, Namespace: s.Namespace, Annotations: map[string]string{}},
		Spec: core.ServiceSpec{
			Selector: map[string]string{"app": s.Name}, ClusterIP: "172.20.0.1", IPFamilies: []core.IPFamily{core.IPv4Protocol},
			Ports: []core.ServicePort{{Name: "http", Port: 8080, Protocol: core.ProtocolTCP}},
		},
	}
	if s.Routing.TopologyMode != "" {
		service.Annotations[core.AnnotationTopologyMode] = s.Routing.TopologyMode
	}
	if s.Routing.TrafficDistribution != "" {
		service.Spec.TrafficDistribution = &s.Routing.TrafficDistribution
	}
	return service
}

// patched is a Service under a rendered patch, merged as the API server merges.
func patched(t *testing.T, service *core.Service, patch string) *core.Service {
	t.Helper()
	before, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	change, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(before, change, core.Service{})
	if err != nil {
		t.Fatal(err)
	}
	after := &core.Service{}
	if err := json.Unmarshal(merged, after); err != nil {
		t.Fatal(err)
	}
	return after
}

// hint is how many endpoints of a zone are hinted for a zone; none is "".
type hint struct{ From, For string }

// reconcile lets Kubernetes write the Service's EndpointSlices and reads them
// back. Slices that are there are updated.
func (c controller) reconcile(t *testing.T, service *core.Service, pods []*core.Pod) map[hint]int {
	t.Helper()
	if err := c.Reconcile(logr.Discard(), service, pods, c.slices(t, service), time.Time{}); err != nil {
		t.Fatal(err)
	}
	counts := map[hint]int{}
	for _, slice := range c.slices(t, service) {
		for _, e := range slice.Endpoints {
			at := hint{From: *e.Zone}
			if e.Hints != nil && len(e.Hints.ForZones) > 0 {
				at.For = e.Hints.ForZones[0].Name
			}
			counts[at]++
		}
	}
	return counts
}

func (c controller) slices(t *testing.T, service *core.Service) []*discovery.EndpointSlice {
	t.Helper()
	list, err := c.client.DiscoveryV1().EndpointSlices(service.Namespace).List(context.Background(), meta.ListOptions{LabelSelector: discovery.LabelServiceName + "=" + service.Name})
	if err != nil {
		t.Fatal(err)
	}
	var all []*discovery.EndpointSlice
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	slices.SortFunc(all, func(x, y *discovery.EndpointSlice) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// reason is why Kubernetes gave no hints in its last answer; empty where it says
// nothing of the kind.
func (c controller) reason() string {
	select {
	case event := <-c.events:
		reason, _ := strings.CutPrefix(event, "Warning TopologyAwareHintsDisabled ")
		return reason
	default:
		return ""
	}
}
