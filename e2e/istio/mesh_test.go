package istio_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pilot/pkg/xds/endpoints"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/constants"
	istiohost "istio.io/istio/pkg/config/host"
	istiomesh "istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/protocol"
	"istio.io/istio/pkg/config/schema/gvk"
	"istio.io/istio/pkg/log"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// Istio logs every informer; what fails says so itself.
func TestMain(m *testing.M) {
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	os.Exit(m.Run())
}

// mesh is Istio's own control plane over the Services of a profile.
type mesh struct {
	*core.ConfigGenTest
	profile cluster.Profile
}

// newMesh runs Istio with the listed Services and their endpoints, a stray
// Service in each namespace, istiod, what is always visible, the ServiceEntries
// that are called, and some Sidecars.
func newMesh(t *testing.T, p cluster.Profile, scopes []config.Config) mesh {
	t.Helper()
	options := core.TestOptions{Configs: slices.Concat(scopes, serviceEntries(p)), MeshConfig: meshConfig(p)}
	for _, s := range p.Services {
		if s.Serves() {
			service := newService(p, s.Name, s.Namespace, ports(s)...)
			options.Services = append(options.Services, service)
			options.Instances = append(options.Instances, instances(service, s.Endpoints, len(options.Instances))...)
		}
	}
	for _, name := range cluster.Unlisted(p) {
		options.Services = append(options.Services, newService(p, name[1], name[0], port(80, protocol.HTTP)))
	}
	return mesh{core.NewConfigGenTest(t, options), p}
}

// meshConfig is the mesh's own: its root namespace, and what becomes of calls to
// hosts out of scope.
func meshConfig(p cluster.Profile) *meshconfig.MeshConfig {
	c := istiomesh.DefaultMeshConfig()
	c.RootNamespace = p.Istio.Namespace
	if p.Mesh.OutboundTrafficPolicy == "REGISTRY_ONLY" {
		c.OutboundTrafficPolicy = &meshconfig.MeshConfig_OutboundTrafficPolicy{Mode: meshconfig.MeshConfig_OutboundTrafficPolicy_REGISTRY_ONLY}
	}
	return c
}

func newService(p cluster.Profile, name, namespace string, ports ...*model.Port) *model.Service {
	return &model.Service{
		Hostname: istiohost.Name(name + "." + namespace + ".svc." + p.Kubernetes.ClusterDomain), DefaultAddress: constants.UnspecifiedIP, Ports: ports,
		Attributes: model.ServiceAttributes{Name: name, Namespace: namespace},
	}
}

func port(number int, of protocol.Instance) *model.Port {
	return &model.Port{Name: fmt.Sprintf("%s-%d", strings.ToLower(string(of)), number), Port: number, Protocol: of}
}

func ports(s cluster.Service) []*model.Port {
	var all []*model.Port
	for _, p := range s.Ports {
		all = append(all, port(p.Number, protocol.Parse(p.Protocol)))
	}
	return all
}

// instances are the endpoints of a Service on each of its ports. Addresses count
// on from those that others have.
func instances(service *model.Service, byZone map[string]int, from int) []*model.ServiceInstance {
	var all []*model.ServiceInstance
	for _, zone := range slices.Sorted(maps.Keys(byZone)) {
		for range byZone[zone] {
			from++
			for _, p := range service.Ports {
				all = append(all, &model.ServiceInstance{Service: service, ServicePort: p, Endpoint: &model.IstioEndpoint{
					Addresses: []string{address(from)}, ServicePortName: p.Name, EndpointPort: uint32(p.Port),
					Locality: model.Locality{Label: "region/" + zone}, Namespace: service.Attributes.Namespace,
				}})
			}
		}
	}
	return all
}

func address(n int) string { return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255) }

// serviceEntries are those whose hosts are called.
func serviceEntries(p cluster.Profile) []config.Config {
	hosts := map[string]bool{}
	for _, s := range p.Services {
		for _, called := range s.ExternalCalls {
			hosts[called] = true
		}
	}
	var all []config.Config
	for i, called := range slices.Sorted(maps.Keys(hosts)) {
		namespace, name := cluster.External(called)
		all = append(all, config.Config{
			Meta: config.Meta{GroupVersionKind: gvk.ServiceEntry, Namespace: namespace, Name: fmt.Sprintf("external-%d", i)},
			Spec: &networking.ServiceEntry{
				Hosts: []string{name}, Location: networking.ServiceEntry_MESH_EXTERNAL, Resolution: networking.ServiceEntry_DNS,
				Ports: []*networking.ServicePort{{Number: 443, Name: "tls", Protocol: "TLS"}},
			},
		})
	}
	return all
}

// proxy is a sidecar of a workload.
func (m mesh) proxy(w cluster.Pods) *model.Proxy {
	return m.SetupProxy(&model.Proxy{
		ID: w.Name + "." + w.Namespace, ConfigNamespace: w.Namespace, Labels: w.Labels,
		Metadata: &model.NodeMetadata{Namespace: w.Namespace, Labels: w.Labels, IstioVersion: m.profile.Istio.Version + ".0"},
	})
}

// services are those in the scope of a proxy, as namespace/host, sorted.
func services(p *model.Proxy) []string {
	var all []string
	for _, s := range p.SidecarScope.Services() {
		all = append(all, s.Attributes.Namespace+"/"+string(s.Hostname))
	}
	slices.Sort(all)
	return all
}

// outbound are the clusters of a proxy that lead to Services, sorted.
func (m mesh) outbound(p *model.Proxy) []string {
	var all []string
	for _, cluster := range m.Clusters(p) {
		if strings.HasPrefix(cluster.Name, string(model.TrafficDirectionOutbound)+"|") {
			all = append(all, cluster.Name)
		}
	}
	slices.Sort(all)
	return all
}

// leadingTo are the names of the clusters for each port of some Services, sorted.
func (m mesh) leadingTo(services []string) []string {
	var all []string
	for _, s := range m.Env().Services() {
		if slices.Contains(services, s.Attributes.Namespace+"/"+string(s.Hostname)) {
			for _, p := range s.Ports {
				all = append(all, model.BuildSubsetKey(model.TrafficDirectionOutbound, "", s.Hostname, p.Port))
			}
		}
	}
	slices.Sort(all)
	return all
}

// endpoints are how many addresses istiod sends a proxy over EDS, for all
// clusters that it sends over CDS. An address with two ports counts once for
// each Service.
func (m mesh) endpoints(p *model.Proxy) int {
	sum := 0
	seen := map[string]bool{}
	for _, cluster := range m.Clusters(p) {
		if cluster.GetEdsClusterConfig() == nil {
			continue
		}
		_, _, hostname, _ := model.ParseSubsetKey(cluster.Name)
		builder := endpoints.NewEndpointBuilder(cluster.Name, p, m.PushContext())
		for _, at := range addresses(builder.BuildClusterLoadAssignment(m.Env().EndpointIndex)) {
			if key := string(hostname) + " " + at; !seen[key] {
				seen[key] = true
				sum++
			}
		}
	}
	return sum
}

func addresses(assignment *endpoint.ClusterLoadAssignment) []string {
	var all []string
	for _, locality := range assignment.GetEndpoints() {
		for _, e := range locality.LbEndpoints {
			all = append(all, e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress())
		}
	}
	return all
}
