package lab_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v3 "istio.io/istio/pilot/pkg/xds/v3"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// few is how many proxies stand for the mesh where each is looked at.
const few = 50

// TestIstiod asks a real istiod what it sends; one mesh is enough for all, since
// each part begins where the one before ends.
func TestIstiod(t *testing.T) {
	m := newMesh(t)
	i := m.newIstiod(t)
	all := m.newProxies(t, few)
	for _, p := range all {
		p.keep = true
	}
	claims := cluster.Claims(t, cluster.Folder(example))
	everything := m.leadingTo(t, cluster.Everything(m.profile))
	maps.Copy(everything, m.others(t))

	stop := connected(t, all, i.xds)
	bytes := map[*proxy]map[string]int{}
	for _, p := range all {
		bytes[p] = map[string]int{}
		for _, kind := range kinds {
			bytes[p][kind] = p.sent(kind)
		}
		p.judge(t, everything, claims[p.pods.Namespace].InsteadOf)
	}
	alike(t, all, func(*proxy) string { return "the mesh" })

	m.scope(t)
	scopes := map[string]map[string][]string{}
	for _, p := range all {
		hosts, _ := cluster.Scope(m.profile, p.pods)
		scopes[p.pods.Namespace] = m.leadingTo(t, hosts)
	}
	await(t, 2*time.Minute, "proxies that keep what their scope has and nothing else", func() error {
		for _, p := range all {
			if got, want := p.outbound(), slices.Sorted(maps.Keys(scopes[p.pods.Namespace])); !slices.Equal(got, want) {
				return fmt.Errorf("%s has %d clusters, its scope %d", p.node.Id, len(got), len(want))
			}
		}
		return nil
	})
	stop()

	stop = connected(t, all, i.xds)
	for _, p := range all {
		p.judge(t, scopes[p.pods.Namespace], claims[p.pods.Namespace].Seen)
		p.shrank(t, bytes[p])
	}
	alike(t, all, func(p *proxy) string { return p.pods.Namespace })
	stop()
	i.kill()

	t.Run("redistribution", m.redistributesAsSimulated)
}

// leadingTo are the addresses behind each cluster that leads to some Services.
func (m *mesh) leadingTo(t *testing.T, hosts cluster.Hosts) map[string][]string {
	t.Helper()
	ports := map[string][]int{}
	addresses := map[string][]string{}
	domain := ".svc." + m.profile.Kubernetes.ClusterDomain
	for _, s := range listed(m.profile) {
		for _, p := range s.Ports {
			name := s.Namespace + "/" + s.Name + "." + s.Namespace + domain
			ports[name] = append(ports[name], p.Number)
		}
	}
	for _, name := range cluster.Unlisted(m.profile) {
		ports[name[0]+"/"+name[1]+"."+name[0]+domain] = []int{80}
	}
	for _, e := range serviceEntries(m.profile) {
		ports[e.GetNamespace()+"/"+e.Object["spec"].(map[string]any)["hosts"].([]any)[0].(string)] = []int{443}
	}
	for _, s := range m.slices {
		name := s.Namespace + "/" + s.Labels[discoveryv1.LabelServiceName] + "." + s.Namespace + domain
		addresses[name] = append(addresses[name], addressesOf(s)...)
	}
	all := map[string][]string{}
	for name := range hosts {
		if len(ports[name]) == 0 {
			t.Fatalf("%s is in scope, and the mesh does not have it", name)
		}
		_, host, _ := strings.Cut(name, "/")
		for _, port := range ports[name] {
			all[outbound(port, host)] = sorted(addresses[name])
		}
	}
	return all
}

func outbound(port int, host string) string { return fmt.Sprintf("outbound|%d||%s", port, host) }

func sorted(all []string) []string {
	all = append([]string{}, all...)
	slices.Sort(all)
	return all
}

func addressesOf(s *discoveryv1.EndpointSlice) []string {
	var all []string
	for _, e := range s.Endpoints {
		all = append(all, e.Addresses...)
	}
	return all
}

// others are the clusters that lead to what the API server has made itself: its
// own Service, whose address on the loopback Istio tells no proxy.
func (m *mesh) others(t *testing.T) map[string][]string {
	t.Helper()
	services, err := m.kubernetes.CoreV1().Services(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, s := range services.Items {
		for _, p := range s.Spec.Ports {
			all[outbound(int(p.Port), s.Name+"."+s.Namespace+".svc."+m.profile.Kubernetes.ClusterDomain)] = nil
		}
	}
	return all
}

// outbound are the names of the clusters that lead to Services, sorted.
func (p *proxy) outbound() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Sorted(maps.Keys(p.clusters))
}

// judge compares what a proxy was sent with the clusters that it should have, each
// with the addresses behind it, and with as many endpoints as were claimed.
func (p *proxy) judge(t *testing.T, want map[string][]string, claimed int) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), p.outbound()); diff != "" {
		t.Errorf("%s: clusters (-want +got):\n%s", p.node.Id, diff)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	for name, addresses := range p.endpoints {
		if !slices.Equal(addresses, want[name]) {
			t.Errorf("%s: %d endpoints of %s, want %d, or others", p.node.Id, len(addresses), name, len(want[name]))
		}
	}
	if got := count(p.endpoints); got != claimed {
		t.Errorf("%s was sent %d endpoints, PLAN.md says %d", p.node.Id, got, claimed)
	}
}

// count is how many addresses there are; one with two ports counts once for each
// Service.
func count(endpoints map[string][]string) int {
	seen := map[string]bool{}
	for name, addresses := range endpoints {
		host := name[strings.LastIndex(name, "|"):]
		for _, address := range addresses {
			seen[host+address] = true
		}
	}
	return len(seen)
}

// messageBytes is what the law of the push (docs/law.md) takes one endpoint to be
// in a message.
const messageBytes = 73

// alike demands that proxies of one scope are sent equally many bytes of
// endpoints, and that these are about what the law of the push takes them to be.
func alike(t *testing.T, all []*proxy, scope func(*proxy) string) {
	t.Helper()
	bytes := map[string]int{}
	for _, p := range all {
		got := p.sent(v3.EndpointType)
		if first, ok := bytes[scope(p)]; ok && got != first {
			t.Errorf("%s: %d bytes of endpoints, another of %s has %d", p.node.Id, got, scope(p), first)
		}
		bytes[scope(p)] = got
		if each := float64(got) / float64(count(p.endpoints)); each < 0.8*messageBytes || each > 1.2*messageBytes {
			t.Errorf("%s: %.1f bytes an endpoint, the law has %d", p.node.Id, each, messageBytes)
		}
	}
}

// shrank demands that a scope leaves less of each type to send.
func (p *proxy) shrank(t *testing.T, before map[string]int) {
	t.Helper()
	for _, kind := range kinds {
		if now := p.sent(kind); now >= before[kind] {
			t.Errorf("%s: %d bytes of %s, %d without Sidecars", p.node.Id, now, kind, before[kind])
		}
	}
}
