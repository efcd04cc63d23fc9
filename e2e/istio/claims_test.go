package istio_test

import (
	"strings"
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/schema/gvk"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// written are the scopes as Sidecars: those of the files, and those that are only
// reported as they would be written.
func written(t *testing.T, r rendered, all map[string]cluster.Claim) map[string]config.Config {
	t.Helper()
	scopes := map[string]config.Config{}
	for _, sidecar := range sidecars(t, r.folder) {
		scopes[strings.TrimSuffix(sidecar.Namespace+"/"+sidecar.Name, "/default")] = sidecar
	}
	for scope, c := range all {
		if (c.Rollout == "report") != (c.Reported != nil) || (c.Rollout == "report") == (scopes[scope].Spec != nil) {
			t.Errorf("%s: rollout %s, hosts %v, a file: %v", scope, c.Rollout, c.Reported, scopes[scope].Spec != nil)
		}
		if c.Reported != nil {
			scopes[scope] = newSidecar(t, r, scope, c.Reported)
		}
	}
	return scopes
}

// newSidecar is a scope as it would be written.
func newSidecar(t *testing.T, r rendered, scope string, hosts []string) config.Config {
	t.Helper()
	spec := &networking.Sidecar{Egress: []*networking.IstioEgressListener{{Hosts: hosts}}}
	namespace, name, one := strings.Cut(scope, "/")
	for _, w := range cluster.Workloads(t, r.profile) {
		if one && w.Namespace == namespace && w.Name == name {
			spec.WorkloadSelector = &networking.WorkloadSelector{Labels: w.Labels}
		}
	}
	return config.Config{Meta: config.Meta{GroupVersionKind: gvk.Sidecar, Namespace: namespace, Name: "default" + name}, Spec: spec}
}

// Each line of PLAN.md's table is what Istio does: how many proxies the scope
// has, how many hosts, and how many endpoints each of them is sent with every
// scope written and with none.
func TestProxiesAreSentWhatThePlanClaims(t *testing.T) {
	for name, c := range map[string]struct {
		rendered
		scopes int
	}{
		"bigsale": {example(t, "bigsale"), 2}, "featureflag": {example(t, "featureflag"), 2}, "boutique": {example(t, "boutique"), 12},
		"thousand": {example(t, "thousand"), 40}, "mixed": {mixed(t), 12},
	} {
		t.Run(name, func(t *testing.T) {
			all := cluster.Claims(t, c.folder)
			if len(all) != c.scopes {
				t.Fatalf("PLAN.md has %d scopes, want %d", len(all), c.scopes)
			}
			judgeClaims(t, c.rendered, all)
		})
	}
}

func judgeClaims(t *testing.T, r rendered, all map[string]cluster.Claim) {
	t.Helper()
	scopes := written(t, r, all)
	var configs []config.Config
	for scope, sidecar := range scopes {
		if got := len(sidecar.Spec.(*networking.Sidecar).Egress[0].Hosts); got != all[scope].Hosts {
			t.Errorf("%s: %d hosts, PLAN.md says %d", scope, got, all[scope].Hosts)
		}
		configs = append(configs, sidecar)
	}
	after, before := newMesh(t, r.profile, configs), newMesh(t, r.profile, nil)
	proxies, instead := map[string]int{}, before.endpoints(before.proxy(cluster.Workloads(t, r.profile)[0]))
	for _, w := range cluster.Workloads(t, r.profile) {
		scope := w.Namespace
		if _, own := all[w.Namespace+"/"+w.Name]; own {
			scope += "/" + w.Name
			proxies[scope] += w.Count()
		}
		proxies[w.Namespace] += w.Count()
		if got := after.endpoints(after.proxy(w)); got != all[scope].Seen || instead != all[scope].InsteadOf {
			t.Errorf("%s/%s is sent %d endpoints instead of %d, PLAN.md says %d instead of %d",
				w.Namespace, w.Name, got, instead, all[scope].Seen, all[scope].InsteadOf)
		}
	}
	for scope, c := range all {
		if c.Proxies != proxies[scope] {
			t.Errorf("%s: %d proxies, PLAN.md says %d", scope, proxies[scope], c.Proxies)
		}
	}
}

// Under REGISTRY_ONLY a call out of scope is refused, and one in scope has its
// route: what a scope lacks is lost.
func TestCallsOutOfScopeAreRefused(t *testing.T) {
	r := mixed(t)
	m := newMesh(t, r.profile, sidecars(t, r.folder))
	for _, w := range cluster.Workloads(t, r.profile) {
		if w.Namespace != "shop" || w.Name != "worker" {
			continue
		}
		got := map[string]bool{}
		for _, routes := range m.Routes(m.proxy(w)) {
			for _, to := range routes.VirtualHosts {
				got[to.Name] = true
			}
		}
		for name, want := range map[string]bool{
			"stock.shop.svc.mesh.example:8080": true, "rates.bank.svc.mesh.example:8080": true, "block_all": true,
			"cart.shop.svc.mesh.example:8080": false, "allow_any": false,
		} {
			if got[name] != want {
				t.Errorf("virtual host %s: %v, want %v, among %v", name, got[name], want, got)
			}
		}
	}
}
