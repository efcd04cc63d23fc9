package calendar

import (
	"fmt"
	"time"
)

// ProblemKind says what is wrong with a weekly window.
type ProblemKind string

// Gap and Overlap are local times that a change of clocks skips or repeats;
// Short is a lead that a change of clocks eats; Touching is a window that
// begins before the one before it has ended, which two recurring instants
// cannot say; Wrong is any other difference between what KEDA would do and what
// was asked.
const (
	Gap      ProblemKind = "gap"
	Overlap  ProblemKind = "overlap"
	Short    ProblemKind = "short"
	Touching ProblemKind = "touching"
	Wrong    ProblemKind = "wrong"
)

// Problem is the first instant of a period at which a weekly window goes wrong.
type Problem struct {
	Kind ProblemKind
	Date string // the local date and time, "2026-03-08 02:30"
	What string // start, end, or trigger: which instant of the window
}

// Problems judges a weekly window over a period, by the predicate of KEDA's
// cron scaler, against what the event asks for: active from its lead before
// each start until each end. It returns the first problem of each kind.
func (w Window) Problems(period Span) ([]Problem, error) {
	var all problems
	for _, d := range w.dates(period) {
		w.judgeClock(&all, d, w.startMinute(), "trigger")
		w.judgeClock(&all, d, w.Start, "start")
		w.judgeClock(&all, d, w.end(), "end")
	}
	if len(all) > 0 {
		return all, nil
	}
	wanted := w.wanted(&all, period)
	if len(all) > 0 {
		return all, nil
	}
	return w.compare(wanted, period)
}

type problems []Problem

func (p *problems) add(kind ProblemKind, what string, at string) {
	for _, had := range *p {
		if had.Kind == kind {
			return
		}
	}
	*p = append(*p, Problem{kind, at, what})
}

// judgeClock finds local times that are skipped or that come twice.
func (w Window) judgeClock(all *problems, d date, minute int, what string) {
	local := time.Date(d.year, d.month, d.day, 0, minute, 0, 0, time.UTC)
	switch len(instants(local, w.Location)) {
	case 0:
		all.add(Gap, what, local.Format(localTime))
	case 2:
		all.add(Overlap, what, local.Format(localTime))
	}
}

const localTime = "2006-01-02 15:04"

// instants are the moments at which the zone's clock shows the local time,
// which is given as if it were UTC. Only the offsets of the day before and of
// the day after can be in force.
func instants(local time.Time, loc *time.Location) []time.Time {
	var all []time.Time
	for _, day := range []int{-1, 1} {
		_, offset := local.AddDate(0, 0, day).In(loc).Zone()
		at := local.Add(-time.Duration(offset) * time.Second).In(loc)
		_, there := at.Zone()
		if there == offset && (len(all) == 0 || !all[0].Equal(at)) {
			all = append(all, at)
		}
	}
	return all
}

// wanted are the spans that the event asks for, each from the local time of its
// trigger; leads that lost time to a change of clocks and spans that touch are
// problems.
func (w Window) wanted(all *problems, period Span) []Span {
	var spans []Span
	for _, d := range w.dates(period) {
		s := Span{d.at(w.startMinute(), w.Location), d.at(w.end(), w.Location)}
		if d.at(w.Start, w.Location).Sub(s.Start) < w.Lead {
			all.add(Short, "trigger", s.Start.Format(localTime))
		}
		if n := len(spans); n > 0 && !s.Start.After(spans[n-1].End) {
			all.add(Touching, "trigger", s.Start.Format(localTime))
		}
		spans = append(spans, s)
	}
	return spans
}

// compare holds the spans that KEDA would be active in against those wanted,
// leaving out the first and the last days of the period, where spans are cut.
func (w Window) compare(wanted []Span, period Span) ([]Problem, error) {
	active, err := w.Cron().Active(period)
	if err != nil {
		return nil, fmt.Errorf("weekly window %s: %w", w, err)
	}
	inner := Span{period.Start.AddDate(0, 0, 8), period.End.AddDate(0, 0, -8)}
	active, wanted = within(active, inner), within(wanted, inner)
	for i := range max(len(active), len(wanted)) {
		if i >= len(active) || i >= len(wanted) || !active[i].equal(wanted[i]) {
			return []Problem{{Wrong, differs(active, wanted, i).Format(localTime), "trigger"}}, nil
		}
	}
	return nil, nil
}

func (s Span) equal(o Span) bool { return s.Start.Equal(o.Start) && s.End.Equal(o.End) }

func within(spans []Span, period Span) []Span {
	var in []Span
	for _, s := range spans {
		if s.Start.After(period.Start) && s.Start.Before(period.End) {
			in = append(in, s)
		}
	}
	return in
}

func differs(active, wanted []Span, i int) time.Time {
	if i < len(wanted) {
		return wanted[i].Start
	}
	return active[i].Start
}
