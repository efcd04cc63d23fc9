package calendar

import (
	"fmt"
	"slices"
	"sort"
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
	even := c.even(period)
	start, err := parse(c.Start, even)
	if err != nil {
		return nil, err
	}
	end, err := parse(c.End, even)
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

// schedule is robfig/cron's, asked by a clock of one offset wherever the zone's own
// does not change in reach: Go reads the rule of a zone anew at each look at its
// clock, and that would be nine tenths of the time. By such a clock every week is
// like every other, and each instant of the week is asked for once.
type schedule struct {
	cron.Schedule
	even          []evenClock
	waits         map[time.Duration]time.Duration // until the answer, by how far into a week it is asked
	asked, answer time.Time                       // by one clock: it is the answer at all times between
}

// evenClock is a span without a change of clocks, and the clock in it.
type evenClock struct {
	Span
	fixed *time.Location
}

func (c Cron) even(period Span) []evenClock {
	var all []evenClock
	for _, s := range evenClocks(period, c.Location) {
		all = append(all, evenClock{s, time.FixedZone(s.Start.In(c.Location).Zone())})
	}
	return all
}

func parse(fields string, even []evenClock) (*schedule, error) {
	s, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(fields)
	if err != nil {
		return nil, fmt.Errorf("cron %q: %w", fields, err)
	}
	if !strings.Contains(fields, " * * ") {
		even = nil // of days of the month, weeks are not alike
	}
	return &schedule{Schedule: s, even: even, waits: map[time.Duration]time.Duration{}}, nil
}

// Next is robfig/cron's. It looks at no clock earlier than the midnight before t
// and none later than its answer; a day on either side is more than that.
func (s *schedule) Next(t time.Time) time.Time {
	if !t.Before(s.asked) && t.Before(s.answer) {
		return s.answer
	}
	for _, e := range s.even {
		if t.Before(e.Start.AddDate(0, 0, 1)) || !t.Before(e.End) {
			continue
		}
		if next := t.Add(s.wait(t.In(e.fixed))); next.Before(e.End.AddDate(0, 0, -1)) {
			s.asked, s.answer = t, next
			return s.answer
		}
	}
	return s.Schedule.Next(t)
}

// wait is how long it is until the schedule's next instant, by a clock of one offset.
func (s *schedule) wait(t time.Time) time.Duration {
	monday := time.Date(2001, time.January, 1, 0, 0, 0, 0, t.Location())
	since := t.Sub(monday) % (7 * 24 * time.Hour)
	wait, known := s.waits[since]
	if !known {
		wait = s.Schedule.Next(t).Sub(t)
		s.waits[since] = wait
	}
	return wait
}

// moments are the instants of the period at which the answer can change, in
// order: its start, every instant of the schedules, and the changes of clocks,
// from each of which on the schedules are followed anew. In an hour that the
// clocks show twice a schedule may answer an instant that is over, which is no
// way on.
func (c Cron) moments(period Span, schedules ...*schedule) []time.Time {
	all := append([]time.Time{period.Start.In(c.Location)}, c.changes(period)...)
	follow := append(slices.Clone(all[1:]), period.End)
	for i, until := range follow {
		for _, s := range schedules {
			for from, t := all[i], s.Next(all[i]); t.After(from) && t.Before(until); from, t = t, s.Next(t) {
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
	for _, even := range evenClocks(period, c.Location)[1:] {
		for quarter := range 9 {
			if t := even.Start.Add(time.Duration(quarter) * 15 * time.Minute).In(c.Location); t.Before(period.End) {
				all = append(all, t)
			}
		}
	}
	return all
}

// evenClocks cuts a period where the clocks of a zone change, at most once a day.
// Go's own Time.ZoneBounds ends a span where it begins on the last day of a leap
// year.
func evenClocks(period Span, loc *time.Location) []Span {
	const day = 24 * 60 * 60
	all := []Span{period}
	for from := period.Start; from.Before(period.End); from = from.AddDate(0, 0, 1) {
		offset := offsetAt(from, 0, loc)
		if offsetAt(from, day, loc) == offset {
			continue
		}
		change := from.Add(time.Duration(sort.Search(day, func(s int) bool { return offsetAt(from, s, loc) != offset })) * time.Second)
		if change.After(period.Start) && change.Before(period.End) {
			all[len(all)-1].End = change
			all = append(all, Span{change, period.End})
		}
	}
	return all
}

// offsetAt is the zone's offset from UTC so many seconds after an instant.
func offsetAt(t time.Time, seconds int, loc *time.Location) int {
	_, offset := t.Add(time.Duration(seconds) * time.Second).In(loc).Zone()
	return offset
}
