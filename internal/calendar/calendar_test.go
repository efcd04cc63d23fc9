package calendar

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
)

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, ok := Location(name)
	if !ok {
		t.Fatalf("no zone %s", name)
	}
	return loc
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestZonesComeFromTheEmbeddedDatabase(t *testing.T) {
	t.Setenv("ZONEINFO", "/nowhere")
	if _, ok := Location("Asia/Seoul"); !ok {
		t.Error("Asia/Seoul is missing")
	}
	for _, name := range []string{"", "Local", "KST", "../zoneinfo", "Europe/", "Europe/Berlin/x", "asia/seoul"} {
		if _, ok := Location(name); ok {
			t.Errorf("%q was taken for a zone", name)
		}
	}
}

func TestSegments(t *testing.T) {
	seoul := location(t, "Asia/Seoul")
	lunch := Event{Name: "lunch", Weekly: &Weekly{
		Days: []time.Weekday{time.Saturday}, Start: 11*60 + 30, End: 13*60 + 30, Location: seoul,
	}}
	sale := Event{Name: "sale", Dated: Span{instant(t, "2026-12-19T12:00:00+09:00"), instant(t, "2026-12-19T21:00:00+09:00")}}
	after := Event{Name: "after", Dated: Span{instant(t, "2026-12-19T21:00:00+09:00"), instant(t, "2026-12-19T22:00:00+09:00")}}
	for name, c := range map[string]struct {
		events []Event
		want   [][]int
	}{
		"a dated event alone":                                        {[]Event{sale}, [][]int{{0}}},
		"a weekly event overlaps a dated one on its day":             {[]Event{sale, lunch}, [][]int{{0}, {0, 1}, {1}}},
		"an event that begins when another ends does not overlap it": {[]Event{sale, after}, [][]int{{0}, {1}}},
		"no events": {nil, nil},
		"a dated event years after the first still meets the weekly one": {
			[]Event{sale, lunch, {Name: "later", Dated: Span{instant(t, "2030-12-21T11:00:00+09:00"), instant(t, "2030-12-21T12:00:00+09:00")}}},
			[][]int{{0}, {0, 1}, {1}, {1, 2}, {2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Sets(Segments(c.events))); diff != "" {
				t.Errorf("sets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHorizon(t *testing.T) {
	in := func(year int) Event {
		start := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		return Event{Dated: Span{start, start.AddDate(0, 0, 1)}}
	}
	for name, c := range map[string]struct {
		events []Event
		want   string
	}{
		"without a dated event it is that of 2026":      {nil, "2026-01-01T00:00:00Z"},
		"it begins with the year of the earliest event": {[]Event{in(2031), in(2028)}, "2028-01-01T00:00:00Z"},
		"days that a zone left out are before it":       {[]Event{in(2011)}, "2012-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Horizon(c.events)
			if want := instant(t, c.want); !got.Start.Equal(want) || !got.End.Equal(want.AddDate(0, 0, 400)) {
				t.Errorf("%v, want 400 days from %s", got, c.want)
			}
		})
	}
}

// Samoa left out 30 December 2011, a Friday.
func TestAYearInWhichAZoneLeftOutADayIsJudged(t *testing.T) {
	sale := Event{Dated: Span{instant(t, "2011-06-01T00:00:00Z"), instant(t, "2011-06-02T00:00:00Z")}}
	w := Window{Weekly{[]time.Weekday{time.Friday}, 9 * 60, 17 * 60, location(t, "Pacific/Apia")}, time.Hour}
	problems, err := w.Problems(Horizon([]Event{sale}))
	if err != nil || problems != nil {
		t.Errorf("problems %v, %v", problems, err)
	}
}

func TestWindow(t *testing.T) {
	week := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	for name, c := range map[string]struct {
		window           Window
		start, end, text string
	}{
		"a lead within the day keeps the days": {
			Window{Weekly{week, 11*60 + 30, 13*60 + 30, time.UTC}, 24 * time.Minute},
			"6 11 * * 1-5", "30 13 * * 1-5", "Mon,Tue,Wed,Thu,Fri 11:06-13:30 UTC",
		},
		"a lead across midnight moves the start's days": {
			Window{Weekly{week, 10, 120, time.UTC}, 24 * time.Minute},
			"46 23 * * 0-4", "0 2 * * 1-5", "Mon,Tue,Wed,Thu,Sun 23:46-02:00 UTC",
		},
		"an end before the start is on the next day": {
			Window{Weekly{[]time.Weekday{time.Saturday}, 22 * 60, 120, time.UTC}, 30 * time.Minute},
			"30 21 * * 6", "0 2 * * 0", "Sat 21:30-02:00 UTC",
		},
		"24:00 is the next day's midnight": {
			Window{Weekly{[]time.Weekday{time.Saturday, time.Sunday}, 20 * 60, 1440, time.UTC}, 30 * time.Minute},
			"30 19 * * 0,6", "0 0 * * 0,1", "Sat,Sun 19:30-24:00 UTC",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.window.Cron()
			if got.Start != c.start || got.End != c.end {
				t.Errorf("cron %q to %q, want %q to %q", got.Start, got.End, c.start, c.end)
			}
			if got := c.window.String(); got != c.text {
				t.Errorf("text %q, want %q", got, c.text)
			}
			problems, err := c.window.Problems(Horizon(nil))
			if err != nil || problems != nil {
				t.Errorf("problems %v, %v", problems, err)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	newYork, lordHowe := location(t, "America/New_York"), location(t, "Australia/Lord_Howe")
	sunday := []time.Weekday{time.Sunday}
	every := []time.Weekday{0, 1, 2, 3, 4, 5, 6}
	for name, c := range map[string]struct {
		window Window
		want   []Problem
	}{
		"a start that the clocks skip": {
			Window{Weekly{sunday, 2*60 + 30, 5 * 60, newYork}, 10 * time.Minute},
			[]Problem{{Gap, "2026-03-08 02:20", "trigger"}},
		},
		"an end that the clocks show twice": {
			Window{Weekly{sunday, 30, 90, newYork}, 10 * time.Minute},
			[]Problem{{Overlap, "2026-11-01 01:30", "end"}},
		},
		"a lead that loses an hour": {
			Window{Weekly{sunday, 3*60 + 10, 5 * 60, newYork}, 90 * time.Minute},
			[]Problem{{Overlap, "2026-11-01 01:40", "trigger"}},
		},
		"a lead that loses an hour, and nothing else": {
			Window{Weekly{sunday, 3*60 + 10, 5 * 60, newYork}, 150 * time.Minute},
			[]Problem{{Short, "2026-03-08 00:40", "trigger"}},
		},
		"windows of every day that touch": {
			Window{Weekly{every, 0, 1440, time.UTC}, 10 * time.Minute},
			[]Problem{{Touching, "2025-12-31 23:50", "trigger"}},
		},
		"an end that is passed over for half a night, while the clocks have half an hour to go back": {
			Window{Weekly{every, 23*60 + 59, 5*60 + 15, lordHowe}, 24 * time.Minute},
			[]Problem{{Wrong, "2026-04-04 23:35", "trigger"}},
		},
		"a start that is passed over, so that the window before goes on for a week": {
			Window{Weekly{sunday, 23*60 + 30, 5*60 + 45, lordHowe}, 25 * time.Minute},
			[]Problem{{Wrong, "2026-03-29 23:05", "trigger"}},
		},
		"a start that is passed over only while the window before is open": {
			Window{Weekly{[]time.Weekday{time.Saturday, time.Sunday}, 23*60 + 30, 5*60 + 45, lordHowe}, 25 * time.Minute}, nil,
		},
		"an evening in a zone with changing clocks": {
			Window{Weekly{every, 18 * 60, 20 * 60, newYork}, 24 * time.Minute}, nil,
		},
		"a Friday on which the clocks skip midnight, which cron finds only from then on": {
			Window{Weekly{[]time.Weekday{time.Wednesday, time.Friday}, 18 * 60, 20 * 60, location(t, "Africa/Cairo")}, 24 * time.Minute}, nil,
		},
		"a clock that goes back by half an hour, before which cron misses a start": {
			Window{Weekly{every, 11*60 + 30, 13*60 + 30, location(t, "Australia/Lord_Howe")}, 24 * time.Minute},
			[]Problem{{Wrong, "2026-04-04 11:06", "trigger"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.window.Problems(Horizon(nil))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// The spans that Active finds by judging instants are those that a scaler
// asking every minute would see, over weeks with a change of clocks among them.
func TestActiveAgreesWithKEDAMinuteByMinute(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zones := []string{"America/New_York", "Asia/Seoul", "Australia/Lord_Howe", "UTC"}
	for range 12 {
		c := Cron{randomCron(random), randomCron(random), location(t, zones[random.IntN(len(zones))])}
		period := Span{instant(t, "2026-02-20T00:00:00Z"), instant(t, "2026-04-12T00:00:00Z")}
		spans, err := c.Active(period)
		if err != nil {
			t.Fatal(err)
		}
		start, _ := cron.ParseStandard(c.Start)
		end, _ := cron.ParseStandard(c.End)
		for at := period.Start.AddDate(0, 0, 15); at.Before(period.End.AddDate(0, 0, -18)); at = at.Add(time.Minute) {
			local := at.In(c.Location)
			want := !start.Next(local).Before(end.Next(local))
			if got := covers(spans, at); got != want {
				t.Fatalf("%q to %q %s at %s: active %v, KEDA's predicate says %v", c.Start, c.End, c.Location, at, got, want)
			}
		}
	}
}

// Where the clocks go back within an hour, robfig/cron may answer an instant before
// the one that it was asked for; a scaler that asks every five minutes goes on all
// the same, and so must what follows the schedules.
func TestActiveAgreesWithKEDAWhereTheClocksGoBack(t *testing.T) {
	for zone, night := range map[string]string{
		"Pacific/Chatham": "2026-04-04T00:00:00Z", "Australia/Lord_Howe": "2026-04-04T00:00:00Z", "Africa/Cairo": "2026-10-29T00:00:00Z",
	} {
		from := instant(t, night)
		period := Span{from.AddDate(0, 0, -5), from.AddDate(0, 0, 20)}
		for quarter := range 24 {
			c := Cron{fmt.Sprintf("%d %d * * *", quarter%4*15, quarter/4), "15 12 * * *", location(t, zone)}
			spans, err := c.Active(period)
			if err != nil {
				t.Fatal(err)
			}
			start, _ := cron.ParseStandard(c.Start)
			end, _ := cron.ParseStandard(c.End)
			for at := from; at.Before(from.AddDate(0, 0, 3)); at = at.Add(5 * time.Minute) {
				local := at.In(c.Location)
				want := !start.Next(local).Before(end.Next(local))
				if got := covers(spans, at); got != want {
					t.Fatalf("%q to %q %s at %s: active %v, KEDA's predicate says %v", c.Start, c.End, zone, local, got, want)
				}
			}
		}
	}
}

// What a schedule answers by clocks of one offset is what robfig/cron answers by
// the zone's own, from every quarter of an hour of a year.
func TestASchedulesAnswerIsRobfigs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	period := Span{instant(t, "2026-01-01T00:00:00Z"), instant(t, "2027-02-05T00:00:00Z")}
	for _, zone := range []string{"Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "America/Nuuk", "UTC", "Asia/Seoul"} {
		c := Cron{randomCron(random), "", location(t, zone)}
		if zone == "Asia/Seoul" {
			c.Start = "30 9 13 * *" // not of this program: its weeks are not alike
		}
		s, err := parse(c.Start, c.even(period))
		if err != nil {
			t.Fatal(err)
		}
		own, _ := cron.ParseStandard(c.Start)
		for at := period.Start.In(c.Location); at.Before(period.End); at = at.Add(15 * time.Minute) {
			if got, want := s.Next(at), own.Next(at); !got.Equal(want) {
				t.Fatalf("%q %s after %s: %s, robfig/cron says %s", c.Start, zone, at, got, want)
			}
		}
	}
}

func covers(spans []Span, at time.Time) bool {
	for _, s := range spans {
		if !at.Before(s.Start) && at.Before(s.End) {
			return true
		}
	}
	return false
}

func randomCron(r *rand.Rand) string {
	days := []string{"1-5", "0,6", "3", "1,3,5"}
	return []string{"0", "30", "15"}[r.IntN(3)] + " " + []string{"0", "2", "9", "23"}[r.IntN(4)] + " * * " + days[r.IntN(len(days))]
}

// 2028 is a leap year: its last day is the 366th.
func TestPeriodsAreCutWhereTheClocksChange(t *testing.T) {
	got := evenClocks(Span{instant(t, "2028-03-01T00:00:00Z"), instant(t, "2029-02-01T00:00:00Z")}, location(t, "Europe/Berlin"))
	want := []Span{
		{instant(t, "2028-03-01T00:00:00Z"), instant(t, "2028-03-26T01:00:00Z")},
		{instant(t, "2028-03-26T01:00:00Z"), instant(t, "2028-10-29T01:00:00Z")},
		{instant(t, "2028-10-29T01:00:00Z"), instant(t, "2029-02-01T00:00:00Z")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
