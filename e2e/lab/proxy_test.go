package lab_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	v3 "istio.io/istio/pilot/pkg/xds/v3"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// proxy stands for a sidecar: a client of delta ADS that asks for what Envoy asks
// for, in its order, and acknowledges it. It reads of the answers what leads to
// the next question, and no more: Istio's own client (pkg/adsc) decodes all of
// them, which would cost the machine more than istiod does.
type proxy struct {
	node *corev3.Node
	pods cluster.Pods
	only string // the one type that it asks for, or none for all
	keep bool   // addresses, for a test to look at

	lock      sync.Mutex
	first     map[string]int             // bytes of the first answer since it last connected, by type
	sum       int                        // bytes of all of them
	pending   map[string]bool            // questions without an answer, by type
	asked     map[string]map[string]bool // names by type
	clusters  map[string]bool            // outbound
	endpoints map[string][]string        // addresses by cluster
	streams   int                        // that were answered, ever
}

// windows are those of pilot-agent's connection to istiod, in bytes
// (pilot/pkg/grpc/grpc.go).
const windows = 1 << 20

// newProxies are so many proxies of a mesh: of every so many pods one, in the
// order of the profile, so that a workload with many pods has many.
func (m *mesh) newProxies(t *testing.T, n int) []*proxy {
	t.Helper()
	var pods []cluster.Pods
	for _, w := range cluster.Workloads(t, m.profile) {
		pods = append(pods, slices.Repeat([]cluster.Pods{w}, w.Count())...)
	}
	all := make([]*proxy, n)
	for i := range all {
		all[i] = m.newProxy(t, pods[i*len(pods)/n], i)
	}
	return all
}

func (m *mesh) newProxy(t *testing.T, w cluster.Pods, number int) *proxy {
	t.Helper()
	labels := map[string]any{}
	for key, value := range w.Labels {
		labels[key] = value
	}
	meta, err := structpb.NewStruct(map[string]any{"NAMESPACE": w.Namespace, "LABELS": labels, "ISTIO_VERSION": "1.31.0"})
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("sidecar~172.16.%d.%d~%s-%d.%s~%s.svc.%s", number>>8, number&255, w.Name, number, w.Namespace, w.Namespace, m.profile.Kubernetes.ClusterDomain)
	return &proxy{node: &corev3.Node{Id: id, Cluster: w.Name + "." + w.Namespace, Metadata: meta}, pods: w}
}

// connect keeps one stream until it ends; it says whether it was answered.
func (p *proxy) connect(ctx context.Context, address string) (answered bool, err error) {
	// As pilot-agent does, each stream has a connection of its own.
	connection, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(windows), grpc.WithInitialConnWindowSize(windows))
	if err != nil {
		return false, err
	}
	defer connection.Close()
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(connection).DeltaAggregatedResources(ctx, grpc.MaxCallRecvMsgSize(1<<30))
	if err != nil {
		return false, err
	}
	p.begin()
	if err := p.ask(stream, v3.ClusterType); err != nil {
		return false, err
	}
	for {
		answer, err := stream.Recv()
		if err != nil {
			return answered, err
		}
		answered = true
		if err := p.take(stream, answer); err != nil {
			return true, err
		}
	}
}

// begin forgets the last stream.
func (p *proxy) begin() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.first, p.sum, p.pending = map[string]int{}, 0, map[string]bool{}
	p.asked = map[string]map[string]bool{v3.EndpointType: {}, v3.RouteType: {}}
	p.clusters, p.endpoints = map[string]bool{}, map[string][]string{}
}

type stream = discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesClient

// ask subscribes to all resources of a type.
func (p *proxy) ask(to stream, kind string) error {
	p.lock.Lock()
	p.pending[kind] = true
	p.lock.Unlock()
	return to.Send(&discovery.DeltaDiscoveryRequest{Node: p.node, TypeUrl: kind})
}

// askFor subscribes to resources of a type by name, once each, and ends the
// subscription to others.
func (p *proxy) askFor(to stream, kind string, names, gone []string) error {
	if p.only != "" {
		return nil
	}
	request := &discovery.DeltaDiscoveryRequest{TypeUrl: kind}
	p.lock.Lock()
	for _, name := range names {
		if !p.asked[kind][name] {
			p.asked[kind][name], p.pending[kind] = true, true
			request.ResourceNamesSubscribe = append(request.ResourceNamesSubscribe, name)
		}
	}
	for _, name := range gone {
		if p.asked[kind][name] {
			delete(p.asked[kind], name)
			request.ResourceNamesUnsubscribe = append(request.ResourceNamesUnsubscribe, name)
		}
	}
	p.lock.Unlock()
	if len(request.ResourceNamesSubscribe)+len(request.ResourceNamesUnsubscribe) == 0 {
		return nil
	}
	return to.Send(request)
}

// take counts an answer, acknowledges it, and asks for what it leads to.
func (p *proxy) take(from stream, answer *discovery.DeltaDiscoveryResponse) error {
	err := from.Send(&discovery.DeltaDiscoveryRequest{TypeUrl: answer.TypeUrl, ResponseNonce: answer.Nonce})
	if err != nil {
		return err
	}
	isFirst := p.count(answer)
	switch answer.TypeUrl {
	case v3.ClusterType:
		names, err := p.takeClusters(answer)
		if err != nil {
			return err
		}
		return p.askFor(from, v3.EndpointType, names, answer.RemovedResources)
	case v3.EndpointType:
		if err := p.takeEndpoints(answer); err != nil || !isFirst {
			return err
		}
		return p.ask(from, v3.ListenerType)
	case v3.ListenerType:
		names, err := routesOf(answer)
		if err != nil {
			return err
		}
		return p.askFor(from, v3.RouteType, names, nil)
	}
	return nil
}

// count reports whether an answer is the first of its type.
func (p *proxy) count(answer *discovery.DeltaDiscoveryResponse) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if len(p.first) == 0 {
		p.streams++
	}
	size := proto.Size(answer)
	p.sum += size
	p.pending[answer.TypeUrl] = false
	if _, later := p.first[answer.TypeUrl]; later {
		return false
	}
	p.first[answer.TypeUrl] = size
	return true
}

// sentByEDS remembers by name which clusters have their endpoints sent apart: the
// same for every proxy.
var sentByEDS sync.Map

// takeClusters gives the clusters whose endpoints are to be asked for.
func (p *proxy) takeClusters(answer *discovery.DeltaDiscoveryResponse) ([]string, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, name := range answer.RemovedResources {
		delete(p.clusters, name)
		delete(p.endpoints, name)
	}
	var names []string
	for _, r := range answer.Resources {
		if strings.HasPrefix(r.Name, "outbound|") {
			p.clusters[r.Name] = true
		}
		eds, known := sentByEDS.Load(r.Name)
		if !known {
			c := &clusterv3.Cluster{}
			if err := r.Resource.UnmarshalTo(c); err != nil {
				return nil, err
			}
			eds = c.GetType() == clusterv3.Cluster_EDS
			sentByEDS.Store(r.Name, eds)
		}
		if eds.(bool) {
			names = append(names, r.Name)
		}
	}
	return names, nil
}

func (p *proxy) takeEndpoints(answer *discovery.DeltaDiscoveryResponse) error {
	if !p.keep {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, r := range answer.Resources {
		assignment := &endpointv3.ClusterLoadAssignment{}
		if err := r.Resource.UnmarshalTo(assignment); err != nil {
			return err
		}
		addresses := []string{}
		for _, locality := range assignment.Endpoints {
			for _, e := range locality.LbEndpoints {
				addresses = append(addresses, e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress())
			}
		}
		slices.Sort(addresses)
		p.endpoints[r.Name] = addresses
	}
	return nil
}

// routesOf are the routes that listeners name, each once.
func routesOf(answer *discovery.DeltaDiscoveryResponse) ([]string, error) {
	var names []string
	for _, r := range answer.Resources {
		l := &listenerv3.Listener{}
		if err := r.Resource.UnmarshalTo(l); err != nil {
			return nil, err
		}
		for _, chain := range append(l.FilterChains, l.DefaultFilterChain) {
			for _, filter := range chain.GetFilters() {
				manager := &hcm.HttpConnectionManager{}
				if filter.GetTypedConfig().UnmarshalTo(manager) == nil && manager.GetRds() != nil {
					names = append(names, manager.GetRds().RouteConfigName)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// kinds are what a proxy asks for.
var kinds = []string{v3.ClusterType, v3.EndpointType, v3.ListenerType, v3.RouteType}

// synced is nil when every question was answered.
func (p *proxy) synced() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, kind := range kinds {
		if p.only != "" && p.only != kind {
			continue
		}
		if p.first[kind] == 0 || p.pending[kind] {
			return fmt.Errorf("%s has no %s", p.node.Id, kind)
		}
	}
	return nil
}

// sent is the bytes of a type that it was sent when it connected, of all types
// without one.
func (p *proxy) sent(of ...string) int {
	p.lock.Lock()
	defer p.lock.Unlock()
	sum := 0
	for kind, n := range p.first {
		if len(of) == 0 || slices.Contains(of, kind) {
			sum += n
		}
	}
	return sum
}

// total is the bytes that it was sent since it connected.
func (p *proxy) total() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.sum
}

// Envoy's waits for the management server (envoy/config/subscription_factory.h).
const (
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 30 * time.Second
)

// stay connects again whenever a stream ends, after a wait as Envoy's: at random
// up to a limit that doubles until it is answered.
func (p *proxy) stay(ctx context.Context, address string) {
	limit := firstBackoff
	for ctx.Err() == nil {
		if answered, _ := p.connect(ctx, address); answered {
			limit = firstBackoff
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(limit)):
		}
		limit = min(2*limit, lastBackoff)
	}
}

// connect lets proxies come one after the other within a time, each to stay, and
// gives what ends them.
func connect(t *testing.T, all []*proxy, address string, within time.Duration) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i, p := range all {
		p.begin()
		group.Go(func() {
			time.Sleep(within * time.Duration(i) / time.Duration(len(all)))
			p.stay(ctx, address)
		})
	}
	stop = func() { cancel(); group.Wait() }
	t.Cleanup(stop)
	return stop
}

// connected lets proxies connect to an address, waits until each has all that it
// asked for, and gives what ends them.
func connected(t *testing.T, all []*proxy, address string) (stop func()) {
	t.Helper()
	stop = connect(t, all, address, 0)
	await(t, 10*time.Minute, "proxies that have their configuration", func() error {
		for _, p := range all {
			if err := p.synced(); err != nil {
				return err
			}
		}
		return nil
	})
	return stop
}
