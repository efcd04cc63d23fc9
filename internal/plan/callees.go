package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sizing"
)

// callees finds the Services that an event reaches through their callers and
// that do not name it: they meet a multiple of their load with the pods of rest.
func (b *builder) callees() {
	calls := b.callGraph()
	for i := range b.events {
		for _, c := range b.reached(i, calls) {
			b.judgeCallee(i, c)
		}
	}
}

// callGraph is what each Service calls, by its owner's word or as observed, as
// indices into spec.services.
func (b *builder) callGraph() [][]int {
	services := b.spec().Services
	index := make(map[string]int, len(services))
	for i := range services {
		index[nameOf(&services[i])] = i
	}
	calls := make([][]int, len(services))
	for i := range services {
		for _, name := range slices.Concat(services[i].Calls, services[i].ObservedCalls) {
			if to, listed := index[name]; listed {
				calls[i] = append(calls[i], to)
			}
		}
	}
	return calls
}

// callee is a Service that an event reaches: the Service that names the event,
// and the one that makes the calls.
type callee struct{ service, source, caller int }

// reached walks the calls from the Services that name the event, the largest
// multiplier first, so that whoever is reached meets the largest of its callers'
// loads and is visited once. A Service that names the event is not reached: its
// owner has said what the event does to it.
func (b *builder) reached(event int, calls [][]int) []callee {
	var all []callee
	seen := make([]bool, len(calls))
	for _, source := range b.multiplied(event) {
		for queue := []callee{{service: source}}; len(queue) > 0; queue = queue[1:] {
			caller := queue[0].service
			for _, to := range calls[caller] {
				if seen[to] || b.names(to, event) {
					continue
				}
				seen[to] = true
				queue = append(queue, callee{to, source, caller})
			}
			if caller != source {
				all = append(all, queue[0])
			}
		}
	}
	return all
}

// multiplied are the Services that name the event with more than the HPA
// tolerates of rest, the largest multiplier first.
func (b *builder) multiplied(event int) []int {
	var all []int
	for i := range b.spec().Services {
		if b.names(i, event) && b.eventMultiplier(i, event).Cmp(sizing.Tolerance) > 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(x, y int) int {
		return cmp.Or(b.eventMultiplier(y, event).Cmp(b.eventMultiplier(x, event)), cmp.Compare(x, y))
	})
	return all
}

func (b *builder) names(service, event int) bool {
	_, named := b.service(service).Events[b.events[event].Name]
	return named
}

// eventMultiplier is the Service's own, which must name the event.
func (b *builder) eventMultiplier(service, event int) *big.Rat {
	named := b.service(service).Events[b.events[event].Name]
	return &named.Multiplier.Rat
}

func (b *builder) judgeCallee(event int, c callee) {
	e, source := b.events[event].Name, b.service(c.source)
	m := number(b.eventMultiplier(c.source, event), 4)
	by := ""
	if c.caller != c.source {
		by = " by way of " + nameOf(b.service(c.caller))
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/callee-unscaled", Subject: nameOf(b.service(c.service)),
		Message: fmt.Sprintf("event %s multiplies %s by %s, and %s, which it calls%s, does not name the event%s",
			e, nameOf(source), m, nameOf(b.service(c.service)), by, b.utilizationText(event, c)),
		Hint: b.calleeHint(e, m, c),
	}, servicePath(c.service)+".events")
}

// utilizationText says how full the callee's pods of rest would be.
func (b *builder) utilizationText(event int, c callee) string {
	s, m := b.service(c.service), b.eventMultiplier(c.source, event)
	if s.Capacity == nil || s.Replicas.Min == 0 {
		return ""
	}
	peak, each := &s.Capacity.Peak.Rat, &s.Capacity.PerEndpoint.Rat
	return fmt.Sprintf(": its %s would be %s utilised (%s × %s / (%s × %d))", plural(s.Replicas.Min, "pod"),
		percent(sizing.Utilization(peak, m, each, s.Replicas.Min)), number(peak, 6), number(m, 4), number(each, 6), s.Replicas.Min)
}

func (b *builder) calleeHint(event, m string, c callee) string {
	hint := fmt.Sprintf("add events: {%s: {multiplier: %s}} to %s, or less where it answers fewer calls than that", event, m, nameOf(b.service(c.service)))
	a := b.service(c.service).Autoscaling
	if a.ManagedBy != "meshgen" && a.Running.HPA == "" && a.Running.ScaledObject == "" {
		hint += "; nobody scales it, so autoscaling.managedBy: meshgen as well"
	}
	return hint
}
