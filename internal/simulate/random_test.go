package simulate

import (
	"context"
	"math"
	"testing"
)

// Whatever a profile says, its day is played to the end in both worlds, and no
// number of the report is none.
func TestRandomDaysArePlayed(t *testing.T) {
	for seed, played := uint64(1000), 0; played < 6; seed++ {
		p, pl := plannedSample(t, seed)
		if pl == nil || worstLoad(pl) > 4000 {
			continue
		}
		played++
		faults := [][]string{nil, {"node"}, {"rollout"}, {"prometheus", "pods=30%"}}[played%4]
		r, err := Run(context.Background(), p, pl, Options{Faults: faults, Trials: 2, Seed: seed})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, w := range r.Worlds {
			if len(w.Series) != len(r.Worlds[0].Series) || len(w.Series) == 0 {
				t.Errorf("seed %d: %d samples of %s, %d of running", seed, len(w.Series), w.Name, len(r.Worlds[0].Series))
			}
			for _, q := range []Quantiles{w.HottestConnections, w.HottestShare, w.PodsKilled, w.MinutesToBalance, w.IdlePods, w.ReconnectsPerSec, w.PodHours} {
				if !(0 <= q.Median && q.Median <= q.P99 && q.P99 <= q.Worst && q.Worst < math.MaxInt32) {
					t.Errorf("seed %d: %s has %+v", seed, w.Name, q)
				}
			}
			last := w.Series[len(w.Series)-1]
			if most := float64(w.TrialsKilled) * w.PodsKilled.Worst; last.Killed > most {
				t.Errorf("seed %d: %s has %g killed at the end, of at most %g", seed, w.Name, last.Killed, most)
			}
		}
	}
}
