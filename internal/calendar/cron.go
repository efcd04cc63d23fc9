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
// (kedacore/keda pkg/scalers/cron_scaler.go), asked anew at every poll: the
// answer can only change at a start, at an end, and where the clocks change, for
// robfig/cron may miss an instant after a change when it is asked before. Each of
// those is judged, and no minute between.
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
	for _, even := range evenClocks(period, c.Location) {
		for _, s := range judge(c.instants(start, even), c.instants(end, even), even) {
			if n := len(spans); n > 0 && spans[n-1].End.Equal(s.Start) {
				spans[n-1].End = s.End
			} else {
				spans = append(spans, s)
			}
		}
	}
	return spans, nil
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

func parse(fields string) (cron.Schedule, error) {
	s, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(fields)
	if err != nil {
		return nil, fmt.Errorf("cron %q: %w", fields, err)
	}
	return s, nil
}

// instants are those of the schedule within the period and the first after it;
// one that never comes is the zero time, as KEDA sees it.
func (c Cron) instants(s cron.Schedule, period Span) []time.Time {
	var all []time.Time
	for t := period.Start.In(c.Location); t.Before(period.End); {
		t = s.Next(t)
		all = append(all, t)
		if t.IsZero() {
			break
		}
	}
	return all
}

// judge walks the starts and the ends together. The next of each after an
// instant is the first that lies behind it.
func judge(starts, ends []time.Time, period Span) []Span {
	var spans []Span
	open := false
	for t := period.Start; t.Before(period.End); {
		active := !starts[0].Before(ends[0])
		switch {
		case active && !open:
			spans = append(spans, Span{Start: t})
		case !active && open:
			spans[len(spans)-1].End = t
		}
		open = active
		if starts, ends, t = advance(starts, ends); t.IsZero() {
			break
		}
	}
	if open {
		spans[len(spans)-1].End = period.End
	}
	return spans
}

// advance moves to the earlier of the next start and the next end, both where
// they are one instant; a zero time never comes.
func advance(starts, ends []time.Time) (restStarts, restEnds []time.Time, at time.Time) {
	at = starts[0]
	if at.IsZero() || (!ends[0].IsZero() && ends[0].Before(at)) {
		at = ends[0]
	}
	if starts[0].Equal(at) && len(starts) > 1 {
		starts = starts[1:]
	}
	if ends[0].Equal(at) && len(ends) > 1 {
		ends = ends[1:]
	}
	return starts, ends, at
}
