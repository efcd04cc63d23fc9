package calibrate_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sample"
)

var everyHour = calibrate.Options{Busy: 1}

// week is a mesh of which four days are seen.
func week() sample.Measured {
	m := sample.TypicalMeasured(1)
	m.Hours, m.Step = 96, 1200
	return m
}

// Each refusal is the only error, and names what has to be known to act on it.
func TestFitRefuses(t *testing.T) {
	cases := map[string]struct {
		input func() calibrate.Input
		id    string
		says  []string
	}{
		"a leak in every pod, though connections and endpoints fit too": {
			func() calibrate.Input {
				m := week()
				m.Leak = 2e6
				return m.Input()
			},
			"calibrate/leak",
			[]string{"grows by 2.01 MB an hour"},
		},
		"a leak that each new pod begins again with": {
			func() calibrate.Input {
				m := week()
				m.Leak, m.Lives = 3e6, 20
				return m.Input()
			},
			"calibrate/leak",
			[]string{"grows by 3.024 MB an hour"},
		},
		"memory that falls hour by hour": {
			func() calibrate.Input {
				m := week()
				m.Base, m.Leak = 600e6, -2e6
				return m.Input()
			},
			"calibrate/leak",
			[]string{"falls by ", "MB an hour"},
		},
		"a step, with its hour": {
			func() calibrate.Input {
				m := week()
				m.Jump = 90e6
				return m.Input()
			},
			"calibrate/step",
			[]string{"from 2026-11-24T16:00:00Z on", "higher by 92.2 MB"},
		},
		"a step that comes with new pods, as of an upgrade": {
			func() calibrate.Input {
				m := week()
				m.Jump, m.Lives = 90e6, 39.99
				return m.Input()
			},
			"calibrate/step",
			[]string{"from 2026-11-24T1", "higher by "},
		},
		"a daily wave, with its hour": {
			func() calibrate.Input {
				m := week()
				m.Base, m.Wave = 300e6, 60e6
				return m.Input()
			},
			"calibrate/daily-wave",
			[]string{"with the day by 1", "MB, most at 21:00 UTC"},
		},
		"two clusters in one store": {
			func() calibrate.Input { return two(sample.TypicalMeasured(1), sample.TypicalMeasured(2), "cluster") },
			"calibrate/two-clusters",
			[]string{"label cluster is a, b"},
		},
		"two control planes in two namespaces": {
			func() calibrate.Input { return two(sample.TypicalMeasured(1), sample.TypicalMeasured(2), "namespace") },
			"calibrate/two-clusters",
			[]string{"label namespace is a, b"},
		},
		"endpoints that hardly move": {
			func() calibrate.Input {
				m := sample.TypicalMeasured(1)
				m.Quiet, m.Peak = 5000, 6000
				return m.Input()
			},
			"calibrate/narrow-range",
			[]string{"endpoints, the most 1.", "where 1.5 times are needed"},
		},
		"endpoints of which there are none": {
			func() calibrate.Input {
				m := sample.TypicalMeasured(1)
				m.Quiet, m.Peak = 0, 0
				return m.Input()
			},
			"calibrate/narrow-range",
			[]string{"saw 0 to 0 endpoints"},
		},
		"too few pods": {
			func() calibrate.Input {
				m := sample.TypicalMeasured(1)
				m.Pods = 3
				return m.Input()
			},
			"calibrate/too-few",
			[]string{"3 pods, 24 busy hours and ", "at least 4, 6 and 200"},
		},
		"too few hours": {
			func() calibrate.Input {
				m := sample.TypicalMeasured(1)
				m.Hours = 4
				return m.Input()
			},
			"calibrate/too-few",
			[]string{"10 pods, 4 busy hours"},
		},
		"memory that connections and endpoints do not explain": {
			func() calibrate.Input {
				m := sample.TypicalMeasured(1)
				m.OfPod = 0.5
				return m.Input()
			},
			"calibrate/weak-fit",
			[]string{"r is 0.", "below 0.9"},
		},
		"memory that falls with connections": {
			func() calibrate.Input {
				m := sample.TypicalMeasured(1)
				m.Base, m.PerEndpoint, m.OfPod, m.Drift = 900e6, -300, 0, 0
				return m.Input()
			},
			"calibrate/implausible",
			[]string{"bytesPerConnectionEndpoint -"},
		},
		"two minor versions of Istio": {
			func() calibrate.Input {
				in := sample.TypicalMeasured(1).Input()
				in.Builds = []calibrate.Series{build("istiod-00", "1.24.1", sample.MeasuredFrom, 10), build("istiod-01", "1.25.0", sample.MeasuredFrom+3600, 10)}
				return in
			},
			"calibrate/two-versions",
			[]string{"Istio 1.24 and 1.25"},
		},
		"no memory": {
			func() calibrate.Input { in := sample.TypicalMeasured(1).Input(); in.Memory = nil; return in },
			"calibrate/no-series",
			[]string{"no memory"},
		},
		"endpoints of several series": {
			func() calibrate.Input {
				in := sample.TypicalMeasured(1).Input()
				in.Endpoints = append(in.Endpoints, in.Endpoints...)
				return in
			},
			"calibrate/endpoints-not-one",
			[]string{"are 2 series"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, found := calibrate.Fit(c.input(), everyHour)
			errors := slices.DeleteFunc(found, func(f diag.Finding) bool { return f.Severity != diag.Error })
			if len(errors) != 1 || errors[0].ID != c.id {
				t.Fatalf("want %s alone, got %v", c.id, errors)
			}
			for _, words := range c.says {
				if !strings.Contains(errors[0].Message, words) {
					t.Errorf("%q does not say %q", errors[0].Message, words)
				}
			}
			if errors[0].Hint == "" {
				t.Error("no hint")
			}
			if report.Model != nil {
				t.Error("a model is printed all the same")
			}
		})
	}
}

// two is what one store holds of two meshes.
func two(a, b sample.Measured, label string) calibrate.Input {
	one, other := a.Input(), b.Input()
	for i := range one.Memory {
		mark(&one.Memory[i], label, "a", "")
		mark(&one.Connections[i], label, "a", "")
	}
	for i := range other.Memory {
		mark(&other.Memory[i], label, "b", "-b")
		mark(&other.Connections[i], label, "b", "-b")
	}
	one.Memory = append(one.Memory, other.Memory...)
	one.Connections = append(one.Connections, other.Connections...)
	return one
}

func mark(s *calibrate.Series, label, value, suffix string) {
	s.Labels = map[string]string{"pod": s.Labels["pod"] + suffix, label: value}
}

func build(pod, tag string, from float64, n int) calibrate.Series {
	s := calibrate.Series{Labels: map[string]string{"pod": pod, "tag": tag}}
	for i := range n {
		s.Points = append(s.Points, calibrate.Point{At: from + float64(i)*600, Value: 1})
	}
	return s
}

// What is not of the mesh's law but of how it is measured does not change the model.
func TestFitIsNotMovedBy(t *testing.T) {
	plain, found := calibrate.Fit(sample.TypicalMeasured(1).Input(), everyHour)
	if plain.Model == nil {
		t.Fatal(found)
	}
	cases := map[string]struct {
		change  func(*calibrate.Input)
		options calibrate.Options
	}{
		"a second replica of Prometheus, that sees the same pods": {
			func(in *calibrate.Input) {
				for _, series := range []*[]calibrate.Series{&in.Memory, &in.Connections} {
					for _, s := range *series {
						labels := map[string]string{"pod": s.Labels["pod"], "version": s.Labels["version"], "prometheus": "b"}
						*series = append(*series, calibrate.Series{Labels: labels, Points: s.Points})
					}
				}
			}, everyHour,
		},
		"proxies of two versions, that add up": {
			func(in *calibrate.Input) {
				for _, s := range in.Connections {
					half := calibrate.Series{Labels: map[string]string{"pod": s.Labels["pod"], "version": "1.25.0"}}
					for i := range s.Points {
						half.Points = append(half.Points, calibrate.Point{At: s.Points[i].At, Value: 5})
						s.Points[i].Value -= 5
					}
					in.Connections = append(in.Connections, half)
				}
			}, everyHour,
		},
		"series of another mesh that the selector leaves out": {
			func(in *calibrate.Input) { *in = two(sample.TypicalMeasured(1), sample.TypicalMeasured(2), "cluster") },
			calibrate.Options{Busy: 1, Label: "cluster", Value: "a"},
		},
		"values that are no numbers": {
			func(in *calibrate.Input) {
				s := &in.Memory[0]
				for _, v := range []float64{math.NaN(), math.Inf(1), -5, 1e300} {
					s.Points = append(s.Points, calibrate.Point{At: sample.MeasuredFrom + 7000, Value: v})
				}
				s.Points = append(s.Points, calibrate.Point{At: math.NaN(), Value: 1}, calibrate.Point{At: math.Inf(-1), Value: 1}, calibrate.Point{At: 1e300, Value: 1})
			}, everyHour,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := sample.TypicalMeasured(1).Input()
			c.change(&in)
			report, found := calibrate.Fit(in, c.options)
			if diff := cmp.Diff(plain.Model, report.Model, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ReconnectCost" }, cmp.Ignore())); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", found, diff)
			}
		})
	}
}

// A report says how many samples it left out, and why.
func TestFitDrops(t *testing.T) {
	cases := map[string]struct {
		change  func(*calibrate.Input)
		options calibrate.Options
		reason  string
		samples int
	}{
		"the first five minutes of a pod": {
			func(*calibrate.Input) {}, everyHour, "of a pod younger than 5 minutes", 10,
		},
		"the first five minutes after a gap of two hours": {
			func(in *calibrate.Input) { in.Memory[0].Points = slices.Delete(in.Memory[0].Points, 40, 52) },
			everyHour, "of a pod younger than 5 minutes", 11,
		},
		"the first five minutes after the CPU counter falls back": {
			func(in *calibrate.Input) {
				for i := range in.CPU[3].Points[70:] {
					in.CPU[3].Points[70+i].Value -= in.CPU[3].Points[69].Value
				}
				for i := range in.Memory[3].Points {
					in.Memory[3].Points[i].At += 60 // after the counter's own scrape
				}
			}, everyHour, "of a pod younger than 5 minutes", 11,
		},
		"a gap in connections": {
			func(in *calibrate.Input) {
				in.Connections[2].Points = slices.Delete(in.Connections[2].Points, 30, 36)
			},
			everyHour, "without connections at that time", 6,
		},
		"a gap in endpoints, for every pod": {
			func(in *calibrate.Input) {
				in.Endpoints[0].Points = slices.Delete(in.Endpoints[0].Points, 50, 53)
			},
			everyHour, "without endpoints at that time", 30,
		},
		"what is no number": {
			func(in *calibrate.Input) { in.Memory[0].Points[9].Value = math.NaN() },
			everyHour, "not a number, or below 0", 1,
		},
		"what is outside of the period": {
			func(*calibrate.Input) {},
			calibrate.Options{Busy: 1, From: sample.MeasuredFrom + 3600, To: sample.MeasuredFrom + 23*3600},
			"outside of the period asked for", 120,
		},
		"quiet hours": {
			func(*calibrate.Input) {},
			calibrate.Options{Busy: 0.25},
			"in an hour that is not busy", 710,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := sample.TypicalMeasured(1).Input()
			c.change(&in)
			report, _ := calibrate.Fit(in, c.options)
			got := 0
			for _, d := range report.Dropped {
				if d.Reason == c.reason {
					got = d.Samples
				}
			}
			if got != c.samples {
				t.Errorf("%d samples are %q, want %d: %v", got, c.reason, c.samples, report.Dropped)
			}
		})
	}
}

// Busy hours are those in which endpoints change or connections are many, whatever
// the memory.
func TestBusyHours(t *testing.T) {
	in := calibrate.Input{Endpoints: []calibrate.Series{{}}}
	memory := calibrate.Series{Labels: map[string]string{"pod": "istiod"}}
	connections := calibrate.Series{Labels: map[string]string{"pod": "istiod"}}
	for i := range 240 {
		at := sample.MeasuredFrom + float64(i)*360
		hour := i / 10
		endpoints, held, bytes := 1000.0, 50.0, 1e8
		if hour == 5 && i%2 == 1 {
			endpoints = 1500 // comes and goes
		}
		if hour == 9 || hour == 10 {
			held = 90
		}
		if hour == 20 {
			bytes = 9e8
		}
		in.Endpoints[0].Points = append(in.Endpoints[0].Points, calibrate.Point{At: at, Value: endpoints})
		connections.Points = append(connections.Points, calibrate.Point{At: at, Value: held})
		memory.Points = append(memory.Points, calibrate.Point{At: at, Value: bytes})
	}
	in.Memory, in.Connections = []calibrate.Series{memory}, []calibrate.Series{connections}
	report, _ := calibrate.Fit(in, calibrate.Options{Busy: 0.08})
	want := []calibrate.Hours{
		{From: "2026-11-23T05:00:00Z", To: "2026-11-23T07:00:00Z"},
		{From: "2026-11-23T09:00:00Z", To: "2026-11-23T11:00:00Z"},
	}
	if diff := cmp.Diff(want, report.BusyHours); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Scrapes at other times than the memory's, pods that are replaced all the time and
// a minute's step give the truth within the intervals too.
func TestFitOfOtherMeshes(t *testing.T) {
	cases := map[string]func(*sample.Measured){
		"pods are replaced every five hours":    func(m *sample.Measured) { m.Lives = 5 },
		"a sample every minute":                 func(m *sample.Measured) { m.Step = 60; m.Hours = 8 },
		"four pods":                             func(m *sample.Measured) { m.Pods = 4 },
		"endpoints of a small mesh":             func(m *sample.Measured) { m.Quiet, m.Peak, m.PerEndpoint = 90, 400, 4000 },
		"noise in proportion to memory alone":   func(m *sample.Measured) { m.Own = 0 },
		"noise of so many bytes at each sample": func(m *sample.Measured) { m.OfPod, m.Drift, m.Shared, m.Own = 0, 0, 0, 20e6 },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			m := sample.TypicalMeasured(7)
			change(&m)
			report, found := calibrate.Fit(m.Input(), everyHour)
			if report.Model == nil {
				t.Fatal(found)
			}
			for _, e := range report.Estimates {
				if truth := m.Truth()[e.Name]; truth < e.Low || truth > e.High {
					t.Errorf("%s is %g, estimated %g to %g", e.Name, truth, e.Low, e.High)
				}
			}
		})
	}
}
