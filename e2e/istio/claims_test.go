package istio_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/schema/gvk"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// claim is a line of PLAN.md's table of Sidecar scopes, with the hosts of those
// that are reported and not written.
type claim struct {
	scope, rollout                  string
	proxies, hosts, seen, insteadOf int
	reported                        []string
}

var (
	claimed  = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (report|canary|live) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\|$")
	reported = regexp.MustCompile("(?m)^`([^`]+)` is reported and not written; it would see (.+)\\.$")
)

// claims are what PLAN.md says of the scopes, by namespace or namespace/workload.
func claims(t *testing.T, folder string) map[string]claim {
	t.Helper()
	text := cluster.Files(t, folder, "PLAN.md")[0].Text
	_, section, _ := strings.Cut(text, "\n## Sidecar scopes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]claim{}
	for _, line := range claimed.FindAllStringSubmatch(section, -1) {
		c := claim{scope: line[1], rollout: line[2]}
		for i, number := range []*int{&c.proxies, &c.hosts, &c.seen, &c.insteadOf} {
			*number = atoi(t, line[3+i])
		}
		all[c.scope] = c
	}
	for _, line := range reported.FindAllStringSubmatch(section, -1) {
		c := all[line[1]]
		c.reported = strings.Split(strings.Trim(line[2], "`"), "`, `")
		all[line[1]] = c
	}
	return all
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// written are the scopes as Sidecars: those of the files, and those that are only
// reported as they would be written.
func written(t *testing.T, r rendered, all map[string]claim) map[string]config.Config {
	t.Helper()
	scopes := map[string]config.Config{}
	for _, sidecar := range sidecars(t, r.folder) {
		scopes[strings.TrimSuffix(sidecar.Namespace+"/"+sidecar.Name, "/default")] = sidecar
	}
	for scope, c := range all {
		if (c.rollout == "report") != (c.reported != nil) || (c.rollout == "report") == (scopes[scope].Spec != nil) {
			t.Errorf("%s: rollout %s, hosts %v, a file: %v", scope, c.rollout, c.reported, scopes[scope].Spec != nil)
		}
		if c.reported != nil {
			scopes[scope] = newSidecar(t, r, scope, c.reported)
		}
	}
	return scopes
}

// newSidecar is a scope as it would be written.
func newSidecar(t *testing.T, r rendered, scope string, hosts []string) config.Config {
	t.Helper()
	spec := &networking.Sidecar{Egress: []*networking.IstioEgressListener{{Hosts: hosts}}}
	namespace, name, one := strings.Cut(scope, "/")
	for _, w := range workloads(t, r.profile) {
		if one && w.namespace == namespace && w.name == name {
			spec.WorkloadSelector = &networking.WorkloadSelector{Labels: w.labels}
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
			all := claims(t, c.folder)
			if len(all) != c.scopes {
				t.Fatalf("PLAN.md has %d scopes, want %d", len(all), c.scopes)
			}
			judgeClaims(t, c.rendered, all)
		})
	}
}

func judgeClaims(t *testing.T, r rendered, all map[string]claim) {
	t.Helper()
	scopes := written(t, r, all)
	var configs []config.Config
	for scope, sidecar := range scopes {
		if got := len(sidecar.Spec.(*networking.Sidecar).Egress[0].Hosts); got != all[scope].hosts {
			t.Errorf("%s: %d hosts, PLAN.md says %d", scope, got, all[scope].hosts)
		}
		configs = append(configs, sidecar)
	}
	after, before := newMesh(t, r.profile, configs), newMesh(t, r.profile, nil)
	proxies, instead := map[string]int{}, before.endpoints(before.proxy(workloads(t, r.profile)[0]))
	for _, w := range workloads(t, r.profile) {
		scope := w.namespace
		if _, own := all[w.namespace+"/"+w.name]; own {
			scope += "/" + w.name
			proxies[scope] += w.pods()
		}
		proxies[w.namespace] += w.pods()
		if got := after.endpoints(after.proxy(w)); got != all[scope].seen || instead != all[scope].insteadOf {
			t.Errorf("%s/%s is sent %d endpoints instead of %d, PLAN.md says %d instead of %d",
				w.namespace, w.name, got, instead, all[scope].seen, all[scope].insteadOf)
		}
	}
	for scope, c := range all {
		if c.proxies != proxies[scope] {
			t.Errorf("%s: %d proxies, PLAN.md says %d", scope, proxies[scope], c.proxies)
		}
	}
}

// pods are the endpoints of the Service that has most.
func (w workload) pods() int {
	most := 0
	for _, s := range w.services {
		sum := 0
		for _, n := range s.Endpoints {
			sum += n
		}
		most = max(most, sum)
	}
	return most
}

// Under REGISTRY_ONLY a call out of scope is refused, and one in scope has its
// route: what a scope lacks is lost.
func TestCallsOutOfScopeAreRefused(t *testing.T) {
	r := mixed(t)
	m := newMesh(t, r.profile, sidecars(t, r.folder))
	for _, w := range workloads(t, r.profile) {
		if w.namespace != "shop" || w.name != "worker" {
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
