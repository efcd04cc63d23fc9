package plan_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sample"
	"github.com/meshgen/meshgen/schema"
)

// What makes a scope safe: every call of every proxy within it, whoever knows of
// it, meets a host. And it is as small as it says: what is counted as visible
// are the endpoints that its hosts select, each once.
func TestEveryCallIsInItsScope(t *testing.T) {
	for _, level := range []string{"namespace", "workload"} {
		p, pl := sampleAt(t, level)
		scopes := map[string]plan.Scope{}
		for _, s := range pl.Scopes {
			scopes[s.Namespace+"/"+s.Name] = s
			if want := visibleTo(s, p.Spec.Services); s.Visible != want {
				t.Errorf("%s sees %d endpoints, want %d", s.Subject(), s.Visible, want)
			}
			if !slices.IsSorted(s.Hosts) || len(slices.Compact(slices.Clone(s.Hosts))) != len(s.Hosts) {
				t.Errorf("%s has its hosts in no order, or twice: %v", s.Subject(), s.Hosts)
			}
		}
		calls := 0
		for _, caller := range p.Spec.Services {
			name := "default"
			if level == "workload" {
				name = caller.Workload.Name
			}
			s := scopes[caller.Namespace+"/"+name]
			for _, callee := range slices.Concat(caller.Calls, caller.ObservedCalls) {
				namespace, service, _ := strings.Cut(callee, "/")
				if calls++; !selects(s, namespace, service+"."+namespace+".svc.cluster.local") {
					t.Errorf("%s calls %s, which is not in %s", caller.Name, callee, s.Subject())
				}
			}
			for _, host := range caller.ExternalCalls {
				if !slices.Contains(s.Hosts, host) {
					t.Errorf("%s calls %s, which is not in %s", caller.Name, host, s.Subject())
				}
			}
		}
		if calls < 1000 {
			t.Errorf("only %d calls were looked at", calls)
		}
	}
}

func sampleAt(t *testing.T, level string) (*profile.Profile, *plan.Plan) {
	t.Helper()
	data := strings.ReplaceAll(string(sample.Profile("made-up", 300)), "level: namespace, rollout: live", "level: "+level+", rollout: report")
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: []byte(data)}}, "profile.yaml")
	if found.HasErrors() {
		t.Fatal(found)
	}
	pl, err := plan.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, pl
}

// selects reads hosts as Istio does: the namespace by name or as . for the
// scope's own, the name in full or as *.
func selects(s plan.Scope, namespace, name string) bool {
	return slices.ContainsFunc(s.Hosts, func(host string) bool {
		of, pattern, _ := strings.Cut(host, "/")
		if of == "." {
			of = s.Namespace
		}
		return of == namespace && (pattern == "*" || pattern == name)
	})
}

func visibleTo(s plan.Scope, services []profile.Service) int64 {
	var sum int64
	for _, service := range services {
		noService := service.Ports != nil && len(service.Ports) == 0
		if noService || !selects(s, service.Namespace, service.Name+"."+service.Namespace+".svc.cluster.local") {
			continue
		}
		for _, n := range service.Endpoints {
			sum += n
		}
	}
	return sum
}
