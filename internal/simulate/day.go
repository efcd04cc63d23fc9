package simulate

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// longestDay is how much of an event is played at the most.
const longestDay = 24 * time.Hour

// day is what both worlds are played through.
type day struct {
	profile *profile.Profile
	plan    *plan.Plan
	event   int // into plan.Events, none where there is none
	calendar.Span
	start, end time.Time // of the event; of what is watched where there is none
	disturbed
	notes []string
}

// dayOf chooses the day: the first of the named event, or without a name the one
// on which the calendar has most connections.
func dayOf(p *profile.Profile, pl *plan.Plan, name string) (*day, error) {
	d := &day{profile: p, plan: pl, event: none, disturbed: disturbed{load: 1}}
	occurs := calendar.Span{Start: calendar.Horizon(d.whens()).Start}
	occurs.End = occurs.Start
	switch {
	case name != "":
		at, err := d.named(name)
		if err != nil {
			return nil, err
		}
		d.event, occurs = at, first(pl.Events[at].When, calendar.Horizon(d.whens()))
	case len(pl.Events) > 0:
		d.event, occurs = d.worst()
	}
	d.start, d.end = occurs.Start, occurs.End
	return d, d.frame()
}

func (d *day) whens() []calendar.Event {
	var all []calendar.Event
	for _, e := range d.plan.Events {
		all = append(all, e.When)
	}
	return all
}

func (d *day) named(name string) (int, error) {
	var names []string
	for i, e := range d.plan.Events {
		if e.When.Name == name {
			return i, nil
		}
		names = append(names, e.When.Name)
	}
	if near, ok := diag.Nearest(name, names); ok {
		return 0, fmt.Errorf("no event %s: did you mean %s?", name, near)
	}
	if len(names) == 0 {
		return 0, fmt.Errorf("no event %s: the calendar is empty", name)
	}
	return 0, fmt.Errorf("no event %s: the calendar has %s", name, strings.Join(names, ", "))
}

func first(e calendar.Event, horizon calendar.Span) calendar.Span {
	if e.Weekly == nil {
		return e.Dated
	}
	return e.Weekly.Occurrences(horizon)[0]
}

// worst is the event with most connections of those that are under way when the
// calendar has most, and its occurrence then.
func (d *day) worst() (event int, occurs calendar.Span) {
	var most amount
	var at calendar.Segment
	for _, s := range calendar.Segments(d.whens()) {
		sum := amount{}
		for _, i := range s.Active {
			sum.connections += excessOf(1, d.plan.Events[i].Connections)
			sum.endpoints += excessOf(1, d.plan.Events[i].Endpoints)
		}
		if at.Active == nil || sum.connections > most.connections || sum.connections == most.connections && sum.endpoints > most.endpoints {
			most, at = sum, s
		}
	}
	event = at.Active[0]
	for _, i := range at.Active {
		if d.plan.Events[i].Connections.Cmp(d.plan.Events[event].Connections) > 0 {
			event = i
		}
	}
	for _, s := range spansOf(d.plan.Events[event].When, at.Span) {
		if !s.Start.After(at.Start) && s.End.After(at.Start) {
			occurs = s
		}
	}
	return event, occurs
}

// frame is the span that is played: two ages before anything moves, so that a
// world that does not start at rest has come there, until the pods of the event
// are gone again and connections have been laid anew.
func (d *day) frame() error {
	today, plans := running(d.profile), planned(d.plan)
	age := min(max(today.age, plans.age), time.Hour)
	openings, err := d.opened(calendar.Span{Start: d.start.AddDate(0, 0, -1), End: d.end})
	if err = errors.Join(plans.err, err); err != nil {
		return err
	}
	begin := d.start
	for _, o := range openings {
		if !o.Start.After(d.start) && o.End.After(d.start) && o.Start.Before(begin) {
			begin = o.Start
		}
	}
	d.Start = begin.Add(-2 * age).Truncate(time.Minute)
	d.End = d.end.Add(max(plans.scaling.scaleIn(), age*3/2).Round(time.Minute))
	if d.event == none {
		d.start, d.end = d.Start.Add(2*age), d.Start.Add(4*age)
		d.End = d.end
	}
	if d.End.Sub(d.Start) > longestDay {
		d.notes = append(d.notes, fmt.Sprintf("the first %s are played; the event ends at %s", durationText(longestDay), rfc3339(d.end)))
		d.End = d.Start.Add(longestDay)
	}
	return nil
}

// scaleIn is how long an autoscaler takes from the end of the event until its pods
// are those of rest.
func (s *scaling) scaleIn() time.Duration {
	after := s.down.window + s.lookback
	for pods := s.fallback; pods > s.min; pods = s.down.policies[0].down(pods) {
		after += s.down.policies[0].period
	}
	return time.Duration(after) * time.Millisecond
}

// millis is a moment in milliseconds of the day.
func (d *day) millis(at time.Time) int64 { return at.Sub(d.Start).Milliseconds() }

// demand is what the mesh asks for on this day, with what is scaled ahead of
// events or without.
func (d *day) demand(scaledAhead bool) (demand, error) {
	asks := demand{rest: d.rest()}
	for _, o := range occurrences(d.plan.Events, d.Span) {
		e := excess{o.event, o.Start.Sub(d.Start), o.End.Sub(d.Start), d.plan.Events[o.event].Ramp, amount{}}
		times := 1.0
		if o.event == d.event && o.Start.Equal(d.start) {
			e.start, times = e.start-d.early, d.load
		}
		whole := d.with(d.rest(), d.plan.Events[o.event], times)
		e.full = amount{whole.connections - asks.rest.connections, whole.endpoints - asks.rest.endpoints}
		asks.excess = append(asks.excess, e)
	}
	var err error
	if scaledAhead {
		asks.ahead, err = d.ahead()
	}
	return asks, err
}

// world is one set of values on this day.
func (d *day) world(v values) (*world, error) {
	i := d.profile.Spec.Istiod
	asks, demandErr := d.demand(v.calendar)
	w := &world{
		name: v.name, age: v.age.Milliseconds(), interval: interval(v.cores, &i.ReconnectCost.Rat),
		limit: float(&i.Resources.Memory.Rat), headroom: float(&i.Headroom.Rat), residual: float(&i.MemoryModel.Residual.Rat),
		zones: int(d.plan.Istiod.Zones), nodes: int(d.plan.Istiod.Nodes),
		podReady: i.PodReady.Milliseconds(), nodeReady: i.NodeReady.Milliseconds(),
		surge: v.surge, unavailable: v.unavailable, scaling: v.scaling, faults: d.faults,
		steps: asks.steps(d.End.Sub(d.Start), d.memory),
		watch: d.millis(d.end), end: d.millis(d.End),
	}
	w.scaling.scrape = max(d.profile.Spec.Metrics.ScrapeInterval.Milliseconds(), 1)
	w.needs = &w.scaling
	if v.scaling.threshold == 0 {
		plans := planned(d.plan)
		w.needs = &plans.scaling
	}
	var windowsErr error
	if v.calendar {
		w.scaling.windows, windowsErr = d.windows()
	}
	w.pods = int(w.scaling.atRest(w.steps[0], w.age))
	return w, errors.Join(v.err, demandErr, windowsErr)
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

func (d *day) memory(endpoints int64) memory {
	return memoryAt(d.profile.Spec.Istiod.MemoryModel, endpoints)
}

// atRest is the pods that have come to run in a mesh that stays as it is.
func (s *scaling) atRest(mesh step, age int64) int64 {
	n := s.needed(mesh.connections, mesh.endpoints)
	if s.threshold == 0 && age > 0 {
		cores := float64(float64(mesh.connections)*s.cpuPerReconnect) * 1000 / float64(age)
		n = int64(math.Ceil(cores / s.cpuTarget))
	}
	for _, w := range s.windows {
		if w.from <= 0 && w.to > 0 {
			n = max(n, w.replicas)
		}
	}
	return min(max(n, s.min), s.max)
}

// needed is the pods that the threshold asks for, 0 without one.
func (s *scaling) needed(connections, endpoints int64) int64 {
	if s.threshold == 0 {
		return 0
	}
	return sizing.CeilDiv(s.usage(connections, endpoints), s.threshold)
}

// usage is what the connection trigger's query comes to: connections, as heavy as
// the endpoints make them, up to what fills a multiple of pods.
func (s *scaling) usage(connections, endpoints int64) int64 {
	each := int64(1) // what a connection of the worst moment counts
	if w := s.weight; w != nil {
		connections, each = w.Carries(connections, endpoints), w.Peak+w.Own
	}
	step := max(1, s.multiple*s.threshold)
	return sizing.CeilDiv(connections, step*each) * step
}
