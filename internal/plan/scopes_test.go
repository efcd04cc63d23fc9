package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// scopedMesh is a mesh whose scopes may go live: shop calls platform, and lists
// all that it calls.
func scopedMesh(bend func(*profile.Spec)) *profile.Profile {
	return meshOf(func(p *profile.Profile) {
		s := &p.Spec
		s.Kubernetes.ClusterDomain = "cluster.local"
		s.Mesh = profile.Mesh{OutboundTrafficPolicy: "ALLOW_ANY", CallGraph: "complete"}
		s.Istiod.Load = profile.Load{Connections: 100, Endpoints: 40}
		s.Istiod.MemoryModel.Scoped = true
		s.Namespaces = []profile.Namespace{
			scopedNamespace("shop", "namespace", "live"), scopedNamespace("platform", "namespace", "report"),
		}
		s.Services = []profile.Service{
			service("shop", "cart", 6, "platform/auth"),
			service("shop", "checkout", 4, "shop/cart", "platform/auth", "platform/flags"),
			service("platform", "auth", 8),
			service("platform", "flags", 2),
			service("platform", "audit", 10),
		}
		bend(s)
	})
}

func scopedNamespace(name, level, rollout string) profile.Namespace {
	return profile.Namespace{Name: name, ObservedDays: 30, MTLS: "unknown", SidecarScope: profile.SidecarScope{Level: level, Rollout: rollout}}
}

// service is a Service with a workload of its name, its pods in one zone.
func service(namespace, name string, pods int64, calls ...string) profile.Service {
	return profile.Service{
		Namespace: namespace, Name: name, SelfCalls: true, Calls: calls, Replicas: profile.Replicas{Min: pods, Max: 2 * pods},
		Endpoints: map[string]int64{"a": pods},
		Workload:  &profile.Workload{Kind: "Deployment", Name: name, Labels: map[string]string{"app": name}},
		Routing:   profile.Routing{InternalTrafficPolicy: "Cluster", Callers: "mesh"}, Autoscaling: profile.Autoscaling{ManagedBy: "none"},
	}
}

// scopesOf are the hosts of the plan's scopes by subject, those that are written
// marked so; decisions must say the same.
func scopesOf(t *testing.T, pl *Plan) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, s := range pl.Scopes {
		subject := s.Subject()
		d, ok := pl.Decision(subject)
		if _, twice := got[subject]; twice || !ok {
			t.Errorf("%s has no decision of its own", subject)
		}
		got[subject] = strings.Join(s.Hosts, " ")
		switch {
		case !s.Written() && d.Value != nil:
			t.Errorf("%s is reported and decided as %v", subject, d.Value)
		case s.Written():
			got[subject] = s.Rollout + ": " + got[subject]
			if diff := cmp.Diff(any(s.Hosts), d.Value); diff != "" {
				t.Errorf("%s (-scope +decision):\n%s", subject, diff)
			}
		}
	}
	return got
}

func TestScopes(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want map[string]string
	}{
		"a namespace sees itself, the control plane and what is called elsewhere": {
			func(*profile.Spec) {},
			map[string]string{
				"sidecar/platform.hosts": "./* istio-system/*",
				"sidecar/shop.hosts":     "live: ./* istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"a workload sees its own Services and what it calls": {
			func(s *profile.Spec) { s.Namespaces[0].SidecarScope.Level = "workload" },
			map[string]string{
				"sidecar/platform.hosts":      "./* istio-system/*",
				"sidecar/shop/cart.hosts":     "live: ./cart.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local",
				"sidecar/shop/checkout.hosts": "live: ./cart.shop.svc.cluster.local ./checkout.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"a workload that does not call itself does not see itself": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Level, s.Services[1].SelfCalls = "workload", false
				s.Services = slices.Delete(s.Services, 0, 1)
				s.Services[0].Calls = nil
			},
			map[string]string{"sidecar/platform.hosts": "./* istio-system/*", "sidecar/shop/checkout.hosts": "live: istio-system/*"},
		},
		"a workload behind two Services sees both, and what either calls": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Level = "workload"
				s.Services[0].Workload, s.Services[0].Calls = s.Services[1].Workload, []string{"platform/audit"}
				s.Services[0].Replicas = s.Services[1].Replicas
			},
			map[string]string{
				"sidecar/platform.hosts":      "./* istio-system/*",
				"sidecar/shop/checkout.hosts": "live: ./cart.shop.svc.cluster.local ./checkout.shop.svc.cluster.local istio-system/* platform/audit.platform.svc.cluster.local platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"an entry with an empty list of ports has no Service of its own": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Level, s.Services[1].Ports = "workload", []profile.Port{}
			},
			map[string]string{
				"sidecar/platform.hosts":      "./* istio-system/*",
				"sidecar/shop/cart.hosts":     "live: ./cart.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local",
				"sidecar/shop/checkout.hosts": "live: ./cart.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"a canary has the namespace's hosts under its own name": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Rollout, s.Namespaces[0].SidecarScope.Canary = "canary", "cart"
			},
			map[string]string{
				"sidecar/platform.hosts":  "./* istio-system/*",
				"sidecar/shop.hosts":      "./* istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
				"sidecar/shop/cart.hosts": "canary: ./* istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"a canary at the level of workloads has its own": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope = profile.SidecarScope{Level: "workload", Rollout: "canary", Canary: "cart"}
			},
			map[string]string{
				"sidecar/platform.hosts":      "./* istio-system/*",
				"sidecar/shop/cart.hosts":     "canary: ./cart.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local",
				"sidecar/shop/checkout.hosts": "./cart.shop.svc.cluster.local ./checkout.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"a workload that is called default is not taken for the namespace": {
			func(s *profile.Spec) {
				s.Services[0].Workload.Name = "default"
				s.Namespaces[0].SidecarScope.Rollout, s.Namespaces[0].SidecarScope.Canary = "canary", "default"
			},
			map[string]string{
				"sidecar/platform.hosts":     "./* istio-system/*",
				"sidecar/shop.hosts":         "./* istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
				"sidecar/shop/default.hosts": "canary: ./* istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"hosts that every scope keeps, that a Service calls outside, and that stand twice": {
			func(s *profile.Spec) {
				s.Mesh.AlwaysVisible = []string{"monitoring/*", "shop/x.example.com", "platform/auth.platform.svc.cluster.local"}
				s.Services[0].ExternalCalls = []string{"external/api.example.com", "monitoring/otel.example.com", "./y.example.com"}
			},
			map[string]string{
				"sidecar/platform.hosts": "./* istio-system/* monitoring/* shop/x.example.com",
				"sidecar/shop.hosts":     "live: ./* external/api.example.com istio-system/* monitoring/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"a call that only observation knows": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Level, s.Services[0].ObservedCalls = "workload", []string{"platform/audit", "shop/checkout", "platform/auth"}
			},
			map[string]string{
				"sidecar/platform.hosts":      "./* istio-system/*",
				"sidecar/shop/cart.hosts":     "live: ./cart.shop.svc.cluster.local ./checkout.shop.svc.cluster.local istio-system/* platform/audit.platform.svc.cluster.local platform/auth.platform.svc.cluster.local",
				"sidecar/shop/checkout.hosts": "live: ./cart.shop.svc.cluster.local ./checkout.shop.svc.cluster.local istio-system/* platform/auth.platform.svc.cluster.local platform/flags.platform.svc.cluster.local",
			},
		},
		"another cluster domain and another home of istiod": {
			func(s *profile.Spec) {
				s.Kubernetes.ClusterDomain, s.Istio.Namespace = "corp.internal", "mesh-control"
				s.Services = s.Services[:1]
			},
			map[string]string{
				"sidecar/platform.hosts": "./* mesh-control/*",
				"sidecar/shop.hosts":     "live: ./* mesh-control/* platform/auth.platform.svc.corp.internal",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, scopedMesh(c.bend))
			if diff := cmp.Diff(c.want, scopesOf(t, pl)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, f := range pl.Findings {
				if f.Severity == diag.Error {
					t.Error(f)
				}
			}
		})
	}
}

// Of 20 Services each is listed, of 21 their namespace; of a workload's own
// namespace each always is, or its scope would be the namespace's.
func TestManyCalleesOfANamespaceAreItsWildcard(t *testing.T) {
	for _, c := range []struct {
		callees int
		want    []string
	}{{20, nil}, {21, []string{"platform/*"}}} {
		pl := build(t, scopedMesh(func(s *profile.Spec) {
			s.Namespaces[0].SidecarScope.Level = "workload"
			caller := service("shop", "front", 1)
			for i := range c.callees {
				for _, namespace := range []string{"shop", "platform"} {
					callee := service(namespace, fmt.Sprintf("s%02d", i), 1)
					caller.Calls = append(caller.Calls, namespace+"/"+callee.Name)
					s.Services = append(s.Services, callee)
				}
			}
			s.Services = append(s.Services, caller)
		}))
		d, _ := pl.Decision("sidecar/shop/front.hosts")
		hosts := d.Value.([]string)
		var elsewhere []string
		own := 0
		for _, host := range hosts {
			switch {
			case strings.HasPrefix(host, "./"):
				own++
			case strings.HasPrefix(host, "platform/"):
				elsewhere = append(elsewhere, host)
			}
		}
		if own != c.callees+1 || c.want == nil && len(elsewhere) != c.callees || c.want != nil && !slices.Equal(elsewhere, c.want) {
			t.Errorf("%d callees: %v", c.callees, hosts)
		}
	}
}

// 20 endpoints of 30 are visible in shop: its 10, auth's 8 and flags' 2.
// platform sees its own 20. 10 proxies see 20, 20 see 20: 20 on average.
// As written, platform's 20 see all 30: (10·20 + 20·30)/30 = 26.67.
func TestWhatScopesLeaveVisible(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want map[string]string // of a decision's terms
	}{
		"a namespace": {
			func(*profile.Spec) {},
			map[string]string{"sidecar/shop.hosts": "listed 30, proxies 10, visible 20, saved 0.3333", "sidecar.visibleEndpoints": "EVisible 20, ENow 26.67, saved 0.3333"},
		},
		"a canary": { // cart's 6 proxies see 20, the others 30: (6·20 + 24·30)/30 = 28
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Rollout, s.Namespaces[0].SidecarScope.Canary = "canary", "cart"
			},
			map[string]string{"sidecar/shop/cart.hosts": "listed 30, proxies 6, visible 20, saved 0.3333", "sidecar.visibleEndpoints": "EVisible 20, ENow 28, saved 0.3333"},
		},
		"workloads": { // cart's 6 see 6 + 8 = 14, checkout's 4 see 6 + 4 + 8 + 2 = 20: (84 + 80 + 400)/30 = 18.8
			func(s *profile.Spec) { s.Namespaces[0].SidecarScope.Level = "workload" },
			map[string]string{"sidecar/shop/cart.hosts": "listed 30, proxies 6, visible 14, saved 0.5333", "sidecar.visibleEndpoints": "EVisible 18.8, ENow 25.47, saved 0.3733"},
		},
		"a Service without a workload among workloads": { // its 10 go on seeing 30: platform's other 10 see auth 8 or flags 2
			func(s *profile.Spec) {
				s.Namespaces[1].SidecarScope.Level, s.Services[4].Workload = "workload", nil
			},
			// 10·20 + 8·8 + 2·2 + 10·30 = 568; 568/30 = 18.93
			map[string]string{"sidecar/platform/auth.hosts": "listed 30, proxies 8, visible 8, saved 0.7333", "sidecar.visibleEndpoints": "EVisible 18.93, ENow 26.67, saved 0.3689"},
		},
		"two Services of one workload are one set of proxies": { // cart is checkout's too: 6 proxies, 6 + 4 + 8 + 2 visible
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Level, s.Services[0].Workload = "workload", s.Services[1].Workload
			},
			map[string]string{"sidecar/shop/checkout.hosts": "listed 30, proxies 6, visible 20, saved 0.3333"},
		},
		"patterns that the mesh always sees": {
			func(s *profile.Spec) {
				s.Mesh.AlwaysVisible = []string{"*/audit.platform.svc.cluster.local", "platform/*.svc.cluster.local", "*/*.example.com"}
			},
			map[string]string{"sidecar/shop.hosts": "listed 30, proxies 10, visible 30, saved 0"},
		},
		"pods without a Service are seen by nobody": { // shop's cart 6, auth 8, flags 2
			func(s *profile.Spec) { s.Services[1].Ports = []profile.Port{} },
			map[string]string{"sidecar/shop.hosts": "listed 26, proxies 10, visible 16, saved 0.3846"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, scopedMesh(c.bend))
			for subject, want := range c.want {
				d, _ := pl.Decision(subject)
				var got []string
				for _, pair := range strings.Split(want, ", ") {
					term, _ := find(d.Terms, strings.Fields(pair)[0])
					got = append(got, term.Name+" "+strings.Fields(term.Short() + " ")[0])
				}
				if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", subject, diff)
				}
				if _, err := Explain(d); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Each case bends a mesh without findings whose scope of shop is live, and names
// every finding as "severity id: part of the message".
func TestScopeFindings(t *testing.T) {
	scope := func(s *profile.Spec) *profile.SidecarScope { return &s.Namespaces[0].SidecarScope }
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want []string
	}{
		"all is known": {func(*profile.Spec) {}, nil},
		"a call graph that is partial": {
			func(s *profile.Spec) { s.Mesh.CallGraph = "partial" },
			[]string{"error plan/scope-not-provable: shop cannot go live: spec.mesh.callGraph is partial, and a call that it lacks would be cut; 30 of 40 endpoints are listed"},
		},
		"an outbound policy that nobody knows": {
			func(s *profile.Spec) { s.Mesh.OutboundTrafficPolicy = "unknown" },
			[]string{"error plan/scope-not-provable: live: spec.mesh.outboundTrafficPolicy is unknown, and it says what becomes of such a call; 30 of"},
		},
		"13 days of observation": {
			func(s *profile.Spec) { s.Namespaces[0].ObservedDays = 13 },
			[]string{"error plan/scope-not-provable: live: its calls were observed for 13 days, fewer than 14; 30 of"},
		},
		"14 days of observation": {func(s *profile.Spec) { s.Namespaces[0].ObservedDays = 14 }, nil},
		"a namespace of which nothing is listed": {
			func(s *profile.Spec) { s.Namespaces[0].Name = "empty" },
			[]string{"error plan/scope-not-provable: the scope of empty cannot go live: none of its workloads is listed; 30 of"},
		},
		"all of it at once, in a mesh of which little is listed": {
			func(s *profile.Spec) {
				s.Mesh, s.Namespaces[0].ObservedDays, s.Istiod.Load.Endpoints = profile.Mesh{OutboundTrafficPolicy: "unknown", CallGraph: "partial"}, 1, 1700
			},
			[]string{"error plan/scope-not-provable: partial, and a call that it lacks would be cut; spec.mesh.outboundTrafficPolicy is unknown, and it says what becomes of such a call; its calls were observed for 1 day, fewer than 14; 30 of 1,700 endpoints are listed"},
		},
		"a report needs nothing": {
			func(s *profile.Spec) {
				s.Mesh, s.Namespaces[0].ObservedDays = profile.Mesh{OutboundTrafficPolicy: "unknown", CallGraph: "partial"}, 0
				scope(s).Rollout, s.Istiod.MemoryModel.Scoped = "report", false
			},
			nil,
		},
		"a live scope in the root namespace": {
			func(s *profile.Spec) {
				s.Namespaces = append(s.Namespaces, scopedNamespace("istio-system", "namespace", "live"))
				s.Services = append(s.Services, service("istio-system", "otel", 1))
			},
			[]string{"error plan/scope-root-namespace: rollout live of a scope in istio-system"},
		},
		"a canary in the root namespace": {
			func(s *profile.Spec) {
				n := scopedNamespace("istio-system", "workload", "canary")
				n.SidecarScope.Canary = "otel"
				s.Namespaces, s.Services = append(s.Namespaces, n), append(s.Services, service("istio-system", "otel", 1))
			},
			[]string{"error plan/scope-root-namespace: rollout canary of a scope in istio-system"},
		},
		"a canary that is misspelt": {
			func(s *profile.Spec) { scope(s).Rollout, scope(s).Canary = "canary", "chekout" },
			[]string{`error plan/unknown-canary: canary "chekout" is no workload of shop`, "warning plan/model-scope: none is live"},
		},
		"a canary of another namespace": {
			func(s *profile.Spec) { scope(s).Rollout, scope(s).Canary = "canary", "auth" },
			[]string{`error plan/unknown-canary: canary "auth" is no workload of shop`, "warning plan/model-scope: none is live"},
		},
		"a canary under ALLOW_ANY and a partial call graph": {
			func(s *profile.Spec) {
				scope(s).Rollout, scope(s).Canary, s.Mesh.CallGraph = "canary", "cart", "partial"
			},
			[]string{"warning plan/canary-unproven: leaves without mutual TLS, and fails where that is STRICT; 30 of 40", "warning plan/model-scope: none is live"},
		},
		"a canary under a policy that nobody knows": {
			func(s *profile.Spec) {
				scope(s).Rollout, scope(s).Canary, s.Mesh = "canary", "cart", profile.Mesh{OutboundTrafficPolicy: "unknown", CallGraph: "partial"}
			},
			[]string{"warning plan/canary-unproven: is refused or leaves without mutual TLS", "warning plan/model-scope: none is live"},
		},
		"a canary without labels": {
			func(s *profile.Spec) {
				scope(s).Rollout, scope(s).Canary, s.Services[0].Workload.Labels = "canary", "cart", nil
			},
			[]string{"error plan/scope-without-labels: workload shop/cart has no labels", "warning plan/model-scope: none is live", "warning plan/spread-without-labels: 1 workload is without labels"},
		},
		"a canary whose labels select another workload": {
			func(s *profile.Spec) {
				scope(s).Rollout, scope(s).Canary = "canary", "cart"
				s.Services[0].Workload.Labels = map[string]string{"team": "shop"}
				s.Services[1].Workload.Labels = map[string]string{"team": "shop", "app": "checkout"}
			},
			[]string{"error plan/scope-selects-others: workload shop/cart select the pods of checkout too", "warning plan/model-scope: none is live"},
		},
		"a canary whose pods another's labels select": { // nobody else has a Sidecar
			func(s *profile.Spec) {
				scope(s).Rollout, scope(s).Canary = "canary", "checkout"
				s.Services[0].Workload.Labels = map[string]string{"team": "shop"}
				s.Services[1].Workload.Labels = map[string]string{"team": "shop", "app": "checkout"}
			},
			[]string{"warning plan/model-scope: none is live"},
		},
		"workloads whose labels select one another's pods": {
			func(s *profile.Spec) {
				scope(s).Level = "workload"
				s.Services[0].Workload.Labels = map[string]string{"team": "shop"}
				s.Services[1].Workload.Labels = map[string]string{"team": "shop", "app": "checkout"}
			},
			[]string{"error plan/scope-selects-others: workload shop/cart select the pods of checkout too"},
		},
		"workloads of two namespaces with the same labels": {
			func(s *profile.Spec) {
				scope(s).Level, s.Services[2].Workload.Labels = "workload", s.Services[0].Workload.Labels
			},
			nil,
		},
		"a workload without labels among workloads": {
			func(s *profile.Spec) { scope(s).Level, s.Services[1].Workload.Labels = "workload", nil },
			[]string{"error plan/scope-without-labels: workload shop/checkout has no labels", "warning plan/spread-without-labels: 1 workload is without labels"},
		},
		"a workload without labels in a scope of its namespace": {
			func(s *profile.Spec) { s.Services[1].Workload.Labels = nil },
			[]string{"warning plan/spread-without-labels: 1 workload is without labels"},
		},
		"Services without a workload among workloads": {
			func(s *profile.Spec) { scope(s).Level, s.Services[1].Workload = "workload", nil },
			[]string{"warning plan/scope-missing: no scope in shop for 1 Service without a workload: checkout"},
		},
		"a call that only observation knows": {
			func(s *profile.Spec) {
				s.Services[0].ObservedCalls = []string{"platform/flags", "platform/auth", "platform/audit"}
			},
			[]string{"warning plan/observed-only-call: shop/cart was seen to call platform/audit, platform/flags, which its calls do not list; its scope keeps them"},
		},
		"a call that only observation knows, into a STRICT namespace": {
			func(s *profile.Spec) {
				s.Services[0].ObservedCalls, s.Namespaces[1].MTLS = []string{"platform/flags", "shop/checkout"}, "STRICT"
			},
			[]string{"warning plan/observed-only-call: keeps them; 1 of them in STRICT namespaces"},
		},
		"an observation that the owner confirms": {
			func(s *profile.Spec) { s.Services[0].ObservedCalls = []string{"platform/auth"} }, nil,
		},
		"a call to what has no Service": {
			func(s *profile.Spec) { s.Services[2].Ports = []profile.Port{} },
			[]string{
				"warning plan/call-without-service: shop/cart calls platform/auth, whose empty ports",
				"warning plan/call-without-service: shop/checkout calls platform/auth, whose empty ports",
			},
		},
		"a call to a Service whose ports nobody wrote down": {func(s *profile.Spec) { s.Services[2].Ports = nil }, nil},
		"a host that is the whole mesh": {
			func(s *profile.Spec) { s.Mesh.AlwaysVisible = []string{"*/*"} },
			[]string{"error plan/scope-host-refused: host */* is every Service of the mesh"},
		},
		"a short name among the hosts outside": {
			func(s *profile.Spec) {
				s.Services[0].ExternalCalls = []string{"external/*.example.com", "external/api"}
			},
			[]string{"error plan/scope-host-refused: host external/api has a short name"},
		},
		"a complete call graph of less than half of the mesh": {
			func(s *profile.Spec) { s.Istiod.Load.Endpoints = 61 },
			[]string{"warning plan/few-listed: only 30 of 61 endpoints are listed"},
		},
		"a complete call graph of half of the mesh": {func(s *profile.Spec) { s.Istiod.Load.Endpoints = 60 }, nil},
		"a mesh that refuses what is in no scope": {
			func(s *profile.Spec) { s.Mesh.OutboundTrafficPolicy = "REGISTRY_ONLY" },
			[]string{"warning plan/api-server-cut: default/kubernetes.default.svc.cluster.local is missing from 1 scope"},
		},
		"the API server among what is always visible": {
			func(s *profile.Spec) {
				s.Mesh.OutboundTrafficPolicy, s.Mesh.AlwaysVisible = "REGISTRY_ONLY", []string{"default/*"}
			},
			nil,
		},
		"the API server among what each calls": {
			func(s *profile.Spec) {
				s.Mesh.OutboundTrafficPolicy, s.Services[0].ExternalCalls = "REGISTRY_ONLY", []string{"default/kubernetes.default.svc.cluster.local"}
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, scopedMesh(c.bend))
			var got []string
			for _, f := range pl.Findings {
				got = append(got, matched(f, c.want))
				if f.Hint == "" || f.Subject == "" || f.File == "" {
					t.Errorf("no way out, subject or place: %v", f)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, s := range pl.Scopes {
				if pl.Findings.HasErrors() && s.Written() && !strings.Contains(name, "root") && !strings.Contains(name, "host") && !strings.Contains(name, "short") {
					t.Errorf("%s is written in spite of the errors", s.Subject())
				}
			}
		})
	}
}

func TestHintsOfScopes(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want string
	}{
		"the canary that was meant": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Rollout, s.Namespaces[0].SidecarScope.Canary = "canary", "chekout"
			},
			"did you mean checkout?",
		},
		"the canaries that there are": {
			func(s *profile.Spec) {
				s.Namespaces[0].SidecarScope.Rollout, s.Namespaces[0].SidecarScope.Canary = "canary", "storefront"
			},
			"the profile names 2 workloads in shop: cart, checkout",
		},
		"the whole name of a Service": {
			func(s *profile.Spec) { s.Mesh.AlwaysVisible = []string{"monitoring/otel"} },
			"write the whole name, such as monitoring/otel.monitoring.svc.cluster.local",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var hints []string
			for _, f := range build(t, scopedMesh(c.bend)).Findings {
				hints = append(hints, f.Hint)
			}
			if !slices.Contains(hints, c.want) {
				t.Errorf("no hint %q in %q", c.want, hints)
			}
		})
	}
}

// Istio takes the older of two Sidecars that match, so no order of the profile
// may change what is written.
func TestScopesDoNotDependOnTheOrderOfTheProfile(t *testing.T) {
	bend := func(s *profile.Spec) { s.Namespaces[0].SidecarScope.Level = "workload" }
	want := build(t, scopedMesh(bend))
	got := build(t, scopedMesh(func(s *profile.Spec) {
		bend(s)
		slices.Reverse(s.Services)
		slices.Reverse(s.Namespaces)
		for i := range s.Services {
			slices.Reverse(s.Services[i].Calls)
		}
	}))
	if diff := cmp.Diff(want.Scopes, got.Scopes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
