package calibrate_test

import (
	"sync"
	"testing"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/sample"
)

// Of 1,000 made-up meshes each coefficient lies within its 95 % interval in at
// least 930, though residuals are correlated in a pod, among pods in an hour, and
// grow with memory; a refusal counts as a miss. In every other mesh a connection
// costs a megabyte by itself, in the others nothing.
func TestEachCoefficientLiesWithinItsInterval(t *testing.T) {
	covers(t, func(seed uint64) sample.Measured {
		m := sample.TypicalMeasured(seed)
		m.PerConnection = float64(seed%2) * 1e6
		return m
	})
}

// The same of meshes whose memory is what a push takes. In every other one proxies
// see a part of the endpoints, whose message outgrows a buffer of 32 KiB on the way
// up, and of 100 bytes of it one waits.
func TestEachCoefficientOfAPushLiesWithinItsInterval(t *testing.T) {
	covers(t, func(seed uint64) sample.Measured {
		m := sample.TypicalPush(seed)
		if seed%2 == 1 {
			m.Push.VisibleShare, m.Push.WaitingBytes = 0.15, 100
		}
		return m
	})
}

func covers(t *testing.T, mesh func(seed uint64) sample.Measured) {
	t.Helper()
	const runs, least = 1000, 930
	hits := make([]map[string]bool, runs)
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for seed := worker; seed < runs; seed += 4 {
				hits[seed] = hitsOf(t, mesh(uint64(seed)))
			}
		})
	}
	wait.Wait()
	within := map[string]int{}
	for _, hit := range hits {
		for coefficient := range hit {
			within[coefficient]++
		}
	}
	for coefficient := range mesh(0).Truth() {
		t.Logf("%s: %d of %d", coefficient, within[coefficient], runs)
		if within[coefficient] < least {
			t.Errorf("%s lies within its interval in %d of %d runs, want %d", coefficient, within[coefficient], runs, least)
		}
	}
}

// hitsOf is the coefficients whose interval holds the truth.
func hitsOf(t *testing.T, m sample.Measured) map[string]bool {
	report, found := calibrate.Fit(m.Input(), calibrate.Options{Busy: calibrate.DefaultBusy, Push: m.Push})
	hit := map[string]bool{}
	if report.Model == nil {
		t.Logf("seed %d: %v", m.Seed, found)
		return hit
	}
	truth := m.Truth()
	for _, e := range report.Estimates {
		if e.Low <= truth[e.Name] && truth[e.Name] <= e.High {
			hit[e.Name] = true
		}
	}
	return hit
}
