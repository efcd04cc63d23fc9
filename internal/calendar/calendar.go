// Package calendar turns events into spans of time: the occurrences of weekly
// events, the segments in which the same events are under way, and the cron
// windows that KEDA will see. It knows no loads and no replicas, and takes time
// zones only from the zone database embedded here, so that the same profile
// means the same instants on every machine.
package calendar

import (
	"slices"
	"time"
)

// Span is the time from Start up to, and without, End.
type Span struct{ Start, End time.Time }

// Event is a span of time with a name: dated when Weekly is nil.
type Event struct {
	Name   string
	Dated  Span
	Weekly *Weekly
}

// Weekly is a span of the local day on some days of every week. Start and End
// are minutes from local midnight, Start below 1440; an End at or below Start
// is on the next day.
type Weekly struct {
	Days       []time.Weekday
	Start, End int
	Location   *time.Location
}

// Segment is a span in which the same events are under way: Active holds their
// indices, ascending, and is never empty.
type Segment struct {
	Span
	Active []int
}

// horizonDays is how long weekly events are followed: every day of the week on
// either side of every change of clocks in a year, with five weeks to spare.
const horizonDays = 400

// firstYear is the first whose clocks weekly events are held against. On the day
// that Samoa and Tokelau left out, 30 December 2011, robfig/cron v3.0.1 looks for
// the next instant for ever; no zone has left out a day since.
const firstYear = 2012

// Horizon is the 400 days over which weekly events are followed: from the first
// day of the year of the earliest dated event, or of 2026; of 2012 at the
// earliest.
func Horizon(events []Event) Span {
	year := 0
	for _, e := range events {
		if e.Weekly == nil && (year == 0 || e.Dated.Start.UTC().Year() < year) {
			year = e.Dated.Start.UTC().Year()
		}
	}
	if year == 0 {
		year = 2026
	}
	start := time.Date(max(year, firstYear), time.January, 1, 0, 0, 0, 0, time.UTC)
	return Span{start, start.AddDate(0, 0, horizonDays)}
}

// Segments are the spans in which the same events are under way, in order, over
// the horizon and over every dated event outside it.
func Segments(events []Event) []Segment {
	var edges []edge
	for i, e := range events {
		for _, s := range spans(e, periods(events)) {
			edges = append(edges, edge{s.Start, i, 1}, edge{s.End, i, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	return sweep(edges, len(events))
}

type edge struct {
	at    time.Time
	event int
	step  int
}

func sweep(edges []edge, events int) []Segment {
	var segments []Segment
	under := make([]int, events)
	for i, e := range edges {
		under[e.event] += e.step
		if i+1 == len(edges) || edges[i+1].at.Equal(e.at) {
			continue
		}
		if active := positive(under); len(active) > 0 {
			segments = append(segments, Segment{Span{e.at, edges[i+1].at}, active})
		}
	}
	return segments
}

func positive(counts []int) []int {
	var at []int
	for i, n := range counts {
		if n > 0 {
			at = append(at, i)
		}
	}
	return at
}

// Sets are the distinct sets of events that are ever under way together.
func Sets(segments []Segment) [][]int {
	var sets [][]int
	for _, s := range segments {
		sets = append(sets, s.Active)
	}
	slices.SortFunc(sets, slices.Compare)
	return slices.CompactFunc(sets, slices.Equal)
}

// periods are the spans of time in which weekly events are followed, without
// overlaps: the horizon, and each dated event with a day on either side.
func periods(events []Event) []Span {
	all := []Span{Horizon(events)}
	for _, e := range events {
		if e.Weekly == nil {
			all = append(all, Span{e.Dated.Start.AddDate(0, 0, -1), e.Dated.End.AddDate(0, 0, 1)})
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return a.Start.Compare(b.Start) })
	merged := all[:1]
	for _, s := range all[1:] {
		last := &merged[len(merged)-1]
		if s.Start.After(last.End) {
			merged = append(merged, s)
		} else if s.End.After(last.End) {
			last.End = s.End
		}
	}
	return merged
}

func spans(e Event, within []Span) []Span {
	if e.Weekly == nil {
		return []Span{e.Dated}
	}
	var all []Span
	for _, p := range within {
		all = append(all, e.Weekly.Occurrences(p)...)
	}
	return all
}

// Occurrences are the spans of the weekly event that begin within the period,
// in order.
func (w *Weekly) Occurrences(period Span) []Span {
	var all []Span
	for _, d := range w.dates(period) {
		s := Span{d.at(w.Start, w.Location), d.at(w.end(), w.Location)}
		if !s.Start.Before(period.Start) && s.Start.Before(period.End) {
			all = append(all, s)
		}
	}
	return all
}

// end is End in minutes after the midnight of the day on which it started.
func (w *Weekly) end() int {
	if w.End <= w.Start {
		return w.End + minutesPerDay
	}
	return w.End
}

const minutesPerDay = 24 * 60

// date is a day of the local calendar.
type date struct {
	year  int
	month time.Month
	day   int
}

func (d date) at(minute int, loc *time.Location) time.Time {
	return time.Date(d.year, d.month, d.day, 0, minute, 0, 0, loc)
}

func (w *Weekly) dates(period Span) []date {
	var all []date
	first := period.Start.In(w.Location)
	for i := -1; ; i++ {
		noon := time.Date(first.Year(), first.Month(), first.Day()+i, 12, 0, 0, 0, w.Location)
		if noon.After(period.End.AddDate(0, 0, 1)) {
			return all
		}
		if slices.Contains(w.Days, noon.Weekday()) {
			all = append(all, date{noon.Year(), noon.Month(), noon.Day()})
		}
	}
}
