package istio_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pkg/config"

	"github.com/meshgen/meshgen/e2e/cluster"
)

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
			all, scoped := cluster.Workloads(t, c.profile), 0
			m := newMesh(t, c.profile, sidecars(t, c.folder))
			for _, w := range all {
				want, subject := cluster.Scope(c.profile, w)
				endpoints := c.plan["sidecar.visibleEndpoints"].Terms["listed"]
				if subject != "" {
					endpoints = c.plan[subject].Terms["visible"]
					scoped++
				}
				m.judge(t, w, want.Sorted(), endpoints)
			}
			if len(all) != c.workloads || scoped != c.scoped {
				t.Errorf("%d workloads, %d of them with a scope that is written; want %d and %d", len(all), scoped, c.workloads, c.scoped)
			}
		})
	}
}

// judge compares what a proxy of the workload sees with what it should: Services,
// the clusters for their ports, and as many endpoints as the plan says.
func (m mesh) judge(t *testing.T, w cluster.Pods, want []string, endpoints any) {
	t.Helper()
	proxy := m.proxy(w)
	if diff := cmp.Diff(want, services(proxy)); diff != "" {
		t.Errorf("%s/%s: Services in scope (-want +got):\n%s", w.Namespace, w.Name, diff)
	}
	if diff := cmp.Diff(m.leadingTo(want), m.outbound(proxy)); diff != "" {
		t.Errorf("%s/%s: clusters (-want +got):\n%s", w.Namespace, w.Name, diff)
	}
	if got := m.endpoints(proxy); significant(got) != endpoints {
		t.Errorf("%s/%s is sent %d endpoints, the plan says %v", w.Namespace, w.Name, got, endpoints)
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
	all := cluster.Workloads(t, p)
	caller := all[slices.IndexFunc(all, func(w cluster.Pods) bool { return w.Name == "cartservice" })]
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
