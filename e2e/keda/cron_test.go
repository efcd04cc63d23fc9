package keda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/meshgen/meshgen/e2e/cluster"
)

const (
	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay
)

// window is when a weekly event's pods are declared to be asked for, by the clock
// on the wall of its zone. It knows days and minutes and nothing of cron.
type window struct {
	days   [7]bool // on which the event starts, from Sunday
	start  int     // of the event, in minutes after midnight
	length int     // of the event, in minutes
	lead   int     // minutes before the start
	zone   *time.Location
}

// declared is the window of a weekly event, with the lead that the plan printed.
func declared(t *testing.T, event cluster.Weekly, lead any) window {
	t.Helper()
	zone, err := time.LoadLocation(event.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	before, err := time.ParseDuration(fmt.Sprint(lead))
	if err != nil {
		t.Fatal(err)
	}
	w := window{start: wallMinute(t, event.Start), lead: int(before / time.Minute), zone: zone}
	if w.length = wallMinute(t, event.End) - w.start; w.length <= 0 {
		w.length += minutesPerDay
	}
	for _, day := range event.Days {
		w.days[slices.Index([]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}, day)] = true
	}
	return w
}

// String has all of the window.
func (w window) String() string {
	return fmt.Sprintf("%v minute %d, %d long, %d ahead, %s", w.days, w.start, w.length, w.lead, w.zone)
}

func wallMinute(t *testing.T, text string) int {
	t.Helper()
	var hour, minute int
	if _, err := fmt.Sscanf(text, "%d:%d", &hour, &minute); err != nil {
		t.Fatalf("time of day %q: %v", text, err)
	}
	return hour*60 + minute
}

// minute is the minute of the week, from Sunday's midnight on, that the wall
// shows.
func (w window) minute(at time.Time) int {
	local := at.In(w.zone)
	return int(local.Weekday())*minutesPerDay + local.Hour()*60 + local.Minute()
}

// open reports whether the wall shows a minute of the window.
func (w window) open(at time.Time) bool {
	minute := w.minute(at)
	for day, starts := range w.days {
		since := minute - (day*minutesPerDay + w.start - w.lead)
		if starts && (since+2*minutesPerWeek)%minutesPerWeek < w.lead+w.length {
			return true
		}
	}
	return false
}

// starts reports whether the wall shows the event's own start.
func (w window) starts(at time.Time) bool {
	minute := w.minute(at)
	return w.days[minute/minutesPerDay] && minute%minutesPerDay == w.start
}

// TestWindow is the judge on its own, with hours from a calendar.
func TestWindow(t *testing.T) {
	night := cluster.Weekly{Days: []string{"Sat"}, Start: "23:30", End: "01:00", TimeZone: "Europe/Berlin"}
	midnight := cluster.Weekly{Days: []string{"Sun"}, Start: "00:10", End: "24:00", TimeZone: "Asia/Seoul"}
	for name, c := range map[string]struct {
		event cluster.Weekly
		at    string
		want  bool
	}{
		"a minute before the lead":                           {night, "2026-11-28T23:09:00+01:00", false},
		"the lead's first minute":                            {night, "2026-11-28T23:10:00+01:00", true},
		"the last minute, on the day after":                  {night, "2026-11-29T00:59:00+01:00", true},
		"the end":                                            {night, "2026-11-29T01:00:00+01:00", false},
		"the same hour of another day":                       {night, "2026-11-27T23:30:00+01:00", false},
		"a lead on the day before, which is last week's end": {midnight, "2026-11-28T23:50:00+09:00", true},
		"the last minute of the day":                         {midnight, "2026-11-29T23:59:00+09:00", true},
		"midnight as the end":                                {midnight, "2026-11-30T00:00:00+09:00", false},
	} {
		t.Run(name, func(t *testing.T) {
			when, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			if got := declared(t, c.event, "20m").open(when); got != c.want {
				t.Errorf("open: %v, want %v", got, c.want)
			}
		})
	}
}

// follow asks KEDA's cron scaler every minute of some days how many pods it wants,
// and says where that is not what the window declares. The scaler reads the
// clock, which a bubble moves.
func follow(t *testing.T, trigger kedav1alpha1.ScaleTriggers, w window, pods float64, from time.Time, days int) []string {
	t.Helper()
	var wrong []string
	synctest.Test(t, func(t *testing.T) {
		scaler, err := newScaler(trigger, 0)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(from))
		asked := 0 // minutes for which pods have been asked for without a break
		for range days * minutesPerDay {
			now := time.Now()
			values, active, err := scaler.GetMetricsAndActivity(context.Background(), "pods")
			if err != nil || len(values) != 1 {
				t.Fatalf("%d values, %v", len(values), err)
			}
			want := 0.0
			if w.open(now) {
				want = pods
			}
			if got := values[0].Value.AsApproximateFloat64(); got != want || active != (want > 0) {
				wrong = append(wrong, fmt.Sprintf("%s: KEDA asks for %v pods, active %v; want %v", now.In(w.zone), got, active, want))
			}
			if w.starts(now) && asked < w.lead && now.Sub(from) > time.Duration(w.lead)*time.Minute {
				wrong = append(wrong, fmt.Sprintf("%s: asked for since %d minutes at the start; want %d", now.In(w.zone), asked, w.lead))
			}
			if asked++; !active {
				asked = 0
			}
			time.Sleep(time.Minute)
		}
	})
	return wrong
}

// scheduled is a cron trigger with what it has to do.
type scheduled struct {
	path    string
	trigger kedav1alpha1.ScaleTriggers
	window  window
	pods    float64
}

// schedule finds the trigger of every weekly event that the plan scales a target
// for; a cron trigger besides those is a fault.
func (m mesh) schedule(t *testing.T) []scheduled {
	t.Helper()
	plan, profile := cluster.Plan(t, m.profile), cluster.ReadProfile(t, m.profile)
	var all []scheduled
	for _, object := range m.objects {
		crons := map[string]kedav1alpha1.ScaleTriggers{}
		for _, trigger := range object.Spec.Triggers {
			if trigger.Type == "cron" {
				crons[trigger.Name] = trigger
			}
		}
		for _, event := range profile.Events {
			name := "event_" + strings.ReplaceAll(event.Name, "-", "_")
			trigger, found := crons[name]
			pods, planned := plan[object.subject(profile)+".replicas.event."+event.Name].Value.(float64)
			if event.Weekly == nil || !planned {
				continue
			}
			if delete(crons, name); !found {
				t.Errorf("%s: no trigger of event %s", object.path, event.Name)
				continue
			}
			lead := plan[object.subject(profile)+".prescale.lead."+event.Name].Value
			all = append(all, scheduled{object.path, trigger, declared(t, *event.Weekly, lead), pods})
		}
		for name := range crons {
			t.Errorf("%s: trigger %s is of no event that is planned", object.path, name)
		}
	}
	return all
}

// subject is what the plan calls the target.
func (r rendered) subject(p cluster.Profile) string {
	if r.Namespace == p.Istio.Namespace {
		return r.Spec.ScaleTargetRef.Name
	}
	return "workload/" + r.Namespace + "/" + r.Spec.ScaleTargetRef.Name
}

// Each cron trigger, minute by minute over 400 days with every change of clocks
// among them, asks for the planned pods in the windows that the profile declares,
// and for none outside. Those that differ in nothing but the pods are followed
// once.
func TestCronTriggersAskInTheirWindows(t *testing.T) {
	t.Parallel()
	triggers, distinct := map[string]int{}, map[string]scheduled{}
	for _, m := range meshes(t) {
		for _, s := range m.schedule(t) {
			triggers[m.name]++
			if got := s.trigger.Metadata["desiredReplicas"]; got != fmt.Sprint(s.pods) {
				t.Errorf("%s: trigger %s asks for %s pods, planned are %v", s.path, s.trigger.Name, got, s.pods)
			}
			of := s.trigger.Metadata
			distinct[fmt.Sprintf("%s to %s %s for %s", of["start"], of["end"], of["timezone"], s.window)] = s
		}
	}
	if diff := cmp.Diff(map[string]int{"bigsale": 1, "thousand": 73, "worldwide": 6}, triggers); diff != "" {
		t.Errorf("triggers judged, by cluster (-want +got):\n%s", diff)
	}
	if len(distinct) != 8 {
		t.Errorf("%d schedules, want 8: %q", len(distinct), slices.Sorted(maps.Keys(distinct)))
	}
	for _, name := range slices.Sorted(maps.Keys(distinct)) {
		s := distinct[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report(t, s.path+": trigger "+s.trigger.Name, follow(t, s.trigger, s.window, s.pods, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 400))
		})
	}
}

func report(t *testing.T, what string, wrong []string) {
	t.Helper()
	if len(wrong) > 0 {
		t.Errorf("%s: %d minutes are wrong, the first:\n%s", what, len(wrong), strings.Join(wrong[:min(3, len(wrong))], "\n"))
	}
}

// What meshgen refuses to write for the change of clocks is refused with reason:
// KEDA's scaler does something else than the event asks for, from a day on that
// the clocks explain.
func TestRefusedWeeklyEventsGoWrong(t *testing.T) {
	t.Parallel()
	const profile = "testdata/refused/profile.yaml"
	document := planAnyway(t, profile)
	events := cluster.ReadProfile(t, profile).Events
	refused := map[string][]string{}
	for _, f := range document.Findings {
		if name, ok := strings.CutPrefix(f.Subject, "istiod.prescale.window."); ok && f.Severity == "error" {
			refused[name] = append(refused[name], f.ID)
		}
	}
	want := map[string][]string{}
	for name, c := range refusals {
		want[name] = c.ids
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("findings by event (-want +got):\n%s", diff)
	}
	for _, event := range events {
		t.Run(event.Name, func(t *testing.T) {
			t.Parallel()
			c := refusals[event.Name]
			trigger := kedav1alpha1.ScaleTriggers{Type: "cron", MetricType: autoscalingv2.AverageValueMetricType, Metadata: map[string]string{
				"timezone": event.Weekly.TimeZone, "start": c.start, "end": c.end, "desiredReplicas": "7",
			}}
			w := declared(t, *event.Weekly, document.lead(event.Name))
			if c.near == "" {
				c.near = "2026-06-01"
			} else {
				report(t, "in the week before", follow(t, trigger, w, 7, midnight(t, c.near, w.zone, -8), 7))
			}
			if wrong := follow(t, trigger, w, 7, midnight(t, c.near, w.zone, -1), 9); len(wrong) == 0 {
				t.Errorf("from %s on KEDA does what the event asks for", c.near)
			}
		})
	}
}

// midnight is the beginning of a day in a zone, some days later.
func midnight(t *testing.T, day string, zone *time.Location, later int) time.Time {
	t.Helper()
	found, err := time.ParseInLocation(time.DateOnly, day, zone)
	if err != nil {
		t.Fatal(err)
	}
	return found.AddDate(0, 0, later)
}

// refusals are the findings of testdata/refused, by event, with the cron fields
// that its window would have been written in.
var refusals = map[string]struct {
	ids        []string
	start, end string
	near       string // the day of the first window that goes wrong; empty where each does
}{
	// A start that the clocks skip, or that is passed over by those who look for it
	// from before the clocks change, leaves the window of a week ago open.
	"pre-scale-skipped": {[]string{"plan/dst-gap"}, "27 2 * * 0", "0 6 * * 0", "2026-03-01"},
	"end-shown-twice":   {[]string{"plan/dst-overlap"}, "27 20 * * 6", "30 1 * * 0", "2026-11-01"},
	"lead-too-short":    {[]string{"plan/dst-lead"}, "17 1 * * 0", "0 6 * * 0", "2026-10-04"},
	"passed-over":       {[]string{"plan/weekly-differs"}, "27 20 * * 0", "45 23 * * 0", "2026-03-29"},
	"without-a-pause":   {[]string{"plan/weekly-touching"}, "27 22 * * *", "0 0 * * *", ""},
}

// planned is what the plan printed of a profile that was refused.
type planned struct {
	Decisions []cluster.Decision
	Findings  []struct{ Severity, ID, Subject string }
}

func (p planned) lead(event string) any {
	for _, d := range p.Decisions {
		if d.Subject == "istiod.prescale.lead."+event {
			return d.Value
		}
	}
	return nil
}

// planAnyway is the plan of a profile for which no safe value exists: the exit
// status is 4, and what could be decided is printed.
func planAnyway(t *testing.T, profile string) planned {
	t.Helper()
	file, err := filepath.Abs(profile)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/meshgen", "plan", file, "-o", "json")
	cmd.Dir = "../.."
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err == nil || !strings.HasSuffix(problem.String(), "exit status 4\n") {
		t.Fatalf("meshgen plan %s: %v\n%s", profile, err, problem.String())
	}
	var p planned
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return p
}
