package istio_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pkg/config"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// workload is what one kind of pod is and calls: the Services in front of it
// taken together.
type workload struct {
	namespace, name string
	labels          map[string]string
	services        []cluster.Service
}

// workloads are those of a profile, in its order.
func workloads(t *testing.T, p cluster.Profile) []workload {
	t.Helper()
	var all []workload
	for _, s := range p.Services {
		if s.Workload == nil {
			t.Fatalf("%s/%s has no workload, whose pods the test would stand for", s.Namespace, s.Name)
		}
		at := slices.IndexFunc(all, func(w workload) bool { return w.namespace == s.Namespace && w.name == s.Workload.Name })
		if at < 0 {
			at = len(all)
			all = append(all, workload{namespace: s.Namespace, name: s.Workload.Name, labels: s.Workload.Labels})
		}
		all[at].services = append(all[at].services, s)
	}
	return all
}

// mostNamed is how many Services of another namespace a scope names one by one.
const mostNamed = 20

// wanted is the scope that the profile asks for, as Services by namespace/host:
// of some callers in a namespace, or of the whole namespace.
func wanted(p cluster.Profile, namespace string, whole bool, callers []cluster.Service) []string {
	all := map[string]bool{host(p.Istio.Namespace, "istiod"): true}
	in := map[string]map[string]bool{}
	for _, visible := range p.Mesh.AlwaysVisible {
		all[visible] = true
	}
	for _, s := range callers {
		if s.Serves() && (s.SelfCalls == nil || *s.SelfCalls) {
			all[host(namespace, s.Name)] = true
		}
		for _, external := range s.ExternalCalls {
			all[external] = true
		}
		for _, called := range slices.Concat(s.Calls, s.ObservedCalls) {
			of, name, _ := strings.Cut(called, "/")
			all[host(of, name)] = true
			if in[of] == nil {
				in[of] = map[string]bool{}
			}
			in[of][name] = true
		}
	}
	for of, names := range in {
		if of != namespace && len(names) > mostNamed {
			addNamespace(all, p, of)
		}
	}
	if whole {
		addNamespace(all, p, namespace)
	}
	return slices.Sorted(maps.Keys(all))
}

// host is a Service as a Sidecar names it.
func host(namespace, name string) string {
	return namespace + "/" + name + "." + namespace + ".svc.cluster.local"
}

// addNamespace adds every Service of a namespace, those that the profile does
// not list among them.
func addNamespace(all map[string]bool, p cluster.Profile, namespace string) {
	for _, s := range p.Services {
		if s.Namespace == namespace && s.Serves() {
			all[host(namespace, s.Name)] = true
		}
	}
	for _, extra := range unlisted(p) {
		if extra[0] == namespace {
			all[host(namespace, extra[1])] = true
		}
	}
}

// Every proxy of every workload sees what its profile says that it calls, the
// control plane's namespace, and nothing else; and it is sent as many endpoints
// as the plan says.
func TestProxiesSeeWhatTheyCall(t *testing.T) {
	for name, want := range map[string]int{"boutique": 12, "thousand": 1000} {
		t.Run(name, func(t *testing.T) {
			p := cluster.ReadProfile(t, cluster.Example(name))
			all := workloads(t, p)
			if len(all) != want {
				t.Fatalf("%d workloads, want %d", len(all), want)
			}
			plan := cluster.Plan(t, cluster.Example(name))
			m, level := newMesh(t, p, sidecars(t, name)), levels(p)
			for _, w := range all {
				whole := level[w.namespace] == "namespace"
				callers, subject := w.services, "sidecar/"+w.namespace+"/"+w.name+".hosts"
				if whole {
					callers, subject = inNamespace(p, w.namespace), "sidecar/"+w.namespace+".hosts"
				}
				m.judge(t, w, wanted(p, w.namespace, whole, callers), plan[subject])
			}
		})
	}
}

// levels are the levels of the scopes by namespace.
func levels(p cluster.Profile) map[string]string {
	all := map[string]string{}
	for _, n := range p.Namespaces {
		all[n.Name] = n.SidecarScope.Level
	}
	return all
}

func inNamespace(p cluster.Profile, namespace string) []cluster.Service {
	var all []cluster.Service
	for _, s := range p.Services {
		if s.Namespace == namespace {
			all = append(all, s)
		}
	}
	return all
}

// judge compares what a proxy of the workload sees with what it should, and its
// endpoints with what the plan says.
func (m mesh) judge(t *testing.T, w workload, want []string, planned cluster.Decision) {
	t.Helper()
	proxy := m.proxy(w)
	if diff := cmp.Diff(want, services(proxy)); diff != "" {
		t.Errorf("%s/%s: Services in scope (-want +got):\n%s", w.namespace, w.name, diff)
	}
	if planned.Value == nil {
		t.Fatalf("%s/%s: the plan has no Sidecar for it", w.namespace, w.name)
	}
	if got := m.endpoints(proxy); significant(got) != planned.Terms["visible"] {
		t.Errorf("%s/%s is sent %d endpoints, the plan says %v", w.namespace, w.name, got, planned.Terms["visible"])
	}
}

// significant is a number as the plan prints it, to four digits.
func significant(n int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', 4, 64), 64)
	if err != nil {
		panic(fmt.Sprintf("%d: %v", n, err))
	}
	return rounded
}

// Without Sidecars a proxy is sent every endpoint of every listed Service; pods
// behind no Service are no endpoints.
func TestProxiesWithoutScopesSeeAllThatIsListed(t *testing.T) {
	for _, name := range []string{"boutique", "thousand"} {
		t.Run(name, func(t *testing.T) {
			p := cluster.ReadProfile(t, cluster.Example(name))
			m := newMesh(t, p, nil)
			got := m.endpoints(m.proxy(workloads(t, p)[0]))
			planned, ok := cluster.Plan(t, cluster.Example(name))["sidecar.visibleEndpoints"].Terms["listed"]
			if !ok || significant(got) != planned {
				t.Errorf("a proxy is sent %d endpoints, and the plan lists %v", got, planned)
			}
		})
	}
}

// A host that is missing from a Sidecar is missing from the scope: what the
// tests above compare with is Istio's doing.
func TestAMissingHostIsOutOfScope(t *testing.T) {
	p := cluster.ReadProfile(t, cluster.Example("boutique"))
	scopes := sidecars(t, "boutique")
	at := slices.IndexFunc(scopes, func(c config.Config) bool { return c.Name == "cartservice" })
	scopes[at] = withHosts(scopes[at], "./cartservice.boutique.svc.cluster.local")
	m := newMesh(t, p, scopes)
	all := workloads(t, p)
	caller := all[slices.IndexFunc(all, func(w workload) bool { return w.name == "cartservice" })]
	want := []string{"boutique/cartservice.boutique.svc.cluster.local"}
	if diff := cmp.Diff(want, services(m.proxy(caller))); diff != "" {
		t.Errorf("Services in scope (-want +got):\n%s", diff)
	}
}

// withHosts is a Sidecar with other hosts.
func withHosts(sidecar config.Config, hosts ...string) config.Config {
	changed := sidecar.DeepCopy()
	changed.Spec.(*networking.Sidecar).Egress[0].Hosts = hosts
	return changed
}
