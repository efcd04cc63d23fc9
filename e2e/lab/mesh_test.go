// Package lab_test runs the real istiod against the real API server, with the
// Services of an example and clients that stand for its proxies.
package lab_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/apiserver"
	"github.com/meshgen/meshgen/e2e/cluster"
)

// example is the cluster whose Services the lab has.
const example = "thousand"

// mesh is an API server with the Services of a profile and their endpoints,
// beside them those that the profile does not list.
type mesh struct {
	profile    cluster.Profile
	kubeconfig string // the path of a file
	kubernetes kubernetes.Interface
	dynamic    dynamic.Interface
	slices     []*discoveryv1.EndpointSlice
	lock       sync.Mutex
	used       int // addresses so far
}

// newMesh starts an API server and fills it.
func newMesh(t *testing.T) *mesh {
	t.Helper()
	// For the server: thousands of objects are applied; memory is there, and cores
	// are not.
	t.Setenv("GOGC", "400")
	config, _ := apiserver.Start(t)
	m := &mesh{
		profile: cluster.ReadProfile(t, cluster.Example(example)), kubeconfig: kubeconfig(t, config),
		kubernetes: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config),
	}
	m.fill(t)
	return m
}

// kubeconfig is a file by which istiod finds the server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	const name = "lab"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	path := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// listed is a Service of the profile that is one of Kubernetes'.
func listed(p cluster.Profile) []cluster.Service {
	return slices.DeleteFunc(slices.Clone(p.Services), func(s cluster.Service) bool { return !s.Serves() })
}

// fill makes the namespaces, the Services, the EndpointSlices and the
// ServiceEntries.
func (m *mesh) fill(t *testing.T) {
	t.Helper()
	services := []*corev1.Service{}
	for _, s := range listed(m.profile) {
		services = append(services, newService(s.Namespace, s.Name, s.Workload.Labels, ports(s)))
		m.slices = append(m.slices, m.newSlices(s)...)
	}
	for _, name := range cluster.Unlisted(m.profile) {
		services = append(services, newService(name[0], name[1], nil, []corev1.ServicePort{port(80, "HTTP")}))
	}
	entries := serviceEntries(m.profile)
	names := map[string]bool{m.profile.Istio.Namespace: true}
	for _, s := range services {
		names[s.Namespace] = true
	}
	for _, e := range entries {
		names[e.GetNamespace()] = true
	}
	each(t, slices.Sorted(maps.Keys(names)), func(ctx context.Context, name string) error {
		_, err := m.kubernetes.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	})
	each(t, services, func(ctx context.Context, s *corev1.Service) error {
		_, err := m.kubernetes.CoreV1().Services(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
		return err
	})
	each(t, m.slices, func(ctx context.Context, s *discoveryv1.EndpointSlice) error {
		_, err := m.kubernetes.DiscoveryV1().EndpointSlices(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
		return err
	})
	each(t, entries, m.create("serviceentries"))
}

func newService(namespace, name string, selector map[string]string, ports []corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ServiceSpec{Selector: selector, Ports: ports},
	}
}

func ports(s cluster.Service) []corev1.ServicePort {
	var all []corev1.ServicePort
	for _, p := range s.Ports {
		all = append(all, port(p.Number, p.Protocol))
	}
	return all
}

// port is named as Istio reads protocols.
func port(number int, protocol string) corev1.ServicePort {
	return corev1.ServicePort{Name: fmt.Sprintf("%s-%d", strings.ToLower(protocol), number), Port: int32(number)}
}

// mostInSlice is how many endpoints Kubernetes puts into one EndpointSlice.
const mostInSlice = 100

// newSlices are the EndpointSlices of a Service. They name no pods, so that istiod
// takes the addresses as they are.
func (m *mesh) newSlices(s cluster.Service) []*discoveryv1.EndpointSlice {
	var endpoints []discoveryv1.Endpoint
	for _, zone := range slices.Sorted(maps.Keys(s.Endpoints)) {
		for range s.Endpoints[zone] {
			endpoints = append(endpoints, discoveryv1.Endpoint{Addresses: m.address(), Zone: &zone})
		}
	}
	var ports []discoveryv1.EndpointPort
	for _, p := range s.Ports {
		served := port(p.Number, p.Protocol)
		ports = append(ports, discoveryv1.EndpointPort{Name: &served.Name, Port: &served.Port})
	}
	var all []*discoveryv1.EndpointSlice
	for part := range slices.Chunk(endpoints, mostInSlice) {
		all = append(all, &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.Namespace, Name: fmt.Sprintf("%s-%d", s.Name, len(all)),
				Labels: map[string]string{discoveryv1.LabelServiceName: s.Name},
			},
			AddressType: discoveryv1.AddressTypeIPv4, Endpoints: part, Ports: ports,
		})
	}
	return all
}

// address is one that was not used before.
func (m *mesh) address() []string {
	m.used++
	return []string{fmt.Sprintf("10.%d.%d.%d", 128+m.used>>16&127, m.used>>8&255, m.used&255)}
}

// serviceEntries are those whose hosts are called.
func serviceEntries(p cluster.Profile) []*unstructured.Unstructured {
	called := map[string]bool{}
	for _, s := range p.Services {
		for _, to := range s.ExternalCalls {
			called[to] = true
		}
	}
	var all []*unstructured.Unstructured
	for i, to := range slices.Sorted(maps.Keys(called)) {
		namespace, host := cluster.External(to)
		all = append(all, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry",
			"metadata": map[string]any{"namespace": namespace, "name": fmt.Sprintf("external-%d", i)},
			"spec": map[string]any{
				"hosts": []any{host}, "location": "MESH_EXTERNAL", "resolution": "DNS",
				"ports": []any{map[string]any{"number": int64(443), "name": "tls", "protocol": "TLS"}},
			},
		}})
	}
	return all
}

// create makes objects of one of Istio's kinds.
func (m *mesh) create(resource string) func(context.Context, *unstructured.Unstructured) error {
	kind := schema.GroupVersionResource{Group: "networking.istio.io", Version: "v1", Resource: resource}
	return func(ctx context.Context, o *unstructured.Unstructured) error {
		_, err := m.dynamic.Resource(kind).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
		return err
	}
}

// scope applies the Sidecars that meshgen wrote for the example.
func (m *mesh) scope(t *testing.T) {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, file := range cluster.Rendered(t, example, "mesh/*/sidecar-*.yaml") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(file.Text), &o.Object); err != nil {
			t.Fatalf("%s: %v", file.Path, err)
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		t.Fatal("meshgen wrote no Sidecar")
	}
	each(t, all, m.create("sidecars"))
}

// changing is how long it takes until every EndpointSlice has been replaced.
const changing = 7 * time.Second

// change replaces every endpoint of the mesh, one slice after the other.
func (m *mesh) change(t *testing.T) {
	t.Helper()
	began, done := time.Now(), 0
	each(t, m.slices, func(ctx context.Context, s *discoveryv1.EndpointSlice) error {
		now := s.DeepCopy()
		m.lock.Lock()
		for i := range now.Endpoints {
			now.Endpoints[i].Addresses = m.address()
		}
		due := began.Add(changing * time.Duration(done) / time.Duration(len(m.slices)))
		done++
		m.lock.Unlock()
		time.Sleep(time.Until(due))
		_, err := m.kubernetes.DiscoveryV1().EndpointSlices(s.Namespace).Update(ctx, now, metav1.UpdateOptions{})
		*s = *now
		return err
	})
}

// each works on a few objects at a time.
func each[T any](t *testing.T, objects []T, work func(context.Context, T) error) {
	t.Helper()
	queue := make(chan T)
	var workers errgroup.Group
	for range 8 {
		workers.Go(func() error {
			var failed error
			for o := range queue {
				if err := work(t.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
					failed = err
				}
			}
			return failed
		})
	}
	for _, o := range objects {
		queue <- o
	}
	close(queue)
	if err := workers.Wait(); err != nil {
		t.Fatal(err)
	}
}
