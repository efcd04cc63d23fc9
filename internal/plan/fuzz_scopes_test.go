package plan_test

import (
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// scopes hold that no call that the profile knows is cut, that nothing is visible
// without a reason, and that what is written may be.
func (j *judge) scopes() {
	j.Helper()
	for _, n := range j.profile.Spec.Namespaces {
		selectors := []map[string]string{}
		for _, s := range j.plan.Scopes {
			if s.Namespace != n.Name {
				continue
			}
			d, ok := j.decided[s.Subject()]
			if hosts, written := d.Value.([]string); !ok || written != s.Written() || written && !slices.Equal(hosts, s.Hosts) {
				j.failf("%s is %v, the scope %+v", s.Subject(), d.Value, s)
			}
			j.hosts(n, s)
			if s.Written() {
				j.mayBeWritten(n, s)
				selectors = append(selectors, s.Selector)
			}
		}
		j.selectOne(n, selectors)
	}
}

// hosts hold what a scope lists.
func (j *judge) hosts(n profile.Namespace, s plan.Scope) {
	j.Helper()
	if !slices.IsSorted(s.Hosts) || len(slices.Compact(slices.Clone(s.Hosts))) != len(s.Hosts) || len(s.Hosts) == 0 {
		j.failf("%s lists %v", s.Subject(), s.Hosts)
	}
	must, may := j.reasons(n, s)
	for _, host := range must {
		if !covered(n.Name, s.Hosts, host) {
			j.failf("%s does not show %s: %v", s.Subject(), host, s.Hosts)
		}
	}
	for _, host := range s.Hosts {
		of, name, _ := strings.Cut(host, "/")
		if of == "~" || host == "*/*" || name == "" {
			j.failf("%s lists %s", s.Subject(), host)
		}
		if !slices.Contains(may, absolute(n.Name, host)) {
			j.failf("%s lists %s without a reason: %v", s.Subject(), host, may)
		}
	}
}

// absolute is a host with the namespace's own name for the dot.
func absolute(namespace, host string) string {
	if own, ok := strings.CutPrefix(host, "./"); ok {
		return namespace + "/" + own
	}
	return host
}

func covered(namespace string, hosts []string, host string) bool {
	host = absolute(namespace, host)
	of, _, _ := strings.Cut(host, "/")
	return slices.ContainsFunc(hosts, func(h string) bool {
		h = absolute(namespace, h)
		return h == host || h == of+"/*"
	})
}

// reasons are the hosts that a scope must show, and those that it may list. Of a
// namespace of which more than 20 Services are called it may list all.
func (j *judge) reasons(n profile.Namespace, s plan.Scope) (must, may []string) {
	must = append([]string{j.profile.Spec.Istio.Namespace + "/*"}, j.profile.Spec.Mesh.AlwaysVisible...)
	own := n.SidecarScope.Level == "namespace"
	if own {
		must = append(must, n.Name+"/*")
	}
	for _, service := range j.profile.Spec.Services {
		behind := service.Workload != nil && service.Workload.Name == s.Name
		if service.Namespace != n.Name || !own && !behind {
			continue
		}
		must = append(must, service.ExternalCalls...)
		for _, call := range slices.Concat(service.Calls, service.ObservedCalls) {
			must = append(must, j.host(call))
		}
		if serves := service.Ports == nil || len(service.Ports) > 0; !own && service.SelfCalls && serves {
			must = append(must, j.host(service.Namespace+"/"+service.Name))
		}
	}
	called := map[string]map[string]bool{}
	for _, host := range must {
		may = append(may, absolute(n.Name, host))
		of, _, _ := strings.Cut(host, "/")
		if called[of] == nil {
			called[of] = map[string]bool{}
		}
		if called[of][host] = true; len(called[of]) > 20 {
			may = append(may, of+"/*")
		}
	}
	return must, may
}

func (j *judge) host(service string) string {
	of, name, _ := strings.Cut(service, "/")
	return of + "/" + name + "." + of + ".svc." + j.profile.Spec.Kubernetes.ClusterDomain
}

// mayBeWritten holds the conditions of a live scope and of one that is tried.
func (j *judge) mayBeWritten(n profile.Namespace, s plan.Scope) {
	j.Helper()
	mesh, scope := j.profile.Spec.Mesh, n.SidecarScope
	complete := mesh.CallGraph == "complete" && mesh.OutboundTrafficPolicy != "unknown" && n.ObservedDays >= 14
	tried := scope.Rollout == "canary" && s.Name == scope.Canary && len(s.Selector) > 0
	live := scope.Rollout == "live" && complete && (scope.Level == "namespace" || len(s.Selector) > 0)
	if n.Name == j.profile.Spec.Istio.Namespace || !tried && !live {
		j.failf("%s is written", s.Subject())
	}
}

// selectOne holds that no pod of a listed workload has two scopes of its own.
func (j *judge) selectOne(n profile.Namespace, selectors []map[string]string) {
	j.Helper()
	for _, service := range j.profile.Spec.Services {
		matches := 0
		for _, selector := range selectors {
			if service.Namespace == n.Name && service.Workload != nil && len(selector) > 0 && matchesAll(service.Workload.Labels, selector) {
				matches++
			}
		}
		if matches > 1 {
			j.failf("%d scopes select the pods of %s/%s", matches, service.Namespace, service.Workload.Name)
		}
	}
}

func matchesAll(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}
