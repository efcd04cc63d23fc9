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
	const runs, least = 1000, 930
	hits := make([]map[string]bool, runs)
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for seed := worker; seed < runs; seed += 4 {
				hits[seed] = hitsOf(t, uint64(seed))
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
	for coefficient := range sample.TypicalMeasured(0).Truth() {
		t.Logf("%s: %d of %d", coefficient, within[coefficient], runs)
		if within[coefficient] < least {
			t.Errorf("%s lies within its interval in %d of %d runs, want %d", coefficient, within[coefficient], runs, least)
		}
	}
}

// hitsOf is the coefficients whose interval holds the truth.
func hitsOf(t *testing.T, seed uint64) map[string]bool {
	m := sample.TypicalMeasured(seed)
	m.PerConnection = float64(seed%2) * 1e6
	report, found := calibrate.Fit(m.Input(), calibrate.Options{Busy: calibrate.DefaultBusy})
	hit := map[string]bool{}
	if report.Model == nil {
		t.Logf("seed %d: %v", seed, found)
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
