package simulate

import (
	"context"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func bigsale(t *testing.T, event string, faults ...string) (*day, *world, *world) {
	t.Helper()
	p, pl := example(t, "bigsale")
	d, err := dayOf(p, pl, event)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.disturb(faults); err != nil {
		t.Fatal(err)
	}
	today, err := d.world(running(p))
	if err != nil {
		t.Fatal(err)
	}
	plans, err := d.world(planned(pl))
	if err != nil {
		t.Fatal(err)
	}
	return d, today, plans
}

// meshAt is connections and endpoints at a minute.
func (w *world) meshAt(at float64) [2]int64 {
	var mesh [2]int64
	for _, s := range w.steps {
		if float64(s.at) <= at*minute {
			mesh = [2]int64{s.connections, s.endpoints}
		}
	}
	return mesh
}

// The sale starts at minute 89: two ages of 30 minutes before istiod's pre-scale,
// whose lead is 29 minutes. Its 30 extra pods of three workloads are there 5 minutes
// before it, of the planned world alone.
func TestDemand(t *testing.T) {
	for name, c := range map[string]struct {
		event          string
		faults         []string
		at             float64
		today, planned [2]int64
	}{
		"rest":                                  {"big-sale", nil, 80, [2]int64{1000, 1700}, [2]int64{1000, 1700}},
		"scaled ahead":                          {"big-sale", nil, 84, [2]int64{1000, 1700}, [2]int64{1030, 1730}},
		"half of the climb":                     {"big-sale", nil, 99, [2]int64{2300, 3550}, [2]int64{2300, 3550}},
		"full load":                             {"big-sale", nil, 109, [2]int64{3600, 5400}, [2]int64{3600, 5400}},
		"before the end":                        {"big-sale", nil, 328.9, [2]int64{3600, 5400}, [2]int64{3600, 5400}},
		"the end":                               {"big-sale", nil, 329, [2]int64{1000, 1700}, [2]int64{1000, 1700}},
		"twice as large":                        {"big-sale", []string{"load=2"}, 109, [2]int64{6200, 9100}, [2]int64{6200, 9100}},
		"early":                                 {"big-sale", []string{"early=20m"}, 89, [2]int64{3600, 5400}, [2]int64{3600, 5400}},
		"early is no later end":                 {"big-sale", []string{"early=20m"}, 329, [2]int64{1000, 1700}, [2]int64{1000, 1700}},
		"a weekly event":                        {"weekday-lunch", nil, 60 + 24 + 15, [2]int64{1200, 1870}, [2]int64{1200, 1870}},
		"without a name it is the largest":      {"", nil, 109, [2]int64{3600, 5400}, [2]int64{3600, 5400}},
		"a third of the climb, up to the whole": {"big-sale", nil, 89.5, [2]int64{1065, 1793}, [2]int64{1065, 1793}},
	} {
		t.Run(name, func(t *testing.T) {
			_, today, plans := bigsale(t, c.event, c.faults...)
			if diff := cmp.Diff([][2]int64{c.today, c.planned}, [][2]int64{today.meshAt(c.at), plans.meshAt(c.at)}); diff != "" {
				t.Errorf("connections and endpoints of running and planned (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"zoned":          `there is no "zoned"`,
		"zone=2":         "zone takes no argument",
		"zone@noon":      `"noon" is no moment`,
		"zone@-3h":       "-3h is not on the day that is played",
		"zone@20h":       "20h is not on the day that is played",
		"pods":           "pods takes how many are lost",
		"pods=0":         "pods takes how many are lost",
		"pods=101%":      "pods takes how many are lost",
		"pods=NaN%":      "pods takes how many are lost",
		"load=-1":        "load takes a factor",
		"load=1e300":     "load takes a factor",
		"load=2@5m":      "load is of the whole day",
		"early=-5m":      "early takes a duration",
		"early=5h":       "early takes a duration",
		"prometheus=0s":  "prometheus takes a duration",
		"no-prescale=10": "no-prescale takes no argument",
	} {
		t.Run(text, func(t *testing.T) {
			p, pl := example(t, "bigsale")
			d, err := dayOf(p, pl, "big-sale")
			if err != nil {
				t.Fatal(err)
			}
			err = d.disturb([]string{text})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), FaultHelp) {
				t.Errorf("%v, want %s and the kinds that there are", err, want)
			}
		})
	}
}

// state is what a trial has at a minute.
type state struct{ desired, ready, live int64 }

func stateAt(played *trial, minutes float64) state {
	played.until(int64(minutes * minute))
	return state{played.desired, int64(len(played.ready)), played.live}
}

// Minute 89 is the start of the sale; a zone's pods are evicted after 5 m 40 s and
// their successors ready after 3 m.
func TestFaultsStrike(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		today bool
		want  map[float64]state
	}{
		"nothing": {"", false, map[float64]state{
			59: {24, 24, 24}, 63: {46, 24, 46}, 67: {46, 46, 46}, 328: {46, 46, 46}, 338: {46, 46, 46}, 372: {24, 24, 24},
		}},
		"a zone is lost, and its pods come back in the other": {"zone@-1m", false, map[float64]state{
			87: {46, 46, 46}, 88: {46, 23, 46}, 93.6: {46, 23, 46}, 93.7: {46, 23, 46}, 96: {46, 23, 46}, 97: {46, 46, 46},
		}},
		"a node with one of 46 pods on 80 nodes": {"node@-1m", false, map[float64]state{88: {46, 45, 46}, 97: {46, 46, 46}}},
		"pods are lost and start again":          {"pods=8@-1m", false, map[float64]state{88: {46, 38, 46}, 88.9: {46, 38, 46}, 89: {46, 46, 46}}},
		"half of the pods":                       {"pods=50%@-1m", false, map[float64]state{88: {46, 23, 46}, 89: {46, 46, 46}}},
		"a rollout adds a quarter and takes none first": {"rollout@-1h", false, map[float64]state{
			28: {24, 24, 24}, 29: {24, 24, 30}, 31.9: {24, 24, 30}, 32: {24, 24, 30}, 50: {24, 24, 24},
		}},
		"today's rollout doubles, and takes a quarter first": {"rollout@-1h", true, map[float64]state{
			28: {24, 24, 24}, 29: {24, 18, 42}, 40: {24, 24, 24},
		}},
		"without Prometheus before the pre-scale the fallback holds": {"prometheus@-40m", false, map[float64]state{
			49: {24, 24, 24}, 52: {46, 24, 46}, 56: {46, 46, 46}, 372: {46, 46, 46},
		}},
		"Prometheus comes back, and the fallback goes": {"prometheus=2m@-60m", false, map[float64]state{
			34: {46, 46, 46}, 50: {24, 24, 24},
		}},
		"triggers that do not fire": {"no-prescale", false, map[float64]state{88: {24, 24, 24}, 120: {46, 46, 46}}},
	} {
		t.Run(name, func(t *testing.T) {
			var faults []string
			if c.fault != "" {
				faults = []string{c.fault}
			}
			_, today, plans := bigsale(t, "big-sale", faults...)
			w := plans
			if c.today {
				w = today
			}
			played := &trial{world: w}
			played.begin(rand.NewPCG(1, 1))
			got := map[float64]state{}
			for _, minutes := range slices.Sorted(maps.Keys(c.want)) {
				got[minutes] = stateAt(played, minutes)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(state{})); diff != "" {
				t.Errorf("desired, ready and live pods by minute (-want +got):\n%s", diff)
			}
		})
	}
}

// Records are the same on any number of cores.
func TestCoresDoNotMatter(t *testing.T) {
	_, today, _ := bigsale(t, "big-sale", "pods=14@19m")
	today.end = 130 * minute
	cores := runtime.GOMAXPROCS(1)
	alone, alonePods, err := play(context.Background(), today, 6, 7, nil)
	runtime.GOMAXPROCS(4)
	many, manyPods, err2 := play(context.Background(), today, 6, 7, nil)
	runtime.GOMAXPROCS(cores)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	types := cmp.AllowUnexported(record{}, tally{}, spread{})
	if diff := cmp.Diff(alone, many, types); diff != "" {
		t.Errorf("records on one core and on four:\n%s", diff)
	}
	if diff := cmp.Diff(alonePods, manyPods, types); diff != "" {
		t.Errorf("pods on one core and on four:\n%s", diff)
	}
}
