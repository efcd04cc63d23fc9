package calibrate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sample"
)

// What messages take while they are sent, by the buffers of gRPC.
func TestBuffersOfMessages(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	for name, c := range map[string]struct {
		push                   calibrate.Push
		connections, endpoints float64
		want                   float64
	}{
		"a message of 73 kB, for every connection": {calibrate.Push{MessageBytes: 73, VisibleShare: 1}, 100, 1000, 100 * mib},
		"one of 29.2 kB":                                {calibrate.Push{MessageBytes: 73, VisibleShare: 1}, 100, 400, 100 * 32 * kib},
		"of a tenth of the endpoints":                   {calibrate.Push{MessageBytes: 73, VisibleShare: 0.1}, 100, 4000, 100 * 32 * kib},
		"one above a mebibyte has its own size":         {calibrate.Push{MessageBytes: 100, VisibleShare: 1}, 10, 20000, 10 * 2e6},
		"one waits for each 500 bytes":                  {calibrate.Push{MessageBytes: 100, VisibleShare: 1, WaitingBytes: 500}, 300, 1000, 200 * mib},
		"never more wait than there are connections":    {calibrate.Push{MessageBytes: 100, VisibleShare: 1, WaitingBytes: 500}, 30, 1000, 30 * mib},
		"without connections nothing":                   {calibrate.Push{MessageBytes: 100, VisibleShare: 1, WaitingBytes: 500}, 0, 1000, 0},
		"what the heap grows by does not multiply them": {calibrate.Push{MessageBytes: 73, VisibleShare: 1, HeapGrowth: 2}, 100, 1000, 100 * mib},
	} {
		if got := c.push.Buffers(c.connections, c.endpoints); got != c.want {
			t.Errorf("%s: %v bytes, want %v", name, got, c.want)
		}
	}
}

// A mesh without noise gives its coefficients back, as a profile takes them.
func TestThePushIsFitted(t *testing.T) {
	m := sample.TypicalPush(3)
	m.OfPod, m.Drift, m.Shared, m.Own, m.Version = 0, 0, 0, 1e5, "1.31.2"
	m.Push.HeapGrowth = 1.5
	report, found := calibrate.Fit(m.Input(), calibrate.Options{Busy: 1, Push: m.Push})
	if report.Model == nil || len(found) > 0 {
		t.Fatal(found)
	}
	got := report.Model
	if got.Base < 239e6 || got.Base > 241e6 || got.BytesPerConnection < 149_000 || got.BytesPerConnection > 151_000 || got.BytesPerEndpoint < 7_900 || got.BytesPerEndpoint > 8_100 {
		t.Errorf("%+v, want 240 MB, 150 kB and 8 kB", got)
	}
	given := *got
	given.Base, given.BytesPerConnection, given.BytesPerEndpoint, given.ReconnectCost, given.Residual = 240e6, 150e3, 8e3, 0, 0
	want := `spec:
  istiod:
    memoryModel:
      kind: push
      base: 240M
      bytesPerConnection: 150000
      bytesPerEndpoint: 8000
      heapGrowth: 1.5
      messageBytesPerEndpoint: 73
      fittedEndpoints: {min: 1700, max: 4294}
      istioVersion: "1.31"
      residual: 0
`
	if diff := cmp.Diff(want, given.Fragment()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	given.VisibleShare, given.BytesPerWaitingMessage = 0.1, 500
	for _, line := range []string{"      visibleShare: 0.1\n      scoped: true\n      bytesPerWaitingMessage: 500\n"} {
		if !strings.Contains(given.Fragment(), line) {
			t.Errorf("no %q in\n%s", line, given.Fragment())
		}
	}
}

// The guards are those of the field's law.
func TestThePushIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sample.Measured)
		push   func(*calibrate.Push) // what is given of it to the fit
		id     string
		says   string
	}{
		"endpoints that hardly move":   {func(m *sample.Measured) { m.Quiet, m.Peak = 5000, 6000 }, nil, "calibrate/narrow-range", "where 1.5 times are needed"},
		"too few pods":                 {func(m *sample.Measured) { m.Pods = 3 }, nil, "calibrate/too-few", "3 pods"},
		"a leak":                       {func(m *sample.Measured) { m.Hours, m.Step, m.Leak = 96, 1200, 3e6 }, nil, "calibrate/leak", "MB an hour"},
		"a step":                       {func(m *sample.Measured) { m.Hours, m.Step, m.Jump = 96, 1200, 120e6 }, nil, "calibrate/step", "higher by "},
		"a daily wave":                 {func(m *sample.Measured) { m.Hours, m.Step, m.Base, m.Wave = 96, 1200, 300e6, 80e6 }, nil, "calibrate/daily-wave", "with the day by "},
		"memory that nothing explains": {func(m *sample.Measured) { m.OfPod = 0.5 }, nil, "calibrate/weak-fit", "below 0.9"},
		"buffers that memory does not have": {
			func(m *sample.Measured) {
				m.Push.VisibleShare = 0.05
				m.OfPod, m.Drift, m.Shared, m.Own = 0.003, 0.003, 0, 1e6
			}, func(p *calibrate.Push) { p.VisibleShare = 1 },
			"calibrate/implausible", "the messages that are given take more than memory has",
		},
		"messages that take more than is given": {
			func(m *sample.Measured) {
				m.Push.VisibleShare = 0.11
				m.OfPod, m.Drift, m.Shared, m.Own = 0.003, 0.003, 0, 1e6
			}, func(p *calibrate.Push) { p.VisibleShare = 0.05 },
			"calibrate/curved", "above the model: messages take more than is given",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := sample.TypicalPush(1)
			c.change(&m)
			in, given := m.Input(), *m.Push
			if c.push != nil {
				c.push(&given)
			}
			report, found := calibrate.Fit(in, calibrate.Options{Busy: 1, Push: &given})
			var errors diag.List
			for _, f := range found {
				if f.Severity == diag.Error {
					errors = append(errors, f)
				}
			}
			if len(errors) != 1 || errors[0].ID != c.id || !strings.Contains(errors[0].Message, c.says) || errors[0].Hint == "" || report.Model != nil {
				t.Errorf("want %s alone, of %s; got %v, model %v", c.id, c.says, errors, report.Model)
			}
		})
	}
}
