// Package hints asks Kubernetes' own EndpointSlice code how it spreads a
// Service's endpoints over zones. The code of k8s.io/endpointslice decides
// whether there are hints and why not; where it lets the order of a Go map
// choose among several allocations, the package lists them all, and holds each
// answer of the real code against the list. It knows no profile and no plan.
package hints

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/endpointslice/topologycache"
)

// The largest question that is answered: beyond it the allocations that a tie
// allows, or the endpoints that the real code must see, are too many.
const (
	MaxZones     = 12
	MaxEndpoints = 10_000
	maxMilli     = 1 << 40
)

// Fits reports whether Evaluate can answer for the CPU and the endpoints of
// those zones.
func Fits(milli, ready []int64) bool {
	endpoints := int64(0)
	for _, n := range ready {
		endpoints += min(n, MaxEndpoints+1)
	}
	return len(milli) <= MaxZones && endpoints <= MaxEndpoints && slices.Max(append([]int64{0}, milli...)) <= maxMilli
}

// Allocator answers for one distribution of the nodes' CPU over zones. It
// remembers its answers, and is not for use by several goroutines.
type Allocator struct {
	milli []int64
	cache *topologycache.TopologyCache
	known map[string]Result
}

// Result is what Kubernetes does to the endpoints of one Service.
type Result struct {
	Reason   string    // why there are no hints, in Kubernetes' words; empty where there are
	Outcomes []Outcome // every allocation that is possible, where there are hints
}

// Same reports whether two results have the same reason and outcomes.
func (r Result) Same(x Result) bool {
	return r.Reason == x.Reason && slices.EqualFunc(r.Outcomes, x.Outcomes, Outcome.equal)
}

// Outcome is one allocation, by zone. Which endpoint is lent to which zone is
// left to the order of maps and slices: every pairing of lent with borrowed
// endpoints is possible.
type Outcome struct {
	Hints    []int64 // endpoints whose hint names the zone
	Lent     []int64 // endpoints that stand in the zone and are hinted for another
	Borrowed []int64 // endpoints that are hinted for the zone and stand in another
}

// Own is the endpoints in zone i that are hinted for it.
func (o Outcome) Own(i int) int64 { return o.Hints[i] - o.Borrowed[i] }

// ByCPU is the allocator for nodes that are Ready and have that much
// allocatable CPU in each zone, in millicores; 0 is a zone without such nodes.
func ByCPU(milli []int64) *Allocator {
	var nodes []*core.Node
	for i, cpu := range milli {
		if cpu > 0 {
			nodes = append(nodes, node(i, cpu))
		}
	}
	a := &Allocator{milli: milli, cache: topologycache.NewTopologyCache(), known: map[string]Result{}}
	a.cache.SetNodes(logr.Discard(), nodes)
	return a
}

func node(zone int, milli int64) *core.Node {
	return &core.Node{
		ObjectMeta: meta.ObjectMeta{Labels: map[string]string{core.LabelTopologyZone: strconv.Itoa(zone)}},
		Status: core.NodeStatus{
			Allocatable: core.ResourceList{core.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)},
			Conditions:  []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue}},
		},
	}
}

// Evaluate is what becomes of a Service with that many Ready endpoints in each
// zone, all of them new to Kubernetes. An answer of the real code that is not
// among the listed allocations is a failure: the code has changed.
func (a *Allocator) Evaluate(ready []int64) (Result, error) {
	key := fmt.Sprint(ready)
	if r, ok := a.known[key]; ok {
		return r, nil
	}
	reason, drawn := a.draw(ready)
	r := Result{Reason: reason}
	if reason == "" {
		r.Outcomes = allocations(a.milli, ready)
		if !slices.ContainsFunc(r.Outcomes, drawn.equal) {
			return Result{}, fmt.Errorf("k8s.io/endpointslice hints %v of the endpoints %v at CPU %v, which is none of the %d allocations that were listed",
				drawn.Hints, ready, a.milli, len(r.Outcomes))
		}
	}
	a.known[key] = r
	return r, nil
}

func (o Outcome) equal(x Outcome) bool {
	return slices.Equal(o.Hints, x.Hints) && slices.Equal(o.Lent, x.Lent) && slices.Equal(o.Borrowed, x.Borrowed)
}

// draw lets the real code decide once.
func (a *Allocator) draw(ready []int64) (reason string, drawn Outcome) {
	const service = "service"
	slice := &discovery.EndpointSlice{AddressType: discovery.AddressTypeIPv4, Endpoints: endpoints(ready)}
	_, _, events := a.cache.AddHints(logr.Discard(), &topologycache.SliceInfo{
		ServiceKey: service, AddressType: slice.AddressType, ToCreate: []*discovery.EndpointSlice{slice},
	})
	a.cache.RemoveHints(service, slice.AddressType)
	for _, e := range events {
		if e.EventType == core.EventTypeWarning {
			reason, _ = strings.CutSuffix(e.Message, topologycache.FormatWithAddressType("", slice.AddressType))
			return reason, Outcome{}
		}
	}
	return "", outcomeOf(slice.Endpoints, len(ready))
}

func endpoints(ready []int64) []discovery.Endpoint {
	isReady := true
	var all []discovery.Endpoint
	for i, n := range ready {
		zone := strconv.Itoa(i)
		for range n {
			all = append(all, discovery.Endpoint{Zone: &zone, Conditions: discovery.EndpointConditions{Ready: &isReady}})
		}
	}
	return all
}

func outcomeOf(hinted []discovery.Endpoint, zones int) Outcome {
	o := Outcome{Hints: make([]int64, zones), Lent: make([]int64, zones), Borrowed: make([]int64, zones)}
	for _, e := range hinted {
		from, _ := strconv.Atoi(*e.Zone)
		to, _ := strconv.Atoi(e.Hints.ForZones[0].Name)
		o.Hints[to]++
		if from != to {
			o.Lent[from]++
			o.Borrowed[to]++
		}
	}
	return o
}
