// Package calibrate fits the memory model of one istiod pod,
// base + connections × (bytesPerConnection + bytesPerConnectionEndpoint × endpoints)
// or what a push takes (docs/law.md), and the CPU that a reconnect costs, to what was measured, and refuses where the
// measurements cannot carry them. It is pure: series in, a report out; the same
// series give the same report anywhere.
package calibrate

import (
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
)

// Point is a value at a moment, in Unix seconds.
type Point struct{ At, Value float64 }

// Series is the values of one set of labels.
type Series struct {
	Labels map[string]string
	Points []Point
}

// Input is what was measured on one mesh. Series of pods carry the label pod.
type Input struct {
	Memory      []Series // working set, bytes
	Connections []Series // proxies connected, by pod and their version
	Endpoints   []Series // endpoints that istiod knows: one series
	CPU         []Series // core·seconds used so far; may be missing
	Reconnects  []Series // times that clusters were sent so far; may be missing
	Builds      []Series // the label tag is istiod's version; may be missing
}

// Options narrow what is fitted.
type Options struct {
	Source   string  // what findings name as the place
	From, To float64 // Unix seconds; 0 is no bound
	Busy     float64 // the share of hours that is busy by endpoints, and by connections; 1 is every hour
	Label    string  // of the mesh, where a store holds several; empty is any
	Value    string
	Push     *Push // the law of the push is fitted, with this; nil: the field's
}

// DefaultBusy is the busiest quarter of the hours.
const DefaultBusy = 0.25

// Report is what was fitted, and on what.
type Report struct {
	Estimates   []Estimate `json:"estimates"`
	Correlation float64    `json:"r"`           // between measured and fitted memory
	Residual    float64    `json:"residual"`    // standard deviation, a share of the fitted memory
	ResidualP95 float64    `json:"residualP95"` // 19 of 20 samples are at most this share above the fitted memory
	Endpoints   Range      `json:"fittedEndpoints"`
	Connections Range      `json:"fittedConnections"` // of one pod
	Pods        int        `json:"pods"`
	Samples     int        `json:"samples"`
	Dropped     []Drop     `json:"dropped"`
	BusyHours   []Hours    `json:"busyHours"`
	Hours       int        `json:"hours"`        // that hold samples, busy or not
	Version     string     `json:"istioVersion"` // minor; empty where it was not seen
	Model       *Model     `json:"model"`        // null where it is refused
	Plot        []Dot      `json:"-"`
}

// Push reports whether the law of the push was fitted.
func (r *Report) Push() bool {
	return slices.ContainsFunc(r.Estimates, func(e Estimate) bool { return e.Name == "bytesPerEndpoint" })
}

// Estimate is a coefficient with its 95 % interval.
type Estimate struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Range is the least and the most.
type Range struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Drop is why samples were not used, and how many.
type Drop struct {
	Reason  string `json:"reason"`
	Samples int    `json:"samples"`
}

// Hours are hours without a gap between, in UTC: from is in it, to is not.
type Hours struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Dot is a sample as it is plotted: what the model's second factor is, and bytes.
type Dot struct{ Connections, Endpoints, Memory, Fitted float64 }

// Fit fits the model. The report says what was seen where it is refused too; it
// then has no model, and a finding says why.
func Fit(in Input, o Options) (Report, diag.List) {
	f := &fitter{options: o, report: Report{Estimates: []Estimate{}, Dropped: []Drop{}, BusyHours: []Hours{}}}
	f.run(in)
	f.report.round()
	return f.report, f.found
}

// fitter is one run of Fit.
type fitter struct {
	options Options
	report  Report
	found   diag.List
}

func (f *fitter) run(in Input) {
	in = in.selected(f.options.Label, f.options.Value)
	if f.missing(in); f.found.HasErrors() {
		return
	}
	if f.clusters(in); f.found.HasErrors() {
		return
	}
	joined, counts := join(in, f.options)
	used := f.busy(joined, counts)
	f.describe(used, counts)
	if f.enough(used); f.found.HasErrors() {
		return
	}
	f.versions(in.Builds, used)
	fit := f.model
	if f.options.Push != nil {
		fit = f.pushModel
	}
	m, ok := fit(used)
	if !ok || f.found.HasErrors() {
		return
	}
	f.drivers(used)
	f.judge(m)
	f.reconnect(in, joined)
	switch p := f.options.Push; {
	case f.found.HasErrors():
	case p != nil:
		f.report.Model = m.roundedPush(f.report, *p)
	default:
		f.report.Model = m.rounded(f.report)
	}
}

// selected is without the series whose label says that they are of another mesh.
func (in Input) selected(label, value string) Input {
	for _, series := range []*[]Series{&in.Memory, &in.Connections, &in.Endpoints, &in.CPU, &in.Reconnects, &in.Builds} {
		*series = slices.DeleteFunc(slices.Clone(*series), func(s Series) bool {
			of, has := s.Labels[label]
			return has && of != value
		})
	}
	return in
}

// reject adds an error: the model is refused.
func (f *fitter) reject(id, subject, message, hint string) {
	f.add(diag.Error, id, subject, message, hint)
}

func (f *fitter) warn(id, subject, message, hint string) {
	f.add(diag.Warning, id, subject, message, hint)
}

func (f *fitter) add(severity diag.Severity, id, subject, message, hint string) {
	f.found = append(f.found, diag.Finding{
		Severity: severity, ID: id, Pos: diag.Pos{File: f.options.Source},
		Subject: subject, Message: message, Hint: hint,
	})
}

// describe says what is fitted on.
func (f *fitter) describe(used []sample, counts drops) {
	f.report.Dropped = counts.list()
	f.report.Samples = len(used)
	f.report.Pods = len(distinct(used, func(s sample) string { return s.pod }))
	if len(used) == 0 {
		return
	}
	f.report.Endpoints = spread(used, func(s sample) float64 { return s.endpoints })
	f.report.Connections = spread(used, func(s sample) float64 { return s.connections })
}

// spread is the 1st and the 99th percentile, so that one odd sample does not
// stretch what is called fitted.
func spread(used []sample, of func(sample) float64) Range {
	sorted := slices.Sorted(slices.Values(values(used, of)))
	return Range{int64(percentile(sorted, 0.01)), int64(percentile(sorted, 0.99))}
}

// percentile is of sorted values, the nearest below.
func percentile(sorted []float64, p float64) float64 {
	return sorted[int(p*float64(len(sorted)-1))]
}
