package simulate

import (
	"math"
	"math/big"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/plan"
)

// demand is the mesh over a span of time: rest, what events add, and what is
// scaled ahead of them.
type demand struct {
	rest   amount
	excess []excess
	ahead  []ahead
}

// amount is of connections and endpoints.
type amount struct{ connections, endpoints float64 }

// excess is what one occurrence of an event adds: it climbs from start for the
// length of the ramp, and goes at the end.
type excess struct {
	event            int
	start, end, ramp time.Duration // from minute 0
	full             amount
}

// ahead is the pods that a workload has more than at rest, in a window of its
// triggers. Those of all windows never come to more than the events bring.
type ahead struct {
	workload   int
	start, end time.Duration
	more       amount
	event      amount // with rest
}

// occurrence is one of an event's spans.
type occurrence struct {
	event int
	calendar.Span
}

// occurrences are the spans of events that touch a span, in the order of events.
func occurrences(events []plan.Event, within calendar.Span) []occurrence {
	var all []occurrence
	for i, e := range events {
		for _, s := range spansOf(e.When, within) {
			if s.Start.Before(within.End) && s.End.After(within.Start) {
				all = append(all, occurrence{i, s})
			}
		}
	}
	return all
}

// spansOf are an event's spans that begin in a span of time or up to two days
// before it: a weekly one is over after a day and the change of clocks.
func spansOf(e calendar.Event, within calendar.Span) []calendar.Span {
	if e.Weekly == nil {
		return []calendar.Span{e.Dated}
	}
	return e.Weekly.Occurrences(calendar.Span{Start: within.Start.AddDate(0, 0, -2), End: within.End})
}

// excessOf is what the multiplier of an event adds to rest.
func excessOf(rest float64, multiplier *big.Rat) float64 {
	m, _ := multiplier.Float64()
	return float64(rest * (m - 1))
}

// at is the mesh at a moment.
func (d demand) at(now time.Duration) amount {
	a := d.rest
	for _, e := range d.excess {
		share := e.share(now)
		a.connections += float64(e.full.connections * share)
		a.endpoints += float64(e.full.endpoints * share)
	}
	b := d.scaledAhead(now)
	return amount{max(a.connections, b.connections), max(a.endpoints, b.endpoints)}
}

// share is how much of an excess is there.
func (e excess) share(now time.Duration) float64 {
	switch {
	case now < e.start || now >= e.end:
		return 0
	case now >= e.start+e.ramp:
		return 1
	}
	return float64(now-e.start) / float64(e.ramp)
}

// scaledAhead is rest with the pods of the windows that are open: of each
// workload those of its largest, of all no more than the largest event brings.
func (d demand) scaledAhead(now time.Duration) amount {
	all, event := d.rest, d.rest
	largest := amount{}
	for i, a := range d.ahead {
		if now >= a.start && now < a.end {
			largest.connections = max(largest.connections, a.more.connections)
			largest.endpoints = max(largest.endpoints, a.more.endpoints)
			event.connections = max(event.connections, a.event.connections)
			event.endpoints = max(event.endpoints, a.event.endpoints)
		}
		if i+1 == len(d.ahead) || d.ahead[i+1].workload != a.workload {
			all.connections += largest.connections
			all.endpoints += largest.endpoints
			largest = amount{}
		}
	}
	return amount{min(all.connections, event.connections), min(all.endpoints, event.endpoints)}
}

// slack is how far a load may be above a whole number by the rounding of floats.
const slack = 1e-6

// steps are the changes of the demand second by second, each load up to a whole
// number.
func (d demand) steps(length time.Duration, memory func(endpoints int64) memory) []step {
	var all []step
	for now := time.Duration(0); now < length; now += time.Second {
		a := d.at(now)
		s := step{at: now.Milliseconds(), connections: int64(math.Ceil(a.connections - slack)), endpoints: int64(math.Ceil(a.endpoints - slack))}
		if n := len(all); n > 0 && all[n-1].connections == s.connections && all[n-1].endpoints == s.endpoints {
			continue
		}
		s.memory = memory(s.endpoints)
		all = append(all, s)
	}
	return all
}

// worst is the first moment of the most connections between two moments, of
// equals that of the most endpoints.
func worst(steps []step, from, to int64) int64 {
	best := step{connections: none}
	for i, s := range steps {
		until := int64(math.MaxInt64)
		if i+1 < len(steps) {
			until = steps[i+1].at
		}
		if s.at >= to || until <= from {
			continue
		}
		if s.connections > best.connections || s.connections == best.connections && s.endpoints > best.endpoints {
			best = s
			best.at = max(s.at, from)
		}
	}
	return best.at
}
