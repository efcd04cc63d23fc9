package lab

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"text/template"

	"github.com/meshgen/meshgen/internal/report"
	"github.com/meshgen/meshgen/internal/simulate"
	"github.com/meshgen/meshgen/internal/sizing"
)

// line is the CPU of a proxy that connects, in core·s for a proxy and for each MB
// of its configuration, through the rows by least squares.
func line(rows []Row) (each, perMB float64) {
	n, x, y, xx, xy := float64(len(rows)), 0.0, 0.0, 0.0, 0.0
	for _, r := range rows {
		mb, cpu := r.Configuration().Median/1e6, r.Connect().Measured.Median
		x, y, xx, xy = x+mb, y+cpu, xx+float64(mb*mb), xy+float64(mb*cpu)
	}
	perMB = (float64(n*xy) - float64(x*y)) / (float64(n*xx) - float64(x*x))
	return (y - float64(perMB*x)) / n, perMB
}

// runs and kept are how often the simulation plays the redistribution, and the
// share of the runs that its corridor holds from beginning to end.
const (
	runs = 10_000
	kept = 0.99
	seed = 1
)

//go:embed page.md.tmpl
var text string

// Page is docs/lab.md and the drawing that it shows. The same results give the
// same bytes.
func Page(r *Results) (page, drawing []byte, err error) {
	rows := rowsOf(r.Runs)
	if len(rows) == 0 {
		return nil, nil, errors.New("docs/lab.json has no runs")
	}
	spread, drawing, err := redistributed(long, r.Redistribution)
	if err != nil {
		return nil, nil, err
	}
	t, err := template.New("lab").Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("docs/lab.md: %w", err)
	}
	each, perMB := line(rows)
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		*Results
		Rows    []Row
		Repeats int
		Spread  Spread
		Each    string
		PerMB   string
	}{r, rows, len(rows[0].runs), spread, fmt.Sprintf("%.3f", each), fmt.Sprintf("%.3f", perMB)})
	if err != nil {
		return nil, nil, fmt.Errorf("docs/lab.md: %w", err)
	}
	return b.Bytes(), drawing, nil
}

// Row is the runs of one kind: as many proxies, with Sidecars or without.
type Row struct {
	Sidecars                           string
	Proxies, Endpoints, Seen, Clusters int64
	runs                               []Run
}

func rowsOf(all []Run) []Row {
	var rows []Row
	for _, r := range all {
		row := Row{Sidecars: "no", Proxies: r.Proxies, Endpoints: r.Endpoints, Seen: r.Seen, Clusters: r.Clusters}
		if r.Sidecars {
			row.Sidecars = "yes"
		}
		at := slices.IndexFunc(rows, func(o Row) bool { return o.Sidecars == row.Sidecars && o.Proxies == row.Proxies })
		if at < 0 {
			at = len(rows)
			rows = append(rows, row)
		}
		rows[at].runs = append(rows[at].runs, r)
	}
	return rows
}

// Figure is a number of several runs.
type Figure struct{ Least, Median, Most float64 }

func (r Row) figure(of func(Run) float64) Figure {
	var all []float64
	for _, run := range r.runs {
		all = append(all, of(run))
	}
	slices.Sort(all)
	return Figure{all[0], (all[(len(all)-1)/2] + all[len(all)/2]) / 2, all[len(all)-1]}
}

func whole(x float64) string { return fmt.Sprintf("%.0f", x) }

// Whole is the median, and between which the runs lie.
func (f Figure) Whole() string {
	return whole(f.Median) + " (" + whole(f.Least) + "–" + whole(f.Most) + ")"
}

// KB is the median in kB.
func (f Figure) KB() string { return whole(f.Median / 1e3) }

// MB is the median, and between which the runs lie, in MB.
func (f Figure) MB() string {
	return fmt.Sprintf("%.1f (%.1f–%.1f)", f.Median/1e6, f.Least/1e6, f.Most/1e6)
}

// Million is the median in millions.
func (f Figure) Million() string { return fmt.Sprintf("%.3f", f.Median/1e6) }

// Core is the median, and between which the runs lie, in core·s.
func (f Figure) Core() string {
	return fmt.Sprintf("%.3f (%.3f–%.3f)", f.Median, f.Least, f.Most)
}

// Against is a prediction beside what was measured, each in the unit of the
// table.
type Against struct {
	Measured  Figure
	Predicted float64
}

// Error is by how much the prediction is above the median, as a share of it.
func (a Against) Error() float64 { return a.Predicted/a.Measured.Median - 1 }

// Percent is the error.
func (a Against) Percent() string { return fmt.Sprintf("%+.0f %%", 100*a.Error()) }

// MB is the prediction in MB.
func (a Against) MB() string { return fmt.Sprintf("%.1f", a.Predicted/1e6) }

// Whole is the prediction as it is.
func (a Against) Whole() string { return whole(a.Predicted) }

// Core is the prediction in core·s.
func (a Against) Core() string { return fmt.Sprintf("%.3f", a.Predicted) }

// Alone is the heap without proxies.
func (r Row) Alone() Against {
	return Against{r.figure(func(r Run) float64 { return r.Alone.Heap }), r.law(0, "rest")}
}

// Rest is the heap with all proxies, at rest.
func (r Row) Rest() Against {
	return Against{r.figure(func(r Run) float64 { return r.Rest.Heap }), r.law(r.Proxies, "rest")}
}

// Peak is the heap while every endpoint changes.
func (r Row) Peak() Against {
	return Against{r.figure(func(r Run) float64 { return r.Peak.Heap }), r.law(r.Proxies, "peak")}
}

func (r Row) law(connections int64, what string) float64 {
	l, c, e := law(r.Seen, r.Endpoints), big.NewRat(connections, 1), big.NewRat(r.Endpoints, 1)
	heap := l.Rest(c, e)
	if what == "peak" {
		heap = l.Peak(c, e)
	}
	f, _ := heap.Float64()
	return f
}

// Resident is the process's memory while every endpoint changes.
func (r Row) Resident() Figure { return r.figure(func(r Run) float64 { return r.Peak.Resident }) }

// PerConnection is what a connection adds to the heap at rest, in bytes.
func (r Row) PerConnection() Figure {
	return r.figure(func(r Run) float64 { return (r.Rest.Heap - r.Alone.Heap) / float64(r.Proxies) })
}

// PerCluster is that without the law's 30 kB, for each cluster of a proxy.
func (r Row) PerCluster() string {
	return whole((r.PerConnection().Median - perConnection) / float64(r.Clusters))
}

// Waiting is how many messages wait to be sent: what the push adds to 1.5 of the
// heap at rest, in buffers; and the law's.
func (r Row) Waiting() Against {
	most := min(float64(r.Proxies), float64(messageBytes*r.Seen)/waiting)
	return Against{r.figure(func(r Run) float64 { return (r.Peak.Heap - 1.5*r.Rest.Heap) / r.buffer() }), most}
}

// Careful is what the push takes where rest and message are measured and the rest
// of the law is left at its careful end: a heap of twice the rest, and a buffer
// for every connection.
func (r Row) Careful() Against {
	careful := r.figure(func(r Run) float64 { return 2*r.Rest.Heap + float64(r.Proxies)*r.buffer() })
	return Against{r.Peak().Measured, careful.Median}
}

// buffer is what gRPC takes for the message that tells a proxy of its endpoints.
func (r Run) buffer() float64 {
	f, _ := sizing.SendBuffer(big.NewRat(r.Sent["EDS"], 1)).Float64()
	return f
}

// Connect is the CPU of a proxy that connects.
func (r Row) Connect() Against {
	return Against{r.figure(func(r Run) float64 { return r.Connect }), reconnect(r.Configuration().Median)}
}

// Configuration is the bytes that a proxy is sent as it connects.
func (r Row) Configuration() Figure {
	return r.figure(func(r Run) float64 {
		sum := int64(0)
		for _, n := range r.Sent {
			sum += n
		}
		return float64(sum)
	})
}

// Of is the bytes of one type among them.
func (r Row) Of(kind string) Figure {
	return r.figure(func(r Run) float64 { return float64(r.Sent[kind]) })
}

// Message is the bytes of the message that tells a proxy of its endpoints.
func (r Row) Message() Against {
	return Against{r.Of("EDS"), float64(messageBytes * r.Seen)}
}

// Each is the bytes of one endpoint in it.
func (r Row) Each() string { return fmt.Sprintf("%.1f", r.Of("EDS").Median/float64(r.Seen)) }

// Spread is what became of the redistribution.
type Spread struct {
	Scenario
	Runs   int
	Within string // the share of the measured values that are in the corridor
	Kept   string
	Table  string
}

// redistributed compares a measured course with the simulation's corridor.
func redistributed(s Scenario, measured [][]int32) (Spread, []byte, error) {
	if len(measured) != len(s.Istiods) || slices.ContainsFunc(measured, func(of []int32) bool { return int64(len(of)) != s.End+1 }) {
		return Spread{}, nil, fmt.Errorf("docs/lab.json: want %d istiods over %d seconds in redistribution", len(s.Istiods), s.End+1)
	}
	low, high := simulate.Corridor(s.played().Play(runs, seed), kept)
	percent := func(share float64) string { return fmt.Sprintf("%.4g %%", math.Floor(share*1e4)/100) }
	spread := Spread{s, runs, percent(simulate.Within(measured, low, high)), percent(kept), tableOf(s, measured, low, high)}
	var courses []report.Course
	for i := range measured {
		courses = append(courses, report.Course{Name: s.name(i), Measured: floats(measured[i]), Low: floats(low[i]), High: floats(high[i])})
	}
	drawing, err := report.Redistribution("Connections of three istiods", "of 99 in 100", courses, s.marks())
	return spread, drawing, err
}

func floats(all []int32) []float64 {
	out := make([]float64, len(all))
	for i, n := range all {
		out[i] = float64(n)
	}
	return out
}

// name says what becomes of an istiod.
func (s Scenario) name(istiod int) string {
	switch p := s.Istiods[istiod]; {
	case p.To > 0:
		return "The one that is lost"
	case p.From > 0:
		return "The one that comes"
	}
	return "The one that stays"
}

// Names are those of all istiods.
func (s Scenario) Names() []string {
	var all []string
	for i := range s.Istiods {
		all = append(all, strings.ToLower(s.name(i)))
	}
	return all
}

// marks are the moments at which an istiod comes or is lost.
func (s Scenario) marks() []simulate.Mark {
	var all []simulate.Mark
	for _, p := range s.Istiods {
		if p.From > 0 {
			all = append(all, simulate.Mark{Minute: float64(p.From), Name: "one comes"})
		}
		if p.To > 0 {
			all = append(all, simulate.Mark{Minute: float64(p.To), Name: "one is lost"})
		}
	}
	slices.SortFunc(all, func(a, b simulate.Mark) int { return int(a.Minute - b.Minute) })
	return all
}

// tableOf is every tenth second, measured and the corridor, as lines of a table.
func tableOf(s Scenario, measured [][]int32, low, high simulate.Course) string {
	var b strings.Builder
	for at := 0; at < len(measured[0]); at += 10 {
		fmt.Fprintf(&b, "| %d |", at)
		for i := range measured {
			fmt.Fprintf(&b, " %d | %d–%d |", measured[i][at], low[i][at], high[i][at])
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
