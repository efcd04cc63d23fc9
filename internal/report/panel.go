package report

import (
	"math"

	"github.com/meshgen/meshgen/internal/simulate"
)

// panel is one drawing: curves over the minutes of the day.
type panel struct {
	minutes []float64
	areas   []area
	curves  []curve
	rules   []rule
	deaths  []float64 // minutes at which pods were killed, drawn at the value of the first rule
	top     float64   // of the scale of values, which begins at zero
	ticks   []tick
	label   func(float64) string
	names   bool // the moments of the day are named
}

// area is a spread between two curves; its name stands at the end of its middle.
type area struct {
	name      string
	ink       ink
	low, high []float64
}

func (a area) middle() []float64 {
	all := make([]float64, len(a.low))
	for i := range all {
		all[i] = (a.low[i] + a.high[i]) / 2
	}
	return all
}

// curve is a named line. What is not finite leaves a gap.
type curve struct {
	name   string
	ink    ink
	stroke stroke
	values []float64
}

// stroke is how a curve is drawn, so that it is told from others without colour.
type stroke int

const (
	solid stroke = iota
	thin
	dashed
	dotted
)

// rule is a named level.
type rule struct {
	name string
	ink  ink
	at   float64
}

// column is one number of every sample.
func column(samples []simulate.Sample, of func(simulate.Sample) float64) []float64 {
	all := make([]float64, len(samples))
	for i, s := range samples {
		all[i] = of(s)
	}
	return all
}

func minutes(samples []simulate.Sample) []float64 {
	return column(samples, func(s simulate.Sample) float64 { return s.Minute })
}

// memory is the fullest pod's memory against its limit.
func memory(r *simulate.Report, w simulate.World) panel {
	share := func(of func(simulate.Band) float64) []float64 {
		return column(w.Series, func(s simulate.Sample) float64 { return of(s.Share) })
	}
	return panel{
		minutes: minutes(w.Series),
		areas:   []area{spread(share)},
		curves:  spreadCurves(share),
		rules:   []rule{{"limit", danger, 1}, {"headroom", warn, r.Headroom}},
		deaths:  deaths(w.Series),
	}
}

// connections is how many connections a pod holds, over pods and trials.
func connections(_ *simulate.Report, w simulate.World) panel {
	perPod := func(of func(simulate.Band) float64) []float64 {
		return column(w.Series, func(s simulate.Sample) float64 { return of(s.PerPod) })
	}
	return panel{minutes: minutes(w.Series), areas: []area{spread(perPod)}, curves: spreadCurves(perPod)}
}

func spread(of func(func(simulate.Band) float64) []float64) area {
	low := of(func(b simulate.Band) float64 { return b.Low })
	return area{"P1 to P99", band, low, of(func(b simulate.Band) float64 { return b.High })}
}

func spreadCurves(of func(func(simulate.Band) float64) []float64) []curve {
	return []curve{
		{"median", line, solid, of(func(b simulate.Band) float64 { return b.Median })},
		{"worst", words, dotted, of(func(b simulate.Band) float64 { return b.Worst })},
	}
}

// replicas is the pods that there are against those that the demand needs.
func replicas(_ *simulate.Report, w simulate.World) panel {
	ready := column(w.Series, func(s simulate.Sample) float64 { return s.Ready })
	return panel{
		minutes: minutes(w.Series),
		areas:   []area{{"fewest", band, column(w.Series, func(s simulate.Sample) float64 { return s.ReadyLow }), ready}},
		curves: []curve{
			{"desired", muted, thin, column(w.Series, func(s simulate.Sample) float64 { return s.Desired })},
			{"ready", line, solid, ready},
			{"needed", words, dashed, column(w.Series, func(s simulate.Sample) float64 { return s.Needed })},
		},
	}
}

// reconnects is how busy the control plane is with connections that come again.
func reconnects(_ *simulate.Report, w simulate.World) panel {
	rate := column(w.Series, func(s simulate.Sample) float64 { return s.Reconnects })
	return panel{minutes: minutes(w.Series), curves: []curve{{"a second", line, solid, rate}}}
}

// demand is what the calendar asks for, which is the same for every world.
func demand(w simulate.World) []panel {
	connections := column(w.Series, func(s simulate.Sample) float64 { return s.Connections })
	endpoints := column(w.Series, func(s simulate.Sample) float64 { return s.Endpoints })
	return []panel{
		{minutes: minutes(w.Series), curves: []curve{{"", line, solid, connections}}},
		{minutes: minutes(w.Series), curves: []curve{{"", line, solid, endpoints}}},
	}
}

// deaths are the minutes in which more pods were killed than before.
func deaths(samples []simulate.Sample) []float64 {
	var all []float64
	before := 0.0
	for _, s := range samples {
		if s.Killed > before {
			all = append(all, s.Minute)
			before = s.Killed
		}
	}
	return all
}

// room is how much of a scale stays free above the largest value.
const room = 1.08

// largest is the greatest value that a panel draws.
func (p panel) largest() float64 {
	most := 0.0
	for _, a := range p.areas {
		most = max(most, largest(a.low), largest(a.high))
	}
	for _, c := range p.curves {
		most = max(most, largest(c.values))
	}
	for _, r := range p.rules {
		most = max(most, largest([]float64{r.at}))
	}
	return most
}

func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		if known(v) {
			most = max(most, v)
		}
	}
	return most
}

// farthest is where a number stops being one of a cluster.
const farthest = 1e12

// known reports whether a value is a number that can be drawn and written.
func known(v float64) bool { return math.Abs(v) <= farthest }
