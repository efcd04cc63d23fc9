package calendar

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Cron is a window as KEDA's cron scaler takes it: two recurring instants of
// five fields each, in one zone.
type Cron struct {
	Start, End string
	Location   *time.Location
}

// Window is the weekly event with its start moved ahead by the lead, in whole
// minutes; its days are moved when the lead crosses midnight.
type Window struct {
	Weekly
	Lead time.Duration
}

// startMinute is the window's start in minutes after the midnight of the
// event's own day; negative on the days before.
func (w Window) startMinute() int { return w.Start - int(w.Lead/time.Minute) }

// Cron is the window as two recurrences. Days and minutes are those of the
// local clock: Problems says on which dates that is not what was asked.
func (w Window) Cron() Cron {
	return Cron{w.fields(w.startMinute()), w.fields(w.end()), w.Location}
}

func (w Window) fields(minute int) string {
	shift, minute := floorDiv(minute, minutesPerDay)
	return fmt.Sprintf("%d %d * * %s", minute%60, minute/60, daySet(w.Days, shift))
}

// String is "days start-end zone", the days being those of the window's start.
func (w Window) String() string {
	shift, start := floorDiv(w.startMinute(), minutesPerDay)
	names := make([]string, 0, len(w.Days))
	for _, d := range shifted(w.Days, shift) {
		names = append(names, time.Weekday(d).String()[:3])
	}
	end := w.End
	if end == 0 {
		end = minutesPerDay
	}
	return fmt.Sprintf("%s %s-%s %s", strings.Join(names, ","), clock(start), clock(end), w.Location)
}

func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

func floorDiv(a, b int) (quotient, rest int) {
	rest = ((a % b) + b) % b
	return (a - rest) / b, rest
}

// shifted are the days moved by a number of days, in the order Monday to Sunday.
func shifted(days []time.Weekday, by int) []int {
	var all []int
	for _, d := range days {
		_, day := floorDiv(int(d)+by, 7)
		all = append(all, day)
	}
	slices.SortFunc(all, func(a, b int) int { return (a+6)%7 - (b+6)%7 })
	return all
}

// daySet is the cron day-of-week field: cron's Sunday is 0, and ranges may not
// wrap around it.
func daySet(days []time.Weekday, by int) string {
	set := shifted(days, by)
	slices.Sort(set)
	if len(set) > 2 && set[len(set)-1]-set[0] == len(set)-1 {
		return fmt.Sprintf("%d-%d", set[0], set[len(set)-1])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(set), " ", ","), "[]")
}

// Active are the spans in which KEDA's cron scaler is active, cut to the period.
// Its predicate is "the next end is not later than the next start"
// (kedacore/keda pkg/scalers/cron_scaler.go), so the answer can change at a start
// and at an end. It can also change with the clocks: robfig/cron counts hours
// from the clock as it was before, and so passes over instants of a day whose
// clocks move by half an hour until they have moved. Each of those moments is
// judged, and no minute between.
func (c Cron) Active(period Span) ([]Span, error) {
	start, err := parse(c.Start)
	if err != nil {
		return nil, err
	}
	end, err := parse(c.End)
	if err != nil {
		return nil, err
	}
	var spans []Span
	open := false
	for _, t := range c.moments(period, start, end) {
		active := !start.Next(t).Before(end.Next(t))
		switch {
		case active && !open:
			spans = append(spans, Span{Start: t})
		case !active && open:
			spans[len(spans)-1].End = t
		}
		open = active
	}
	if open {
		spans[len(spans)-1].End = period.End
	}
	return spans, nil
}

func parse(fields string) (cron.Schedule, error) {
	s, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(fields)
	if err != nil {
		return nil, fmt.Errorf("cron %q: %w", fields, err)
	}
	return s, nil
}

// moments are the instants of the period at which the answer can change, in
// order: its start, every instant of the schedules, and the changes of clocks,
// from each of which on the schedules are followed anew.
func (c Cron) moments(period Span, schedules ...cron.Schedule) []time.Time {
	all := append([]time.Time{period.Start.In(c.Location)}, c.changes(period)...)
	follow := append(slices.Clone(all[1:]), period.End)
	for i, until := range follow {
		for _, s := range schedules {
			for t := s.Next(all[i]); !t.IsZero() && t.Before(until); t = s.Next(t) {
				all = append(all, t)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// changes are the changes of clocks within the period and the two hours after
// each, in steps of a quarter: so long robfig/cron may go on to count from an
// hour that the clocks did not show whole. No zone's offset has been finer than a
// quarter of an hour since 1986.
func (c Cron) changes(period Span) []time.Time {
	var all []time.Time
	_, at := period.Start.In(c.Location).ZoneBounds()
	for !at.IsZero() && at.Before(period.End) {
		for quarter := range 9 {
			if t := at.Add(time.Duration(quarter) * 15 * time.Minute); t.Before(period.End) {
				all = append(all, t)
			}
		}
		_, at = at.ZoneBounds()
	}
	return all
}
