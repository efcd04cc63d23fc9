package calibrate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Model is what a profile says of one pod, each number rounded up.
type Model struct {
	Kind                       string  `json:"kind,omitempty"` // push; empty is the field's law
	Base                       int64   `json:"base"`           // bytes, a multiple of 1,000,000
	BytesPerConnection         int64   `json:"bytesPerConnection"`
	BytesPerConnectionEndpoint float64 `json:"bytesPerConnectionEndpoint,omitempty"`
	FittedEndpoints            Range   `json:"fittedEndpoints"`
	IstioVersion               string  `json:"istioVersion,omitempty"`
	Residual                   float64 `json:"residual"`
	ReconnectCost              float64 `json:"reconnectCost,omitempty"` // core·s, the upper end of its interval

	// of kind push
	BytesPerEndpoint        int64   `json:"bytesPerEndpoint,omitempty"`
	HeapGrowth              float64 `json:"heapGrowth,omitempty"`
	MessageBytesPerEndpoint float64 `json:"messageBytesPerEndpoint,omitempty"`
	VisibleShare            float64 `json:"visibleShare,omitempty"`
	BytesPerWaitingMessage  float64 `json:"bytesPerWaitingMessage,omitempty"`
}

// law is the memory model with its intervals: base, then what a connection costs,
// then an endpoint, of each connection or, under the law of the push, of a pod.
type law struct {
	base, perConnection, perEndpoint Estimate
}

// model fits p only where its interval is above 0: where endpoints hardly move,
// p·C and k·C·E are one and the same. Otherwise p is 0, and the intervals of the
// others reach over those of both fits, for either may be true.
func (f *fitter) model(used []sample) (law, bool) {
	full, ok := regressionOf(used, ones, connections, product).solve()
	plain, okPlain := regressionOf(used, ones, product).solve()
	if !okPlain {
		return f.inseparable()
	}
	m := law{
		base:          estimate("base", "bytes", plain, 0),
		perConnection: Estimate{Name: "bytesPerConnection", Unit: "bytes/connection"},
		perEndpoint:   estimate("bytesPerConnectionEndpoint", "bytes/connection/endpoint", plain, 1),
	}
	fitted := plain.fitted
	if ok {
		base, p, k := estimate("base", "bytes", full, 0), estimate("bytesPerConnection", "bytes/connection", full, 1), estimate(m.perEndpoint.Name, m.perEndpoint.Unit, full, 2)
		if p.Low > 0 {
			m, fitted = law{base, p, k}, full.fitted
		} else {
			m.base, m.perEndpoint = m.base.reaching(base), m.perEndpoint.reaching(k)
			m.perConnection.High = max(0, p.High)
			f.oneTerm(p, used, fitted)
		}
	}
	f.quality(used, fitted)
	f.report.Estimates = []Estimate{m.base, m.perConnection, m.perEndpoint}
	return m, true
}

// inseparable refuses what one pod or one hour alone tells.
func (f *fitter) inseparable() (law, bool) {
	f.reject("calibrate/too-few", "memoryModel", "without one of the pods or hours the coefficients cannot be told apart: all that is seen of them comes from it",
		"give a longer period, with more pods")
	return law{}, false
}

// curved finds a cost that grows faster than endpoints do, which the model is too
// low for where they are most: refused where it is so notably.
func (f *fitter) curved(p Estimate, used []sample, fitted []float64) {
	low := shortfall(used, fitted)
	message := fmt.Sprintf("a connection would cost less than nothing without endpoints (%s to %s): its cost grows faster than their number, and where they are most memory is %.1f %% above the model", bytes(p.Low), bytes(p.High), 100*low)
	if low > notable {
		f.reject("calibrate/curved", "memoryModel", message, "fit the hours with the most endpoints by --from and --to, so that the model is theirs")
	} else {
		f.warn("calibrate/curved", "memoryModel", message, "do not plan beyond the endpoints that were seen")
	}
}

// shortfall is how far memory is above the fit, as a share on average, in the tenth
// of the samples with the most endpoints.
func shortfall(used []sample, fitted []float64) float64 {
	least := percentile(slices.Sorted(slices.Values(values(used, endpoints))), 0.9)
	sum, n := 0.0, 0.0
	for i, s := range used {
		if s.endpoints >= least {
			sum += s.memory/fitted[i] - 1
			n++
		}
	}
	return sum / n
}

// oneTerm says that p is 0, and why.
func (f *fitter) oneTerm(p Estimate, used []sample, fitted []float64) {
	if p.High < 0 {
		f.curved(p, used, fitted)
		return
	}
	f.warn("calibrate/connection-cost-unclear", "memoryModel.bytesPerConnection",
		fmt.Sprintf("bytesPerConnection is 0: up to %s cannot be told from bytesPerConnectionEndpoint, which holds it among the endpoints that were seen", bytes(p.High)),
		"a period in which endpoints move more tells the two apart")
}

// A term is a sample's value of one coefficient.
func ones(sample) float64          { return 1 }
func connections(s sample) float64 { return s.connections }
func endpoints(s sample) float64   { return s.endpoints }
func product(s sample) float64     { return s.connections * s.endpoints }

// regressionOf is memory explained by terms.
func regressionOf(used []sample, terms ...func(sample) float64) regression {
	return regressionOn(used, func(s sample) float64 { return s.memory }, func(s sample) string { return s.pod }, sample.hour, terms...)
}

func estimate(name, unit string, f fit, i int) Estimate {
	half := f.critical * f.errors[i]
	return Estimate{name, unit, f.coefficients[i], f.coefficients[i] - half, f.coefficients[i] + half}
}

// reaching is the estimate with an interval that holds the other's too.
func (e Estimate) reaching(o Estimate) Estimate {
	e.Low, e.High = min(e.Low, o.Low), max(e.High, o.High)
	return e
}

// quality is how near the fit is.
func (f *fitter) quality(used []sample, fitted []float64) {
	memory := make([]float64, len(used))
	shares := make([]float64, len(used))
	squares := 0.0
	for i, s := range used {
		memory[i] = s.memory
		shares[i] = s.memory/fitted[i] - 1
		squares += shares[i] * shares[i]
		f.report.Plot = append(f.report.Plot, Dot{s.connections, s.endpoints, s.memory, fitted[i]})
	}
	f.report.Correlation = stat.Correlation(memory, fitted, nil)
	f.report.Residual = math.Sqrt(squares / float64(len(used)))
	slices.Sort(shares)
	f.report.ResidualP95 = percentile(shares, 0.95)
}

// rounded is the model as a profile takes it, never below what was estimated.
func (m law) rounded(r Report) *Model {
	model := m.common(r)
	model.BytesPerConnection = int64(math.Ceil(m.perConnection.Value))
	model.BytesPerConnectionEndpoint = math.Ceil(m.perEndpoint.Value*10) / 10
	return model
}

// common is what models of every kind say.
func (m law) common(r Report) *Model {
	model := &Model{
		Base:            int64(math.Ceil(m.base.Value/1e6) * 1e6),
		FittedEndpoints: r.Endpoints,
		IstioVersion:    r.Version,
		Residual:        math.Ceil(r.Residual*1000) / 1000,
	}
	for _, e := range r.Estimates {
		if e.Name == reconnectCost {
			model.ReconnectCost = math.Ceil(e.High*1000) / 1000
		}
	}
	return model
}
