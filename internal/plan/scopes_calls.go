package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// judgeHosts refuses hosts that Istio's admission refuses, or that would undo
// every scope that they stand in.
func (b *builder) judgeHosts() {
	for i, host := range b.spec().Mesh.AlwaysVisible {
		b.judgeHost(host, fmt.Sprintf("spec.mesh.alwaysVisible[%d]", i))
	}
	for i := range b.spec().Services {
		for j, host := range b.spec().Services[i].ExternalCalls {
			b.judgeHost(host, fmt.Sprintf("%s.externalCalls[%d]", servicePath(i), j))
		}
	}
}

func (b *builder) judgeHost(host, path string) {
	of, name, _ := strings.Cut(host, "/")
	problem, hint := "", ""
	switch {
	case of == "*" && name == "*":
		problem, hint = "is every Service of the mesh: a scope with it leaves nothing out", "name the namespaces, such as monitoring/*, or leave the namespace's rollout at report"
	case name != "*" && !strings.Contains(name, "."):
		in := of
		if of == "*" || of == "." {
			in = "NAMESPACE"
		}
		problem, hint = "has a short name, which Istio's admission refuses", fmt.Sprintf("write the whole name, such as %s.%s.svc.%s", host, in, b.spec().Kubernetes.ClusterDomain)
	default:
		return
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/scope-host-refused",
		Message: fmt.Sprintf("host %s %s", host, problem), Hint: hint,
	}, path)
}

// judgeCalls warns of calls that only observation knows, and of calls to
// entries that are no Service: once for each caller.
func (b *builder) judgeCalls(r *registry) {
	strict := map[string]bool{}
	for _, n := range b.spec().Namespaces {
		strict[n.Name] = n.MTLS == "STRICT"
	}
	silent := map[string]bool{}
	for i := range r.services {
		if s := &r.services[i]; !serves(*s) {
			silent[s.Namespace+"/"+s.Name] = true
		}
	}
	for i := range r.services {
		if len(r.services[i].ObservedCalls) > 0 {
			b.judgeObserved(i, strict)
		}
		b.judgeSilent(i, silent)
	}
}

func (b *builder) judgeObserved(i int, strict map[string]bool) {
	s := b.spec().Services[i]
	only := b.called([]int{i}).observed
	if len(only) == 0 {
		return
	}
	message := fmt.Sprintf("%s/%s was seen to call %s, which its calls do not list; its scope keeps them", s.Namespace, s.Name, few(only))
	within := slices.DeleteFunc(slices.Clone(only), func(name string) bool {
		of, _, _ := strings.Cut(name, "/")
		return !strict[of]
	})
	if len(within) > 0 {
		message += fmt.Sprintf("; %d of them in STRICT namespaces, where a call fails as soon as the scope has lost it", len(within))
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/observed-only-call", Subject: s.Namespace + "/" + s.Name,
		Message: message,
		Hint:    "ask the owner, and add what is meant to calls: an observation that ends would shrink the scope",
	}, servicePath(i)+".observedCalls")
}

func (b *builder) judgeSilent(i int, silent map[string]bool) {
	s := &b.spec().Services[i]
	var called []string
	for _, name := range slices.Concat(s.Calls, s.ObservedCalls) {
		if silent[name] {
			called = append(called, name)
		}
	}
	if len(called) == 0 {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/call-without-service", Subject: s.Namespace + "/" + s.Name,
		Message: fmt.Sprintf("%s/%s calls %s, whose empty ports say that there is no Service to call", s.Namespace, s.Name, few(distinct(called))),
		Hint:    "give the ports of the called Service, or take the call away",
	}, servicePath(i))
}

// judgeWritten warns of what the scopes that are written, taken together, are
// likely to cut.
func (b *builder) judgeWritten(r *registry) {
	written := slices.DeleteFunc(slices.Clone(b.plan.Scopes), func(s Scope) bool { return !s.Written() })
	if len(written) == 0 {
		return
	}
	load := b.spec().Istiod.Load.Endpoints
	if b.spec().Mesh.CallGraph == "complete" && 2*r.listed < load {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/few-listed", Subject: "spec.mesh.callGraph",
			Message: fmt.Sprintf("the call graph is called complete, but only %s: what the others call is in no scope", b.listedShare(r.listed)),
			Hint:    "list every workload that calls, those without a Service with ports: []; or set callGraph: partial",
		}, "spec.mesh.callGraph")
	}
	if b.spec().Mesh.OutboundTrafficPolicy == "REGISTRY_ONLY" {
		b.judgeAPIServer(r, written)
	}
}

// judgeAPIServer counts the scopes without the Service of the API server, which
// no call graph of the mesh shows and which a proxy without it refuses in a
// REGISTRY_ONLY mesh.
func (b *builder) judgeAPIServer(r *registry, written []Scope) {
	server := r.host("default", "kubernetes")
	_, name, _ := strings.Cut(server, "/")
	var without int64
	for _, s := range written {
		sees := func(host string) bool { return picks(host, "default", name) }
		if s.Namespace != "default" && !slices.ContainsFunc(s.Hosts, sees) {
			without++
		}
	}
	if without == 0 {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/api-server-cut", Subject: "spec.mesh.alwaysVisible",
		Message: fmt.Sprintf("in a REGISTRY_ONLY mesh %s is missing from %s: pods there that call the API server through their proxy are refused", server, plural(without, "scope")),
		Hint:    fmt.Sprintf("add %s to spec.mesh.alwaysVisible, or to externalCalls of those that call it", server),
	}, "spec.mesh")
}
