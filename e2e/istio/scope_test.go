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

// set is Services by namespace/host.
type set map[string]bool

func (s set) sorted() []string { return slices.Sorted(maps.Keys(s)) }

// wanted is the scope that the profile asks for: of some callers in a namespace,
// or of the whole namespace.
func wanted(p cluster.Profile, namespace string, whole bool, callers []cluster.Service) set {
	all := set{}
	all.addNamespace(p, p.Istio.Namespace)
	in := map[string]set{}
	for _, visible := range p.Mesh.AlwaysVisible {
		all.addHost(p, visible)
	}
	for _, s := range callers {
		if s.Serves() && (s.SelfCalls == nil || *s.SelfCalls) {
			all[host(p, namespace, s.Name)] = true
		}
		for _, called := range s.ExternalCalls {
			all.addHost(p, called)
		}
		for _, called := range slices.Concat(s.Calls, s.ObservedCalls) {
			of, name, _ := strings.Cut(called, "/")
			all[host(p, of, name)] = true
			if in[of] == nil {
				in[of] = set{}
			}
			in[of][name] = true
		}
	}
	for of, names := range in {
		if of != namespace && len(names) > mostNamed {
			all.addNamespace(p, of)
		}
	}
	if whole {
		all.addNamespace(p, namespace)
	}
	return all
}

// everything is what a proxy without a scope sees.
func everything(p cluster.Profile) set {
	all := set{}
	for _, n := range p.Namespaces {
		all.addNamespace(p, n.Name)
	}
	all.addNamespace(p, p.Istio.Namespace)
	for _, visible := range p.Mesh.AlwaysVisible {
		all.addHost(p, visible)
	}
	for _, s := range p.Services {
		for _, called := range s.ExternalCalls {
			all.addHost(p, called)
		}
	}
	return all
}

// host is a Service as a Sidecar names it.
func host(p cluster.Profile, namespace, name string) string {
	return namespace + "/" + name + "." + namespace + ".svc." + p.Kubernetes.ClusterDomain
}

// addHost adds what a host of the profile selects.
func (s set) addHost(p cluster.Profile, visible string) {
	if namespace, whole := strings.CutSuffix(visible, "/*"); whole {
		s.addNamespace(p, namespace)
		return
	}
	namespace, name := external(visible)
	s[namespace+"/"+name] = true
}

// addNamespace adds every Service of a namespace, those that the profile does
// not list among them.
func (s set) addNamespace(p cluster.Profile, namespace string) {
	for _, listed := range p.Services {
		if listed.Namespace == namespace && listed.Serves() {
			s[host(p, namespace, listed.Name)] = true
		}
	}
	for _, extra := range unlisted(p) {
		if extra[0] == namespace {
			s[host(p, namespace, extra[1])] = true
		}
	}
}

// rendered is a profile with what meshgen wrote for it.
type rendered struct {
	profile cluster.Profile
	plan    map[string]cluster.Decision
	folder  string
}

// example is a profile of examples/ with its output in golden/.
func example(t *testing.T, name string) rendered {
	t.Helper()
	return rendered{cluster.ReadProfile(t, cluster.Example(name)), cluster.Plan(t, cluster.Example(name)), cluster.Folder(name)}
}

// mixed is a profile of this package that has every way to scope.
func mixed(t *testing.T) rendered {
	t.Helper()
	const file = "testdata/mixed/profile.yaml"
	return rendered{cluster.ReadProfile(t, file), cluster.Plan(t, file), cluster.Render(t, file)}
}

// Every proxy of every workload sees what its profile says that it calls, the
// control plane's namespace, and nothing else; and it is sent as many endpoints
// as the plan says. A proxy whose scope is not written sees all.
func TestProxiesSeeWhatTheyCall(t *testing.T) {
	for name, c := range map[string]struct {
		rendered
		workloads, scoped int
	}{
		"boutique": {example(t, "boutique"), 12, 12},
		"thousand": {example(t, "thousand"), 1000, 1000},
		"mixed":    {mixed(t), 35, 8},
	} {
		t.Run(name, func(t *testing.T) {
			all, scoped := workloads(t, c.profile), 0
			m := newMesh(t, c.profile, sidecars(t, c.folder))
			for _, w := range all {
				want, subject := scopeOf(c.profile, w)
				endpoints := c.plan["sidecar.visibleEndpoints"].Terms["listed"]
				if subject != "" {
					endpoints = c.plan[subject].Terms["visible"]
					scoped++
				}
				m.judge(t, w, want.sorted(), endpoints)
			}
			if len(all) != c.workloads || scoped != c.scoped {
				t.Errorf("%d workloads, %d of them with a scope that is written; want %d and %d", len(all), scoped, c.workloads, c.scoped)
			}
		})
	}
}

// scopeOf is what a workload's proxies are to see, and the decision that says so;
// no decision where no scope of theirs is written.
func scopeOf(p cluster.Profile, w workload) (set, string) {
	at := slices.IndexFunc(p.Namespaces, func(n cluster.Namespace) bool { return n.Name == w.namespace })
	scope := p.Namespaces[at].SidecarScope
	tried := scope.Rollout == "canary" && scope.Canary == w.name
	switch {
	case scope.Rollout != "live" && !tried:
		return everything(p), ""
	case scope.Level == "workload":
		return wanted(p, w.namespace, false, w.services), "sidecar/" + w.namespace + "/" + w.name + ".hosts"
	case tried:
		return wanted(p, w.namespace, true, inNamespace(p, w.namespace)), "sidecar/" + w.namespace + "/" + w.name + ".hosts"
	}
	return wanted(p, w.namespace, true, inNamespace(p, w.namespace)), "sidecar/" + w.namespace + ".hosts"
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

// judge compares what a proxy of the workload sees with what it should: Services,
// the clusters for their ports, and as many endpoints as the plan says.
func (m mesh) judge(t *testing.T, w workload, want []string, endpoints any) {
	t.Helper()
	proxy := m.proxy(w)
	if diff := cmp.Diff(want, services(proxy)); diff != "" {
		t.Errorf("%s/%s: Services in scope (-want +got):\n%s", w.namespace, w.name, diff)
	}
	if diff := cmp.Diff(m.leadingTo(want), m.outbound(proxy)); diff != "" {
		t.Errorf("%s/%s: clusters (-want +got):\n%s", w.namespace, w.name, diff)
	}
	if got := m.endpoints(proxy); significant(got) != endpoints {
		t.Errorf("%s/%s is sent %d endpoints, the plan says %v", w.namespace, w.name, got, endpoints)
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

// A host that is missing from a Sidecar is missing from the scope: what the
// tests above compare with is Istio's doing.
func TestAMissingHostIsOutOfScope(t *testing.T) {
	p := cluster.ReadProfile(t, cluster.Example("boutique"))
	scopes := sidecars(t, cluster.Folder("boutique"))
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
