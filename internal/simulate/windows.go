package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/plan"
)

// opening is a span in which a trigger of the calendar is open.
type opening struct {
	calendar.Span
	trigger plan.Trigger
}

// openings are those of an owner's triggers, istiod's or a workload's, that touch
// a span of time. What a dated trigger asks Prometheus is the window that was
// decided for it.
func (d *day) openings(owner string, triggers []plan.Trigger, within calendar.Span) ([]opening, error) {
	var all []opening
	for _, t := range triggers {
		if t.Event == "" {
			continue
		}
		spans, err := d.spans(owner, t, within)
		if err != nil {
			return nil, fmt.Errorf("windows of %s for %s: %w", owner, t.Event, err)
		}
		for _, s := range spans {
			if s.Start.Before(within.End) && s.End.After(within.Start) {
				all = append(all, opening{s, t})
			}
		}
	}
	return all, nil
}

func (d *day) spans(owner string, t plan.Trigger, within calendar.Span) ([]calendar.Span, error) {
	if t.Query == "" {
		location, ok := calendar.Location(t.TimeZone)
		if !ok {
			return nil, fmt.Errorf("no zone %s", t.TimeZone)
		}
		return calendar.Cron{Start: t.Start, End: t.End, Location: location}.Active(within)
	}
	text, err := d.plan.Text(owner + ".prescale.window." + t.Event)
	if err != nil {
		return nil, err
	}
	from, to, _ := strings.Cut(text, "/")
	start, err := time.Parse(time.RFC3339, from)
	if err != nil {
		return nil, err
	}
	end, err := time.Parse(time.RFC3339, to)
	return []calendar.Span{{Start: start, End: end}}, err
}

// opened are the openings of everybody: where istiod's pods or a workload's are
// asked for.
func (d *day) opened(within calendar.Span) ([]opening, error) {
	all, err := d.openings("istiod", d.plan.Istiod.Triggers, within)
	for _, w := range d.plan.Workloads {
		if w.Scaling == nil || err != nil {
			continue
		}
		var more []opening
		more, err = d.openings(w.Subject(), w.Scaling.Triggers, within)
		all = append(all, more...)
	}
	return all, err
}

// windows are istiod's, in milliseconds of the day.
func (d *day) windows() ([]window, error) {
	openings, err := d.openings("istiod", d.plan.Istiod.Triggers, d.Span)
	var all []window
	for _, o := range openings {
		all = append(all, window{o.trigger.Event, d.millis(o.Start), d.millis(o.End), o.trigger.Replicas, o.trigger.Query != ""})
	}
	return all, err
}

// ahead are the pods that workloads have before their events: more connections,
// and as many endpoints for each Service in front of them.
func (d *day) ahead() ([]ahead, error) {
	var all []ahead
	for i, w := range d.plan.Workloads {
		if w.Scaling == nil {
			continue
		}
		openings, err := d.openings(w.Subject(), w.Scaling.Triggers, d.Span)
		if err != nil {
			return nil, err
		}
		for _, o := range openings {
			more := float64(o.trigger.Replicas - w.Scaling.Min)
			all = append(all, ahead{
				i, o.Start.Sub(d.Start), o.End.Sub(d.Start),
				amount{more, float64(more * d.services(w))},
				d.whole(o.trigger.Event),
			})
		}
	}
	return all, nil
}

// services is how many Services stand in front of a workload.
func (d *day) services(w plan.Workload) float64 {
	n := 0.0
	for _, s := range d.profile.Spec.Services {
		if s.Workload != nil && s.Namespace == w.Namespace && s.Workload.Name == w.Name {
			n++
		}
	}
	return n
}

// whole is the mesh with an event alone.
func (d *day) whole(event string) amount {
	a := d.rest()
	for _, e := range d.plan.Events {
		if e.When.Name == event {
			a = d.with(a, e, 1)
		}
	}
	return a
}

// with adds an event's excess, so many times.
func (d *day) with(a amount, e plan.Event, times float64) amount {
	rest := d.rest()
	a.connections += float64(times * excessOf(rest.connections, e.Connections))
	a.endpoints += float64(times * excessOf(rest.endpoints, e.Endpoints))
	return a
}

func (d *day) rest() amount {
	load := d.profile.Spec.Istiod.Load
	return amount{float64(load.Connections), float64(load.Endpoints)}
}
