package calendar

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// FuzzCalendar holds a weekly window against its meaning, which a scan of the
// zone's clock gives minute by minute: from the lead before each start until the
// end, on the days that were asked for. KEDA's predicate over the cron fields
// that are written is that window, or the window was refused for a reason that
// the scan sees too.
func FuzzCalendar(f *testing.F) {
	for _, name := range []string{"UTC", "Asia/Seoul", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran", "Pacific/Apia", "America/Nuuk"} {
		zone := uint16(slices.Index(ZoneNames(), name))
		f.Add(zone, uint8(0b0111110), uint16(690), uint16(810), uint16(24), uint8(14))
		f.Add(zone, uint8(0b1111111), uint16(0), uint16(1440), uint16(0), uint8(12))
		f.Add(zone, uint8(0b0000001), uint16(130), uint16(300), uint16(90), uint8(0))
		f.Add(zone, uint8(0b1000001), uint16(1320), uint16(60), uint16(1500), uint8(18))
	}
	f.Fuzz(func(t *testing.T, zone uint16, days uint8, start, end, lead uint16, year uint8) {
		w, ok := windowOf(zone, days, start, end, lead)
		if !ok {
			return
		}
		from := time.Date(firstYear+int(year)%(2100-firstYear), 1, 1, 0, 0, 0, 0, time.UTC)
		horizon := Span{from, from.AddDate(0, 0, horizonDays)}
		problems, err := w.Problems(horizon)
		if err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		s := scan(w.Location, horizon)
		if problems == nil {
			s.judgeWindow(t, w, horizon)
		}
		for _, p := range problems {
			s.judgeProblem(t, w, p)
		}
	})
}

// windowOf is a window as profiles can say it; ok is false for a start that is
// the end.
func windowOf(zone uint16, days uint8, start, end, lead uint16) (w Window, ok bool) {
	names := ZoneNames()
	loc, ok := Location(names[int(zone)%len(names)])
	w = Window{Weekly{Start: int(start) % minutesPerDay, End: int(end) % (minutesPerDay + 1), Location: loc}, time.Duration(lead%12000) * time.Minute}
	for d := range 7 {
		if days>>d&1 == 1 {
			w.Days = append(w.Days, time.Weekday(d))
		}
	}
	return w, ok && w.Start != w.End && w.Days != nil
}

// clockScan is a zone's offsets from UTC over a period, from a look at its clock
// every minute. Walls are minutes since 1970 as the clock on the wall shows them.
type clockScan struct {
	location *time.Location
	parts    []clockPart
}

// clockPart is a span with one offset: minutes since 1970 in UTC.
type clockPart struct{ from, to, offset int64 }

func scan(location *time.Location, period Span) *clockScan {
	s := &clockScan{location: location}
	last := period.End.Unix()/60 + 10*minutesPerDay
	for m := period.Start.Unix()/60 - 10*minutesPerDay; m < last; m++ {
		step := int64(60)
		if s.offset(m) == s.offset(min(m+step, last)) {
			s.extend(m, min(m+step, last))
			m += step - 1
			continue
		}
		s.extend(m, m+1)
	}
	return s
}

func (s *clockScan) offset(minute int64) int64 {
	_, seconds := time.Unix(minute*60, 0).In(s.location).Zone()
	return int64(seconds) / 60
}

func (s *clockScan) extend(from, to int64) {
	o := s.offset(from)
	if n := len(s.parts); n > 0 && s.parts[n-1].offset == o {
		s.parts[n-1].to = to
		return
	}
	s.parts = append(s.parts, clockPart{from, to, o})
}

// moments are the minutes at which the wall shows that minute.
func (s *clockScan) moments(wall int64) []int64 {
	var all []int64
	for _, p := range s.parts {
		if m := wall - p.offset; m >= p.from && m < p.to {
			all = append(all, m)
		}
	}
	return all
}

func (s *clockScan) first() int64 { return s.parts[0].from }
func (s *clockScan) last() int64  { return s.parts[len(s.parts)-1].to }

// occurrence is one of a window's, in walls and in minutes of UTC. None of them
// is clear when the wall shows one of its minutes never or twice.
type occurrence struct {
	triggerWall, startWall, endWall int64
	trigger, start, end             int64
	clear                           bool
}

// lead is what was asked for, in minutes.
func (o occurrence) lead() int64 { return o.startWall - o.triggerWall }

// occurrences are those of the days that the wall shows in the scan.
func (s *clockScan) occurrences(w Window) []occurrence {
	var all []occurrence
	first, last := (s.first()+s.parts[0].offset)/minutesPerDay, (s.last()+s.parts[len(s.parts)-1].offset)/minutesPerDay
	for day := first + 9; day < last-2; day++ {
		if !slices.Contains(w.Days, time.Weekday((day+4)%7)) { // 1970 began on a Thursday
			continue
		}
		o := occurrence{startWall: day*minutesPerDay + int64(w.Start), endWall: day*minutesPerDay + int64(w.End)}
		if o.endWall <= o.startWall {
			o.endWall += minutesPerDay
		}
		o.triggerWall = o.startWall - int64(w.Lead/time.Minute)
		triggers, starts, ends := s.moments(o.triggerWall), s.moments(o.startWall), s.moments(o.endWall)
		if o.clear = len(triggers) == 1 && len(starts) == 1 && len(ends) == 1; o.clear {
			o.trigger, o.start, o.end = triggers[0], starts[0], ends[0]
		}
		all = append(all, o)
	}
	return all
}

// judgeWindow goes through the days around every change of clocks, and through
// one week without.
func (s *clockScan) judgeWindow(t *testing.T, w Window, horizon Span) {
	t.Helper()
	first, last := horizon.Start.Unix()/60+18*minutesPerDay, horizon.End.Unix()/60-18*minutesPerDay
	all := s.occurrences(w)
	for _, o := range all {
		if o.end > first && o.trigger < last && (!o.clear || o.start-o.trigger < o.lead()) {
			t.Fatalf("%s was taken, and the wall shows %s never or twice, or the lead is short", w, wallText(o.startWall))
		}
	}
	k := kedaOf(t, w.Cron())
	for _, span := range s.looked(w, first, last) {
		if m, differs := s.differs(k, all, span[0], span[1]); differs {
			t.Fatalf("%s (cron %+v) at %s: KEDA is active: %v", w, w.Cron(), time.Unix(m*60, 0).UTC(), k.active(m))
		}
	}
}

// looked are the spans of minutes that are gone through between two others.
func (s *clockScan) looked(w Window, first, last int64) [][2]int64 {
	margin := 2*minutesPerDay + int64(w.Lead/time.Minute)
	all := [][2]int64{{first, first + 8*minutesPerDay}}
	for _, p := range s.parts[1:] {
		if from, to := max(first, p.from-margin), min(last, p.from+margin); from < to {
			all = append(all, [2]int64{from, to})
		}
	}
	return all
}

// differs is the first minute at which KEDA's predicate is not the occurrences':
// it is active in all of each from the lead before its start on, and nowhere else,
// but that clocks that go back within the lead make it longer by as much. Far from
// every edge one minute in five is looked at.
func (s *clockScan) differs(k keda, all []occurrence, from, to int64) (minute int64, differs bool) {
	for m := from; m < to; m++ {
		for len(all) > 0 && all[0].end <= m {
			all = all[1:]
		}
		wanted, longer, near := false, false, false
		for i := 0; i < len(all) && all[i].trigger <= m+2; i++ {
			o := all[i]
			wanted = wanted || m >= o.start-o.lead() && m < o.end
			longer = longer || m >= o.trigger && m < o.end
			near = near || m < o.trigger+3 || m > o.end-3
		}
		if (near || m%5 == 0) && (k.active(m) != longer || wanted && !longer) {
			return m, true
		}
	}
	return 0, false
}

// keda is the cron scaler's predicate, asked anew at each minute: the next end is
// not later than the next start.
type keda struct {
	location   *time.Location
	start, end cron.Schedule
}

func kedaOf(t *testing.T, c Cron) keda {
	t.Helper()
	start, err := cron.ParseStandard(c.Start)
	if err != nil {
		t.Fatal(err)
	}
	end, err := cron.ParseStandard(c.End)
	if err != nil {
		t.Fatal(err)
	}
	return keda{c.Location, start, end}
}

func (k keda) active(minute int64) bool {
	at := time.Unix(minute*60, 0).In(k.location)
	return !k.start.Next(at).Before(k.end.Next(at))
}

// judgeProblem holds the reason of a refusal against the scan.
func (s *clockScan) judgeProblem(t *testing.T, w Window, p Problem) {
	t.Helper()
	wall := parseWall(t, p.Date)
	shown := len(s.moments(wall))
	holds := false
	switch p.Kind {
	case Gap:
		holds = shown == 0
	case Overlap:
		holds = shown == 2
	case Short:
		holds = slices.ContainsFunc(s.occurrences(w), func(o occurrence) bool {
			return o.clear && o.triggerWall == wall && o.start-o.trigger < o.lead()
		})
	case Touching:
		all := s.occurrences(w)
		for i := 1; i < len(all); i++ {
			holds = holds || all[i].triggerWall == wall && all[i].trigger <= all[i-1].end
		}
	case Wrong:
		near := (wall / minutesPerDay) * minutesPerDay
		_, holds = s.differs(kedaOf(t, w.Cron()), s.occurrences(w), near-9*minutesPerDay, near+9*minutesPerDay)
	}
	if !holds {
		t.Fatalf("%s was refused for %+v, which the clock of %s does not show", w, p, w.Location)
	}
}

func parseWall(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix() / 60
}

func wallText(wall int64) string { return time.Unix(wall*60, 0).UTC().Format("2006-01-02 15:04") }

// FuzzSegments holds the segments of a calendar against the membership of every
// event at the minutes around its edges.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{})
	for i := range byte(12) {
		seed := []byte{i}
		for j := range byte(60) {
			seed = append(seed, i*37+j*j*(i+3))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events := eventsFrom(data)
		segments := Segments(events)
		judgeOrder(t, segments)
		scans := scansOf(events, periods(events))
		for _, s := range segments[:min(len(segments), 400)] {
			for _, at := range []time.Time{s.Start.Add(-time.Minute), s.Start, s.End.Add(-time.Minute), s.End} {
				if want, clear := memberships(events, scans, at); clear && within400(events, at) {
					if got := activeAt(segments, at); !slices.Equal(got, want) {
						t.Fatalf("at %s events %v are under way, the segments say %v", at, want, got)
					}
				}
			}
		}
	})
}

// eventsFrom reads up to six events, eight bytes each.
func eventsFrom(data []byte) []Event {
	var events []Event
	for len(data) >= 8 && len(events) < 6 {
		b := data[:8]
		data = data[8:]
		e := Event{Name: fmt.Sprintf("event-%d", len(events))}
		if b[0]%2 == 0 {
			start := time.Date(2025+int(b[1])%4, 1, 1+int(b[2])+int(b[3])%110, int(b[4])%24, int(b[5])%60, 0, 0, time.UTC)
			e.Dated = Span{start, start.Add(time.Duration(1+int(b[6])*int(b[7])) * time.Minute)}
		} else if w, ok := windowOf(uint16(b[1])<<8|uint16(b[2]), b[3]|1, uint16(b[4])*6, uint16(b[5])*6+uint16(b[6])%6, 0); ok {
			e.Weekly = &w.Weekly
		} else {
			continue
		}
		events = append(events, e)
	}
	return events
}

func judgeOrder(t *testing.T, segments []Segment) {
	t.Helper()
	for i, s := range segments {
		if !s.Start.Before(s.End) || len(s.Active) == 0 || !slices.IsSorted(s.Active) {
			t.Fatalf("segment %d is %+v", i, s)
		}
		if i > 0 && s.Start.Before(segments[i-1].End) {
			t.Fatalf("segment %d begins at %s, before the one before it ends at %s", i, s.Start, segments[i-1].End)
		}
	}
}

// scansOf are the clocks of weekly events over all that is looked at.
func scansOf(events []Event, looked []Span) []*clockScan {
	scans := make([]*clockScan, len(events))
	for i, e := range events {
		if e.Weekly != nil {
			scans[i] = scan(e.Weekly.Location, Span{looked[0].Start, looked[len(looked)-1].End})
		}
	}
	return scans
}

// memberships are the events that are under way at an instant. It is clear when
// no wall near it shows a start or an end never or twice.
func memberships(events []Event, scans []*clockScan, at time.Time) (under []int, clear bool) {
	for i, e := range events {
		in := !at.Before(e.Dated.Start) && at.Before(e.Dated.End)
		if e.Weekly != nil {
			var ok bool
			if in, ok = scans[i].under(Window{Weekly: *e.Weekly}, at.Unix()/60); !ok {
				return nil, false
			}
		}
		if in {
			under = append(under, i)
		}
	}
	return under, true
}

func (s *clockScan) under(w Window, minute int64) (in, clear bool) {
	today := (minute + s.offset(minute)) / minutesPerDay
	for day := today - 2; day <= today+1; day++ {
		if !slices.Contains(w.Days, time.Weekday((day+4)%7)) {
			continue
		}
		starts, ends := s.moments(day*minutesPerDay+int64(w.Start)), s.moments(day*minutesPerDay+int64(w.end()))
		if len(starts) != 1 || len(ends) != 1 {
			return false, false
		}
		in = in || minute >= starts[0] && minute < ends[0]
	}
	return in, true
}

// within400 reports whether weekly events are followed at that instant: not
// within two days of where that begins or ends.
func within400(events []Event, at time.Time) bool {
	return slices.ContainsFunc(periods(events), func(p Span) bool {
		return at.After(p.Start.AddDate(0, 0, 2)) && at.Before(p.End.AddDate(0, 0, -2))
	}) || !slices.ContainsFunc(events, func(e Event) bool { return e.Weekly != nil })
}

func activeAt(segments []Segment, at time.Time) []int {
	for _, s := range segments {
		if !at.Before(s.Start) && at.Before(s.End) {
			return s.Active
		}
	}
	return nil
}
