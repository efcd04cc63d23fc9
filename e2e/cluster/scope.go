package cluster

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Pods are those of one workload: what one kind of pod is and calls: the Services in front of it
// taken together.
type Pods struct {
	Namespace, Name string
	Labels          map[string]string
	Services        []Service
}

// Workloads are the pods of a profile by workload, in its order.
func Workloads(t testing.TB, p Profile) []Pods {
	t.Helper()
	var all []Pods
	for _, s := range p.Services {
		if s.Workload == nil {
			t.Fatalf("%s/%s has no workload, whose pods the test would stand for", s.Namespace, s.Name)
		}
		at := slices.IndexFunc(all, func(w Pods) bool { return w.Namespace == s.Namespace && w.Name == s.Workload.Name })
		if at < 0 {
			at = len(all)
			all = append(all, Pods{Namespace: s.Namespace, Name: s.Workload.Name, Labels: s.Workload.Labels})
		}
		all[at].Services = append(all[at].Services, s)
	}
	return all
}

// Count is how many there are: the endpoints of the Service that has most.
func (w Pods) Count() int {
	most := 0
	for _, s := range w.Services {
		sum := 0
		for _, n := range s.Endpoints {
			sum += n
		}
		most = max(most, sum)
	}
	return most
}

// mostNamed is how many Services of another namespace a scope names one by one.
const mostNamed = 20

// Hosts is Services by namespace/host.
type Hosts map[string]bool

// Sorted is them in order.
func (s Hosts) Sorted() []string { return slices.Sorted(maps.Keys(s)) }

// wanted is the scope that the profile asks for: of some callers in a namespace,
// or of the whole namespace.
func wanted(p Profile, namespace string, whole bool, callers []Service) Hosts {
	all := Hosts{}
	all.addNamespace(p, p.Istio.Namespace)
	in := map[string]Hosts{}
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
				in[of] = Hosts{}
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

// Everything is what a proxy without a scope sees.
func Everything(p Profile) Hosts {
	all := Hosts{}
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
func host(p Profile, namespace, name string) string {
	return namespace + "/" + name + "." + namespace + ".svc." + p.Kubernetes.ClusterDomain
}

// addHost adds what a host of the profile selects.
func (s Hosts) addHost(p Profile, visible string) {
	if namespace, whole := strings.CutSuffix(visible, "/*"); whole {
		s.addNamespace(p, namespace)
		return
	}
	namespace, name := External(visible)
	s[namespace+"/"+name] = true
}

// addNamespace adds every Service of a namespace, those that the profile does
// not list among them.
func (s Hosts) addNamespace(p Profile, namespace string) {
	for _, listed := range p.Services {
		if listed.Namespace == namespace && listed.Serves() {
			s[host(p, namespace, listed.Name)] = true
		}
	}
	for _, extra := range Unlisted(p) {
		if extra[0] == namespace {
			s[host(p, namespace, extra[1])] = true
		}
	}
}

// Scope is what a workload's proxies are to see, and the decision that says so;
// no decision where no scope of theirs is written.
func Scope(p Profile, w Pods) (Hosts, string) {
	at := slices.IndexFunc(p.Namespaces, func(n Namespace) bool { return n.Name == w.Namespace })
	scope := p.Namespaces[at].SidecarScope
	tried := scope.Rollout == "canary" && scope.Canary == w.Name
	switch {
	case scope.Rollout != "live" && !tried:
		return Everything(p), ""
	case scope.Level == "workload":
		return wanted(p, w.Namespace, false, w.Services), "sidecar/" + w.Namespace + "/" + w.Name + ".hosts"
	case tried:
		return wanted(p, w.Namespace, true, inNamespace(p, w.Namespace)), "sidecar/" + w.Namespace + "/" + w.Name + ".hosts"
	}
	return wanted(p, w.Namespace, true, inNamespace(p, w.Namespace)), "sidecar/" + w.Namespace + ".hosts"
}

func inNamespace(p Profile, namespace string) []Service {
	var all []Service
	for _, s := range p.Services {
		if s.Namespace == namespace {
			all = append(all, s)
		}
	}
	return all
}

// Stray is a Service of every namespace that no profile lists. A scope by
// namespace shows it within its own, a scope by workload to nobody.
const Stray = "stray"

// Unlisted are the Services beside the profile's own: namespace and name. Where a
// whole namespace is always visible, it has a stray one.
func Unlisted(p Profile) [][2]string {
	all := [][2]string{{p.Istio.Namespace, "istiod"}}
	for _, n := range p.Namespaces {
		all = append(all, [2]string{n.Name, Stray})
	}
	for _, visible := range p.Mesh.AlwaysVisible {
		namespace, name, _ := strings.Cut(visible, "/")
		short, _, _ := strings.Cut(name, ".")
		if short == "*" {
			short = Stray
		}
		all = append(all, [2]string{namespace, short})
	}
	return all
}

// Elsewhere is the namespace of the ServiceEntries that are called in any.
const Elsewhere = "elsewhere"

// External is the namespace and the host of a ServiceEntry that is called.
func External(called string) (namespace, host string) {
	namespace, host, _ = strings.Cut(called, "/")
	if namespace == "*" {
		namespace = Elsewhere
	}
	return namespace, host
}
