package simulate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every quantile is the value of a trial.
func TestQuantiles(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   Quantiles
	}{
		"one":          {[]float64{7}, Quantiles{7, 7, 7}},
		"an even many": {[]float64{4, 1, 3, 2}, Quantiles{2, 4, 4}},
		"two hundred":  {upwards(200), Quantiles{100, 198, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			got := quantiles(c.values, func(x float64) float64 { return x })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func upwards(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(i + 1)
	}
	return all
}

func TestAWorldIsSafeUpToWhatIsTolerated(t *testing.T) {
	records := make([]record, 200)
	for i := range records {
		records[i].minutes = []tally{{desired: 1, ready: 1}}
	}
	records[3].killed, records[9].killed = 1, 4
	w := flat(10, 1, minute, minute)
	w.needs = &w.scaling
	pods := spread{width: 1, bins: [][]uint32{{0, 1}}}
	for tolerate, want := range map[float64]bool{0.01: true, 0.0099: false, 0: false, 1: true} {
		if got := w.summary(values{}, records, pods, tolerate).Safe; got != want {
			t.Errorf("2 of 200 trials with %g tolerated: safe is %v", tolerate, got)
		}
	}
}

// A pod's limits are its memory's: as many connections as fit are kept, one more is
// not, and with a deviation the base weighs more too.
func TestMemory(t *testing.T) {
	w := &world{limit: 800 << 20, headroom: 0.85}
	const each = 400 * 5400
	m := linear(240e6, each)
	for name, c := range map[string]struct {
		bytes, factor float64
		want          int64
	}{
		"within the headroom":        {0.85 * (800 << 20), 1, 218},
		"within the limit":           {800 << 20, 1, 277},
		"a pod two deviations above": {800 << 20, 1.1, 241},
		"one that is over without":   {800 << 20, 4, -1},
	} {
		t.Run(name, func(t *testing.T) {
			got := m.most(c.bytes, c.factor)
			if got != c.want {
				t.Errorf("%d connections, want %d", got, c.want)
			}
			share := float64(w.used(m, int32(max(got, 0)), c.factor)) / 10_000
			if want := c.factor * (240e6 + float64(max(got, 0))*each) / (800 << 20); math.Abs(share-want) > 0.0001 {
				t.Errorf("share %g, want %g", share, want)
			}
		})
	}
}
