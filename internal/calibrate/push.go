package calibrate

import (
	"fmt"
	"math"
	"math/big"

	"github.com/meshgen/meshgen/internal/sizing"
)

// Push is what the law of the push (docs/law.md) takes as given: in a pod's memory
// these cannot be told from the coefficients that are fitted.
type Push struct {
	MessageBytes float64 // of one endpoint in a message
	VisibleShare float64 // of the endpoints, that a proxy sees
	WaitingBytes float64 // of a message for each that waits; 0: one waits for every connection
	HeapGrowth   float64 // of heap at rest, until a collection ends
}

// The law's own numbers, of docs/law.md, and Go's bound at its GOGC of 100.
const (
	DefaultMessageBytes = 73
	DefaultHeapGrowth   = 2
)

// Buffers is the bytes that messages take while they are sent.
func (p Push) Buffers(connections, endpoints float64) float64 {
	law := sizing.PushLaw{
		Base: new(big.Rat), Heap: new(big.Rat), PerConnection: new(big.Rat), PerEndpoint: new(big.Rat), Growth: new(big.Rat),
		Message: exactly(p.MessageBytes), Visible: exactly(p.VisibleShare),
	}
	if p.WaitingBytes > 0 {
		law.Waiting = exactly(p.WaitingBytes)
	}
	bytes, _ := law.Peak(exactly(connections), exactly(endpoints)).Float64()
	return bytes
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// regression is memory explained by the terms of the law. Under that of the push it
// is without the buffers of messages, which are given and not fitted.
func (f *fitter) regression(used []sample) regression {
	if f.options.Push == nil {
		return regressionOf(used, ones, connections, product)
	}
	r := regressionOf(used, ones, connections, endpoints)
	for i, b := range f.buffers(used) {
		r.response[i] -= b
	}
	return r
}

// buffers are what messages take at each sample; none under the field's law.
func (f *fitter) buffers(used []sample) []float64 {
	all := make([]float64, len(used))
	if p := f.options.Push; p != nil {
		for i, s := range used {
			all[i] = p.Buffers(s.connections, s.endpoints)
		}
	}
	return all
}

// pushModel fits base, and what a connection and an endpoint cost at rest. Heap
// growth multiplies both, and is given.
func (f *fitter) pushModel(used []sample) (law, bool) {
	full, ok := f.regression(used).solve()
	if !ok {
		return f.inseparable()
	}
	growth := f.options.Push.HeapGrowth
	m := law{
		base:          estimate("base", "bytes", full, 0),
		perConnection: estimate("bytesPerConnection", "bytes/connection", full, 1).over(growth),
		perEndpoint:   estimate("bytesPerEndpoint", "bytes/endpoint", full, 2).over(growth),
	}
	fitted := f.buffers(used)
	for i := range fitted {
		fitted[i] += full.fitted[i]
	}
	f.quality(used, fitted)
	f.report.Estimates = []Estimate{m.base, m.perConnection, m.perEndpoint}
	if low := shortfall(used, fitted); low > notable {
		f.reject("calibrate/curved", "memoryModel",
			fmt.Sprintf("where endpoints are most memory is %.1f %% above the model: messages take more than is given", 100*low),
			"measure --message-bytes and --visible-share, or leave --waiting-bytes out, or fit the hours with the most endpoints by --from and --to")
	}
	for _, c := range []struct {
		id, what string
		Estimate
	}{
		{"calibrate/connection-cost-unclear", "a connection costs", m.perConnection},
		{"calibrate/endpoint-cost-unclear", "an endpoint costs", m.perEndpoint},
	} {
		if c.Low <= 0 && c.High > 0 {
			f.warn(c.id, "memoryModel."+c.Name,
				fmt.Sprintf("what %s at rest cannot be told from nothing: %s is written as the upper end of its interval, %s", c.what, c.Name, bytes(c.High)),
				"a period in which connections and endpoints move more tells more")
		}
	}
	return m, true
}

// over is the estimate divided by what is given.
func (e Estimate) over(x float64) Estimate {
	e.Value, e.Low, e.High = e.Value/x, e.Low/x, e.High/x
	return e
}

// written is the value, or where that may be 0 or less the upper end.
func (e Estimate) written() float64 {
	if e.Low <= 0 {
		return max(0, e.High)
	}
	return e.Value
}

// roundedPush is the model as a profile takes it, never below what was estimated.
func (m law) roundedPush(r Report, p Push) *Model {
	model := m.common(r)
	model.Kind = "push"
	model.BytesPerConnection = int64(math.Ceil(m.perConnection.written()))
	model.BytesPerEndpoint = int64(math.Ceil(m.perEndpoint.written()))
	model.HeapGrowth, model.MessageBytesPerEndpoint = p.HeapGrowth, p.MessageBytes
	model.VisibleShare, model.BytesPerWaitingMessage = p.VisibleShare, p.WaitingBytes
	return model
}
