package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/profile"
)

// scopes decides what proxies may see: one Sidecar for a namespace, or one for
// each of its workloads. A scope is made of the calls that the profile lists, so
// it is written only where these are known to be all. The model of istiod's
// memory is not relieved by it: a new fit under live scopes is.
func (b *builder) scopes() {
	r := b.registry()
	b.judgeHosts()
	b.judgeCalls(r)
	order := make([]int, len(b.spec().Namespaces))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Compare(b.spec().Namespaces[x].Name, b.spec().Namespaces[y].Name)
	})
	all := &tally{listed: r.listed}
	for _, i := range order {
		b.scopeNamespace(r, i, all)
	}
	b.judgeWritten(r)
	b.visibleEndpoints(all)
}

// scopeNamespace makes the scopes of one namespace, at its level and as far as
// its rollout may go.
func (b *builder) scopeNamespace(r *registry, i int, all *tally) {
	n := b.spec().Namespaces[i]
	in := r.members[n.Name]
	rollout := b.provenRollout(r, i)
	var scopes []scoped
	if n.SidecarScope.Level == "workload" {
		scopes = b.workloadScopes(r, n, in, rollout)
	} else {
		scopes = b.namespaceScopes(r, n, in, rollout)
	}
	slices.SortFunc(scopes, func(x, y scoped) int { return cmp.Compare(x.Name, y.Name) })
	for _, s := range scopes {
		b.decideScope(s, fmt.Sprintf("spec.namespaces[%d].sidecarScope", i))
		all.add(s)
	}
	for _, s := range in.loose {
		if n.SidecarScope.Level == "workload" {
			all.addUnscoped(r.endpoints[s])
		}
	}
}

// scoped is a scope with what it was made of.
type scoped struct {
	Scope
	called called
	own    int   // Services of the workload itself among them
	tried  int64 // proxies of the canary that has this scope under a name of its own
	copied bool  // the scope is another's, tried on one workload
}

// namespaceScopes are the namespace's own scope and, in a canary, the same under
// the name of the workload that tries it.
func (b *builder) namespaceScopes(r *registry, n profile.Namespace, in members, rollout string) []scoped {
	s := scoped{called: b.called(in.services)}
	s.Scope = Scope{
		Namespace: n.Name, Name: "default", Rollout: rollout, Listed: r.listed,
		Hosts: r.hosts(n.Name, s.called, append(b.everywhere(), "./*")...),
	}
	s.Proxies, s.Visible = b.proxies(r, in), r.visible(n.Name, s.Hosts)
	if rollout != "canary" {
		return []scoped{s}
	}
	w := b.workloads[b.deployed[n.Name+"/"+n.SidecarScope.Canary]]
	tries := s
	tries.Name, tries.Selector, tries.Proxies, tries.copied = w.Name, w.Labels, r.pods(w.services), true
	s.Rollout, s.tried = "report", tries.Proxies
	return []scoped{s, tries}
}

// workloadScopes are one scope for each workload; a canary writes one of them.
func (b *builder) workloadScopes(r *registry, n profile.Namespace, in members, rollout string) []scoped {
	var all []scoped
	for _, at := range in.workloads {
		w := b.workloads[at]
		own := b.own(w)
		s := scoped{called: b.called(w.services), own: len(own)}
		reached := s.called
		reached.declared = slices.Concat(reached.declared, own)
		s.Scope = Scope{
			Namespace: n.Name, Name: w.Name, Selector: w.Labels, Rollout: rollout, Listed: r.listed,
			Hosts: r.hosts(n.Name, reached, b.everywhere()...), Proxies: r.pods(w.services),
		}
		if rollout == "canary" && w.Name != n.SidecarScope.Canary {
			s.Rollout = "report"
		}
		s.Visible = r.visible(n.Name, s.Hosts)
		all = append(all, s)
	}
	return all
}

// own are the Services of a workload that it calls itself, as peers of one
// Service do.
func (b *builder) own(w deployed) []string {
	var names []string
	for _, i := range w.services {
		if s := b.spec().Services[i]; s.SelfCalls && serves(s) {
			names = append(names, s.Namespace+"/"+s.Name)
		}
	}
	return names
}

// everywhere are the hosts that every scope keeps. The control plane's namespace
// is among them for the tracing, logging and authorization Services that mesh
// configuration refers to, not for xDS, which needs no host.
func (b *builder) everywhere() []string {
	return append([]string{b.spec().Istio.Namespace + "/*"}, b.spec().Mesh.AlwaysVisible...)
}

// proxies are those of a namespace: the pods of each workload once, however many
// Services stand in front of it.
func (b *builder) proxies(r *registry, in members) int64 {
	var sum int64
	for _, w := range in.workloads {
		sum += r.pods(b.workloads[w].services)
	}
	for _, s := range in.loose {
		sum += r.endpoints[s]
	}
	return sum
}

// called is what some Services call: as namespace/name by their owners' word,
// only by observation, and as hosts of ServiceEntries. Each list is sorted and
// has each once.
type called struct{ declared, observed, external []string }

func (b *builder) called(services []int) called {
	var c called
	for _, i := range services {
		s := &b.spec().Services[i]
		c.declared = append(c.declared, s.Calls...)
		c.observed = append(c.observed, s.ObservedCalls...)
		c.external = append(c.external, s.ExternalCalls...)
	}
	c.declared, c.external = distinct(c.declared), distinct(c.external)
	c.observed = slices.DeleteFunc(distinct(c.observed), func(name string) bool {
		_, known := slices.BinarySearch(c.declared, name)
		return known
	})
	return c
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// decideScope records a scope and its decision: the hosts where a Sidecar is
// written, else nothing, with the hosts among the terms.
func (b *builder) decideScope(s scoped, path string) {
	d := &derivation{}
	d.input(Term{Name: "listed", Value: big.NewRat(s.Listed, 1), Unit: "endpoints", From: "spec.services"})
	d.input(Term{Name: "proxies", Value: big.NewRat(s.Proxies, 1), Unit: "proxies", From: "spec.services"})
	d.found("calls", int64(len(s.called.declared)), "Services", "called by their owners' word")
	d.found("observed", int64(len(s.called.observed)), "Services", "seen to be called, and in no owner's list")
	d.found("external", int64(len(s.called.external)), "hosts", "of ServiceEntries")
	d.found("visible", s.Visible, "endpoints", "those of the listed Services that the hosts select")
	if s.Listed > 0 {
		d.set("saved", "1 - visible / listed", "of what is listed")
	}
	s.Reason = b.scopeReason(s)
	decision := Decision{
		Subject: s.Subject(), Unit: "hosts", Reason: s.Reason,
		Source: "Istio's Sidecar: a call outside its hosts leaves without mutual TLS and routes, or not at all (REGISTRY_ONLY)",
	}
	if s.Written() {
		decision.Value = s.Hosts
	} else {
		d.text("hosts", strings.Join(s.Hosts, ", "))
	}
	b.decide(d, decision, path)
	b.plan.Scopes = append(b.plan.Scopes, s.Scope)
}

func (b *builder) scopeReason(s scoped) string {
	if !s.Written() {
		return fmt.Sprintf("reported, not written: %s; the scope would leave %s of them visible", b.listedShare(s.Listed), grouped(s.Visible))
	}
	var parts []string
	switch {
	case s.copied || s.Selector == nil:
		parts = append(parts, "its namespace")
	case s.own > 0:
		parts = append(parts, plural(int64(s.own), "Service")+" of its own")
	}
	parts = append(parts, "the control plane")
	if calls := len(s.called.declared) + len(s.called.observed); calls > 0 {
		parts = append(parts, plural(int64(calls), "called Service"))
	}
	reach := strings.Join(parts, ", ")
	if s.Rollout == "canary" {
		reach = "tried on this workload alone: " + reach
	}
	return fmt.Sprintf("%s; %s of %s listed endpoints stay visible", reach, grouped(s.Visible), grouped(s.Listed))
}

// listedShare is how much of the mesh the profile lists.
func (b *builder) listedShare(listed int64) string {
	return fmt.Sprintf("%s of %s endpoints are listed", grouped(listed), grouped(b.spec().Istiod.Load.Endpoints))
}
