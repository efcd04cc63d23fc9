package plan

import (
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/profile"
)

// mostExact is how many Services of one namespace are listed by name; more are
// its wildcard. Exact hosts are cheap from Istio 1.31, where they are looked up
// instead of searched for (release note 60473), and a short list changes less
// when a namespace does.
const mostExact = 20

// registry is the listed Services as Istio knows them: what a Sidecar's hosts
// select, and how many endpoints that is.
type registry struct {
	services  []profile.Service
	domain    string             // of Services, such as svc.cluster.local
	endpoints []int64            // of each Service
	listed    int64              // endpoints of all that are Services
	members   map[string]members // by namespace
	byHost    map[string][]int   // by namespace/dnsName, and by namespace/*
	patterns  map[string][]int   // what a host with another wildcard selects, once looked for
	seen      []int              // the last round in which each was counted
	round     int
}

// members are what stands in one namespace.
type members struct {
	workloads []int // into the builder's workloads
	services  []int // into the profile's
	loose     []int // of these, those that name no workload
}

func (b *builder) registry() *registry {
	s := b.spec()
	r := &registry{
		services: s.Services, domain: "svc." + s.Kubernetes.ClusterDomain,
		members: map[string]members{}, byHost: map[string][]int{}, patterns: map[string][]int{}, seen: make([]int, len(s.Services)),
	}
	for i := range s.Services {
		r.add(i)
	}
	for i, w := range b.workloads {
		in := r.members[w.Namespace]
		in.workloads = append(in.workloads, i)
		r.members[w.Namespace] = in
	}
	return r
}

func (r *registry) add(i int) {
	s := &r.services[i]
	var endpoints int64
	for _, n := range s.Endpoints {
		endpoints += n
	}
	r.endpoints = append(r.endpoints, endpoints)
	in := r.members[s.Namespace]
	in.services = append(in.services, i)
	if s.Workload == nil {
		in.loose = append(in.loose, i)
	}
	r.members[s.Namespace] = in
	if !serves(*s) {
		return
	}
	r.listed += endpoints
	for _, host := range []string{r.host(s.Namespace, s.Name), s.Namespace + "/*"} {
		r.byHost[host] = append(r.byHost[host], i)
	}
}

// serves reports whether an entry is a Service. One with an empty list of ports
// is a workload that nobody calls and that has no Service, such as a load
// generator or a consumer of a queue; one that gives no ports is a Service whose
// ports nobody wrote down.
func serves(s profile.Service) bool { return s.Ports == nil || len(s.Ports) > 0 }

// host is a Service as a Sidecar lists it. Istio refuses short names.
func (r *registry) host(namespace, name string) string {
	return namespace + "/" + name + "." + namespace + "." + r.domain
}

// pods are those behind some Services of one workload: each Service has all.
func (r *registry) pods(services []int) int64 {
	var most int64
	for _, i := range services {
		most = max(most, r.endpoints[i])
	}
	return most
}

// hosts lists what proxies of a namespace may see: the Services that are called,
// by name while at most mostExact of their namespace are and always in their
// own, and the rest as given. They are sorted; what a namespace's wildcard
// covers is left out, for Istio warns of both.
func (r *registry) hosts(namespace string, c called, rest ...string) []string {
	calls := distinct(slices.Concat(c.declared, c.observed))
	in := map[string]int{}
	for _, call := range calls {
		of, _, _ := strings.Cut(call, "/")
		in[of]++
	}
	hosts := slices.Concat(rest, c.external)
	for _, call := range calls {
		of, name, _ := strings.Cut(call, "/")
		if of != namespace && in[of] > mostExact {
			hosts = append(hosts, of+"/*")
			continue
		}
		hosts = append(hosts, r.host(of, name))
	}
	for i, host := range hosts {
		if own, ok := strings.CutPrefix(host, namespace+"/"); ok {
			hosts[i] = "./" + own
		}
	}
	return uncovered(distinct(hosts))
}

// uncovered are the hosts of a sorted list without those that the wildcard of
// their namespace covers, which sorts before them.
func uncovered(hosts []string) []string {
	whole := ""
	return slices.DeleteFunc(hosts, func(host string) bool {
		of, name, _ := strings.Cut(host, "/")
		if name == "*" {
			whole = of
			return false
		}
		return of == whole
	})
}

// visible is how many listed endpoints proxies of a namespace see through hosts.
func (r *registry) visible(namespace string, hosts []string) int64 {
	r.round++
	var sum int64
	for _, host := range hosts {
		if own, ok := strings.CutPrefix(host, "./"); ok {
			host = namespace + "/" + own
		}
		for _, i := range r.selected(host) {
			if r.seen[i] != r.round {
				r.seen[i] = r.round
				sum += r.endpoints[i]
			}
		}
	}
	return sum
}

// selected are the Services that a host selects. Only hosts that the profile
// gives may have another wildcard than a namespace's.
func (r *registry) selected(host string) []int {
	of, name, _ := strings.Cut(host, "/")
	if of != "*" && (name == "*" || !strings.HasPrefix(name, "*")) {
		return r.byHost[host]
	}
	found, known := r.patterns[host]
	if known {
		return found
	}
	for i := range r.services {
		if s := &r.services[i]; serves(*s) && picks(host, s.Namespace, s.Name+"."+s.Namespace+"."+r.domain) {
			found = append(found, i)
		}
	}
	r.patterns[host] = found
	return found
}

// picks reports whether a Sidecar's host selects a name of a namespace: the name
// itself, *, or *.suffix, of that namespace or of any.
func picks(host, namespace, name string) bool {
	of, pattern, _ := strings.Cut(host, "/")
	if of != "*" && of != namespace {
		return false
	}
	suffix, wild := strings.CutPrefix(pattern, "*")
	if !wild {
		return name == pattern
	}
	return strings.HasSuffix(name, suffix)
}
