package sample

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/schema"
)

func load(t *testing.T, services int) *profile.Profile {
	t.Helper()
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: Profile("made-up", services)}}, "profile.yaml")
	if len(found) > 0 {
		t.Fatalf("a mesh of %d services: %v", services, found)
	}
	return p
}

func TestAMeshOfAnySizeIsAProfileThatCanBePlanned(t *testing.T) {
	for _, services := range []int{50, 100, 1000} {
		p := load(t, services)
		if len(p.Spec.Services) != services || len(p.Spec.Namespaces) != len(domains) {
			t.Errorf("%d services in %d namespaces, want %d in %d", len(p.Spec.Services), len(p.Spec.Namespaces), services, len(domains))
		}
		pl, err := plan.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range pl.Findings {
			if f.Severity == "error" {
				t.Errorf("%d services: %s", services, f)
			}
		}
	}
}

func TestTheSameSizeIsTheSameBytes(t *testing.T) {
	first := Profile("made-up", 300)
	if !bytes.Equal(first, Profile("made-up", 300)) {
		t.Error("two meshes of one size differ")
	}
}

// What makes the mesh of a thousand worth planning.
func TestAThousandServices(t *testing.T) {
	p := load(t, 1000)
	s := p.Spec
	var endpoints int64
	inNamespace, calledBy, fanOut := map[string]int{}, map[string]int{}, []int{}
	kinds := map[string]int{}
	for _, service := range s.Services {
		for _, n := range service.Endpoints {
			endpoints += n
		}
		inNamespace[service.Namespace]++
		fanOut = append(fanOut, len(service.Calls))
		for _, callee := range service.Calls {
			calledBy[callee]++
		}
		count(kinds, service)
	}
	if endpoints < 19000 || endpoints > 21000 || s.Istiod.Load.Endpoints != endpoints || s.Istiod.Load.Connections != endpoints {
		t.Errorf("%d endpoints, %v at rest", endpoints, s.Istiod.Load)
	}
	if len(inNamespace) != 40 {
		t.Errorf("services in %d namespaces, want 40", len(inNamespace))
	}
	slices.Sort(fanOut)
	if median, most := fanOut[len(fanOut)/2], fanOut[len(fanOut)-1]; median < 3 || median > 8 || most < 25 {
		t.Errorf("half of the services call at most %d others, one calls %d", median, most)
	}
	if calledBy["platform/config"] < 600 || calledBy["platform/auth"] < 400 {
		t.Errorf("config is called by %d services and auth by %d", calledBy["platform/config"], calledBy["platform/auth"])
	}
	if deep := depth(s.Services); deep < 5 {
		t.Errorf("the longest chain has %d calls, want at least 5", deep)
	}
	for kind, least := range map[string]int{
		"managed, with an HPA": 50, "managed": 20, "HPA of a team": 200, "fixed": 100, "in the dated event": 80, "in the weekly event": 20,
		"StatefulSet": 10, "topologyMode": 20, "trafficDistribution": 40, "without clients": 50, "without capacity": 50, "without labels": 20,
		"without a Service": 20, "external calls": 5, "observed only": 1,
	} {
		if kinds[kind] < least {
			t.Errorf("%d are %s, want at least %d", kinds[kind], kind, least)
		}
	}
}

func count(kinds map[string]int, s profile.Service) {
	a := s.Autoscaling
	_, dated := s.Events["black-friday"]
	_, weekly := s.Events["evening"]
	for kind, is := range map[string]bool{
		"managed, with an HPA": a.ManagedBy == "meshgen" && a.Running.HPA != "", "managed": a.ManagedBy == "meshgen" && a.Running.HPA == "",
		"HPA of a team": a.ManagedBy == "none" && a.Running.HPA != "", "fixed": s.Replicas.Min == s.Replicas.Max,
		"in the dated event": dated, "in the weekly event": weekly, "StatefulSet": s.Workload.Kind == "StatefulSet",
		"topologyMode": s.Routing.TopologyMode != "", "trafficDistribution": s.Routing.TrafficDistribution != "",
		"without clients": len(s.Clients) == 0, "without capacity": s.Capacity == nil, "without labels": len(s.Workload.Labels) == 0,
		"without a Service": s.Ports != nil && len(s.Ports) == 0, "external calls": len(s.ExternalCalls) > 0, "observed only": len(s.ObservedCalls) > 0,
	} {
		if is {
			kinds[kind]++
		}
	}
}

// depth is the calls of the longest chain; a mesh that calls in circles has
// none, and fails.
func depth(services []profile.Service) int {
	calls := map[string][]string{}
	for _, s := range services {
		calls[s.Namespace+"/"+s.Name] = s.Calls
	}
	known := map[string]int{}
	var below func(name string, above int) int
	below = func(name string, above int) int {
		if above > len(services) {
			return -1 << 20
		}
		if n, ok := known[name]; ok {
			return n
		}
		longest := 0
		for _, callee := range calls[name] {
			longest = max(longest, 1+below(callee, above+1))
		}
		known[name] = longest
		return longest
	}
	longest := 0
	for name := range calls {
		longest = max(longest, below(name, 0))
	}
	return longest
}

// The largest replicas that an event asks for stay below the maximum: worked
// here from the profile alone, with three zones and the events together.
func TestEventsFitBelowTheMaximum(t *testing.T) {
	for _, s := range load(t, 1000).Spec.Services {
		if len(s.Events) == 0 {
			continue
		}
		if s.Autoscaling.ManagedBy != "meshgen" {
			t.Errorf("%s/%s is in an event, and nobody scales it for that", s.Namespace, s.Name)
		}
		m := 1.0
		for _, e := range s.Events {
			multiplier, _ := e.Multiplier.Float64()
			m += multiplier - 1
		}
		need := float64(s.Replicas.Min) * m
		if s.Capacity != nil {
			peak, _ := s.Capacity.Peak.Float64()
			one, _ := s.Capacity.PerEndpoint.Float64()
			need = max(need, 1.5*peak*m/(0.75*one))
		}
		if need = 3 * math.Ceil(need/3); need > float64(s.Replicas.Max) {
			t.Errorf("%s/%s needs %.0f replicas in its events and may have %d", s.Namespace, s.Name, need, s.Replicas.Max)
		}
	}
}

func TestCountsAddUp(t *testing.T) {
	for _, services := range []int{50, 100, 999, 5000} {
		sum := 0
		for _, n := range counts(services) {
			sum += n
		}
		if sum != services {
			t.Errorf("%d services are counted as %d", services, sum)
		}
	}
	if _, twice := uniqueNames(build(5000)); twice != "" {
		t.Errorf("two services are called %s", twice)
	}
}

func uniqueNames(m *mesh) (seen map[string]bool, twice string) {
	seen = map[string]bool{}
	for _, s := range m.services {
		name := fmt.Sprintf("%s/%s", s.namespace, s.name)
		if seen[name] {
			return seen, name
		}
		seen[name] = true
	}
	return seen, ""
}
