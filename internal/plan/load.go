package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// loads reads the events: when they are, by how much they multiply the load at
// rest, and which of them are ever under way together.
func (b *builder) loads() {
	var spans []calendar.Event
	for i, e := range b.spec().Events {
		path := fmt.Sprintf("spec.events[%d]", i)
		when, ok := b.when(e, path)
		if !ok {
			continue
		}
		connections, endpoints := b.multiplier(e, path, "connections"), b.multiplier(e, path, "endpoints")
		b.events = append(b.events, event{Event: e, when: when, path: path, connections: connections, endpoints: endpoints})
		b.plan.Events = append(b.plan.Events, Event{when, e.Ramp.Duration, connections, endpoints})
		spans = append(spans, when)
	}
	b.sets = calendar.Sets(calendar.Segments(spans))
	b.connections = b.factors(func(i int) *big.Rat { return b.events[i].connections })
	b.endpoints = b.factors(func(i int) *big.Rat { return b.events[i].endpoints })
}

func (b *builder) when(e profile.Event, path string) (calendar.Event, bool) {
	if e.Weekly == nil {
		return calendar.Event{Name: e.Name, Dated: calendar.Span{Start: e.Start.Time, End: e.End.Time}}, true
	}
	location, ok := calendar.Location(e.Weekly.TimeZone)
	if !ok {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/unknown-time-zone",
			Message: fmt.Sprintf("time zone %q of event %s is not in the IANA database", e.Weekly.TimeZone, e.Name),
			Hint:    zoneHint(e.Weekly.TimeZone),
		}, path+".weekly.timeZone")
		return calendar.Event{}, false
	}
	w := &calendar.Weekly{Start: minuteOfDay(e.Weekly.Start), End: minuteOfDay(e.Weekly.End), Location: location}
	for _, name := range e.Weekly.Days {
		w.Days = append(w.Days, weekdays[name])
	}
	return calendar.Event{Name: e.Name, Weekly: w}, true
}

// zoneHint names the zone that was meant. An abbreviation is near to others of
// its kind, and means none of them.
func zoneHint(name string) string {
	if near, ok := diag.Nearest(name, calendar.ZoneNames()); ok && strings.Contains(name, "/") {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return `name a zone as in the IANA database, such as "Europe/Berlin" or "UTC"`
}

var weekdays = map[string]time.Weekday{
	"Mon": time.Monday, "Tue": time.Tuesday, "Wed": time.Wednesday, "Thu": time.Thursday,
	"Fri": time.Friday, "Sat": time.Saturday, "Sun": time.Sunday,
}

// minuteOfDay reads HH:MM, which the schema has judged; 24:00 is 1440.
func minuteOfDay(clock string) int {
	hour, _ := strconv.Atoi(clock[:2])
	minute, _ := strconv.Atoi(clock[3:])
	return hour*60 + minute
}

// multiplier is the event's load of that kind as a multiple of rest. A load
// below rest is an error: an event asks for more replicas or for none.
func (b *builder) multiplier(e profile.Event, path, kind string) *big.Rat {
	rest, load, factor := b.spec().Istiod.Load.Connections, (*int64)(nil), (*profile.Decimal)(nil)
	if kind == "endpoints" {
		rest = b.spec().Istiod.Load.Endpoints
	}
	if e.Load != nil {
		load = pick(kind, e.Load.Connections, e.Load.Endpoints)
	}
	if e.Multiplier != nil {
		factor = pick(kind, e.Multiplier.Connections, e.Multiplier.Endpoints)
	}
	switch {
	case factor != nil:
		return &factor.Rat
	case load == nil:
		return big.NewRat(1, 1)
	case *load < rest:
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/event-below-rest",
			Message: fmt.Sprintf("event %s has %d %s, fewer than the %d at rest", e.Name, *load, kind, rest),
			Hint:    "an event's load counts the whole mesh during the event, what is there at rest included",
		}, path+".load."+kind)
	}
	return big.NewRat(*load, rest)
}

func pick[T any](kind string, connections, endpoints *T) *T {
	if kind == "endpoints" {
		return endpoints
	}
	return connections
}

// factors are what each event multiplies by, and what each set of events that are
// under way together does: 1 + Σ(mᵢ − 1), for they add their excess.
type factors struct{ each, together []*big.Rat }

func (b *builder) factors(multiplier func(event int) *big.Rat) factors {
	var f factors
	for i := range b.events {
		f.each = append(f.each, multiplier(i))
	}
	one := big.NewRat(1, 1)
	for _, set := range b.sets {
		sum := big.NewRat(1, 1)
		for _, i := range set {
			if f.each[i].Cmp(one) != 0 {
				sum.Add(sum, f.each[i]).Sub(sum, one)
			}
		}
		f.together = append(f.together, sum)
	}
	return f
}

// serviceFactors are what the events that a Service names do to its calls.
func (b *builder) serviceFactors(service int) factors {
	if b.named == nil {
		b.named = map[int]factors{}
	}
	f, known := b.named[service]
	if !known {
		named := b.service(service).Events
		f = b.factors(func(i int) *big.Rat {
			if e, ok := named[b.events[i].Name]; ok {
				return &e.Multiplier.Rat
			}
			return big.NewRat(1, 1)
		})
		b.named[service] = f
	}
	return f
}

// worstWith is the largest combined multiplier of the sets that hold the event,
// and the set that it is of: the smallest of equals.
func (b *builder) worstWith(event int, f factors) (most *big.Rat, worst []int) {
	most = big.NewRat(1, 1)
	for i, set := range b.sets {
		if !slices.Contains(set, event) {
			continue
		}
		c := 1
		if worst != nil {
			c = f.together[i].Cmp(most)
		}
		if c > 0 || c == 0 && len(set) < len(worst) {
			most, worst = f.together[i], set
		}
	}
	return most, worst
}

// eventTerm is what an event multiplies by at the most: the profile's number,
// or the sum of those that are under way together.
func (b *builder) eventTerm(name string, event int, f factors, path string) Term {
	m, set := b.worstWith(event, f)
	t := Term{Name: name, Value: m, From: path}
	if together := b.together(event, set, f); together != "" {
		t.From, t.Note = "", path+", "+together
	}
	return t
}

// together says which other events add to this one, and by how much; empty where
// none does.
func (b *builder) together(event int, set []int, f factors) string {
	sum, others := "1", false
	for _, i := range set {
		m := f.each[i]
		if m.Cmp(big.NewRat(1, 1)) == 0 {
			continue
		}
		sum += fmt.Sprintf(" + (%s − 1) of %s", number(m, 4), b.events[i].Name)
		others = others || i != event
	}
	if !others {
		return ""
	}
	return sum + ": they overlap"
}

// peak is the worst moment of the calendar: the most connections and the most
// endpoints of any segment, taken together, so that no moment is worse.
func (b *builder) peak() profile.Load {
	rest := b.spec().Istiod.Load
	peak := rest
	for i := range b.sets {
		peak.Connections = max(peak.Connections, sizing.CeilMul(rest.Connections, b.connections.together[i]))
		peak.Endpoints = max(peak.Endpoints, sizing.CeilMul(rest.Endpoints, b.endpoints.together[i]))
	}
	return peak
}
