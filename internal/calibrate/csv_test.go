package calibrate_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/sample"
)

func TestReadCSV(t *testing.T) {
	text := "pod,time,memory_bytes,connections,endpoints,cpu_seconds,reconnects,istio_version,cluster\n" +
		"a,2026-11-23T00:00:00Z,1e8,50,1700,1.5,3,1.24.1,blue\n" +
		"a,1763856060,,51,,,,,blue\n"
	got, found := calibrate.ReadCSV("samples.csv", strings.NewReader(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	pod, mesh := map[string]string{"pod": "a", "cluster": "blue"}, map[string]string{"cluster": "blue"}
	at := sample.MeasuredFrom
	want := calibrate.Input{
		Memory:      []calibrate.Series{{Labels: pod, Points: []calibrate.Point{{At: at, Value: 1e8}}}},
		Connections: []calibrate.Series{{Labels: pod, Points: []calibrate.Point{{At: at, Value: 50}, {At: 1763856060, Value: 51}}}},
		Endpoints:   []calibrate.Series{{Labels: mesh, Points: []calibrate.Point{{At: at, Value: 1700}}}},
		CPU:         []calibrate.Series{{Labels: pod, Points: []calibrate.Point{{At: at, Value: 1.5}}}},
		Reconnects:  []calibrate.Series{{Labels: pod, Points: []calibrate.Point{{At: at, Value: 3}}}},
		Builds:      []calibrate.Series{{Labels: map[string]string{"pod": "a", "tag": "1.24.1"}, Points: []calibrate.Point{{At: at, Value: 1}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzReadCSV: whatever a file holds is read or refused, and what is read can be
// calibrated with.
func FuzzReadCSV(f *testing.F) {
	m := sample.TypicalMeasured(1)
	m.Pods, m.Hours, m.Version = 4, 8, "1.24.1"
	f.Add(m.CSV(), 1.0)
	f.Add([]byte("time,pod,memory_bytes,connections,endpoints,cluster\n1,a,NaN,1e300,-1,b\n9e99,,,,,\n"), 0.1)
	f.Fuzz(func(_ *testing.T, data []byte, busy float64) {
		in, found := calibrate.ReadCSV("samples.csv", bytes.NewReader(data))
		if !found.HasErrors() {
			calibrate.Fit(in, calibrate.Options{Busy: busy})
		}
	})
}
