package simulate

import (
	"math"
	"slices"
	"testing"
	"time"
)

// three istiods: one is lost after 90 s, one comes after 15 s.
func three(connections int64) Redistribution {
	return Redistribution{
		Connections: connections, Age: 20 * time.Second, Admitted: 1_000_000,
		Istiods: []Presence{{To: 90 * time.Second}, {}, {From: 15 * time.Second}},
		Every:   time.Second, End: 150 * time.Second,
	}
}

// Until the first connection can come of age twice, an istiod that comes has a
// third of those that came of age: C/3 · t · mean(1/life), lives uniform over
// 0.9·T + grace … 1.1·T + grace. It comes to C/3, and to C/2 when another is lost.
func TestAnIstiodThatComesFillsAsConnectionsComeOfAge(t *testing.T) {
	const connections, runs = 3000, 200
	played := three(connections).Play(runs, 3)
	perSecond := math.Log(32.0/28) / 4
	for name, c := range map[string]struct {
		second int
		want   float64
	}{
		"before it comes":               {14, 0},
		"ten seconds later":             {25, connections / 3.0 * 10 * perSecond},
		"before any is of age twice":    {42, connections / 3.0 * 27 * perSecond},
		"when all have been of age":     {48, connections / 3.0},
		"as long as another is there":   {89, connections / 3.0},
		"when that one has been lost":   {91, connections / 2.0},
		"as long as nothing else comes": {150, connections / 2.0},
	} {
		t.Run(name, func(t *testing.T) {
			var all []float64
			for _, run := range played {
				all = append(all, float64(run[2][c.second]))
			}
			mean, deviation := meanAndDeviation(all)
			if math.Abs(mean-c.want) > sigmas*deviation/math.Sqrt(runs)+1e-9 {
				t.Errorf("%.1f connections, want %.1f ± %.1f", mean, c.want, deviation/math.Sqrt(runs))
			}
		})
	}
}

// No connection is counted twice, and none is lost but while it waits to be
// admitted.
func TestARedistributionKeepsItsConnections(t *testing.T) {
	slow := three(600)
	slow.Admitted = 20
	fast, waits := three(600).Play(1, 1)[0], slow.Play(1, 1)[0]
	for at := range waits[0] {
		sum := waits[0][at] + waits[1][at] + waits[2][at]
		if sum > 600 || sum < 600 && (at < 90 || at > 110) {
			t.Errorf("second %d: %d of 600 connections", at, sum)
		}
	}
	if got := waits[1][91] + waits[2][91]; got >= fast[1][91]+fast[2][91] {
		t.Errorf("%d connections are back a second after the loss, which two istiods cannot admit", got)
	}
}

// Runs of one seed are the same, whatever others are played.
func TestARunDependsOnItsNumberAlone(t *testing.T) {
	few, many := three(50).Play(2, 9), three(50).Play(5, 9)
	for i := range few {
		for istiod := range few[i] {
			if !slices.Equal(few[i][istiod], many[i][istiod]) {
				t.Errorf("run %d: istiod %d differs", i, istiod)
			}
		}
	}
	if slices.Equal(few[0][0], few[1][0]) {
		t.Error("two runs are alike")
	}
}

func TestCorridor(t *testing.T) {
	var runs []Course
	for i := range int32(100) {
		runs = append(runs, Course{{i, 50}, {50, 99 - i}})
	}
	for name, c := range map[string]struct {
		share     float64
		low, high int32
	}{
		"all runs":           {1, 0, 99},
		"two runs left out":  {0.98, 1, 98},
		"none can be halved": {0.975, 1, 98},
		"ten runs left out":  {0.90, 5, 94},
	} {
		t.Run(name, func(t *testing.T) {
			low, high := Corridor(runs, c.share)
			if low[0][0] != c.low || high[0][0] != c.high || low[0][1] != 50 || high[0][1] != 50 || low[1][1] != c.low {
				t.Errorf("from %v to %v, want %d to %d", low, high, c.low, c.high)
			}
			if got := Within(Course{{c.high + 1, 50}, {50, c.high}}, low, high); got != 0.75 {
				t.Errorf("a run with one of four values above is within by %v", got)
			}
		})
	}
}

// Of one more set of runs few leave a corridor that 95 of 100 others keep:
// it is of whole runs, not of single moments.
func TestACorridorHoldsWholeRuns(t *testing.T) {
	r := three(200)
	low, high := Corridor(r.Play(4000, 1), 0.95)
	outside := 0
	for _, run := range r.Play(1000, 2) {
		if Within(run, low, high) < 1 {
			outside++
		}
	}
	if p := binomialTail(1000, 0.08, outside); p < significance {
		t.Errorf("%d of 1000 runs leave a corridor that 95 %% of others keep", outside)
	}
}
