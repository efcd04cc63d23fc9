package sizing

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

func shares(values ...string) []*big.Rat {
	var q []*big.Rat
	for _, v := range values {
		r, ok := new(big.Rat).SetString(v)
		if !ok {
			panic(v)
		}
		q = append(q, r)
	}
	return q
}

// Worked by hand: N·max(q/n) + Σ q of the zones without endpoints.
func TestLoadOfTheFullestEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		q        []*big.Rat
		n, own   []int64
		f, cross string
		stranded int64
	}{
		"evenly":                              {shares("1/2", "1/2"), []int64{4, 4}, []int64{4, 4}, "1", "0", 0},
		"a pod less in one zone":              {shares("1/2", "1/2"), []int64{3, 4}, []int64{3, 4}, "7/6", "0", 0},
		"no endpoint where the callers are":   {shares("1", "0"), []int64{0, 4}, []int64{0, 4}, "1", "1", 0},
		"the cliff: one endpoint takes all":   {shares("1", "0"), []int64{1, 3}, []int64{1, 3}, "4", "0", 3},
		"two lent to the callers' zone":       {shares("1", "0"), []int64{2, 2}, []int64{0, 2}, "2", "1", 2},
		"a third of the callers has none":     {shares("1/3", "1/3", "1/3"), []int64{2, 4, 0}, []int64{2, 4, 0}, "4/3", "1/3", 0},
		"half of what a zone has is borrowed": {shares("3/4", "1/4"), []int64{4, 4}, []int64{2, 4}, "3/2", "3/8", 0},
		"no endpoints":                        {shares("1", "0"), []int64{0, 0}, []int64{0, 0}, "1", "1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Overload(c.q, c.n).RatString(); got != c.f {
				t.Errorf("overload %s, want %s", got, c.f)
			}
			if got := Stranded(c.q, c.n); got != c.stranded {
				t.Errorf("%d stranded, want %d", got, c.stranded)
			}
			if got := CrossZone(c.q, c.n, c.own).RatString(); got != c.cross {
				t.Errorf("%s of the calls cross zones, want %s", got, c.cross)
			}
		})
	}
}

// The fewest and the most pods of a zone were counted by placing pods one by
// one, and so was the worst load with even callers.
func TestReachableCounts(t *testing.T) {
	text, err := os.ReadFile("../hints/testdata/topology_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		TSC struct {
			Reachable []struct {
				Zones  int64    `json:"zones"`
				Skew   int64    `json:"max_skew"`
				Pods   int64    `json:"pods"`
				Fewest int64    `json:"min_zone"`
				Most   int64    `json:"max_zone"`
				Worst  *float64 `json:"worst_psz_factor_even_traffic"`
			}
		}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.TSC.Reachable) != 108 {
		t.Fatalf("%d cases, want 108", len(v.TSC.Reachable))
	}
	for _, c := range v.TSC.Reachable {
		fewest, most := Reachable(c.Pods, c.Zones, c.Skew)
		if fewest != c.Fewest || most != c.Most {
			t.Errorf("%d pods, %d zones, skew %d: %d to %d in a zone, want %d to %d", c.Pods, c.Zones, c.Skew, fewest, most, c.Fewest, c.Most)
		}
		if c.Worst != nil {
			worst, _ := big.NewRat(c.Pods, c.Zones*max(1, fewest)).Float64()
			if math.Abs(worst-*c.Worst) > 5e-5 {
				t.Errorf("%d pods, %d zones, skew %d: worst load %.4f, want %.4f", c.Pods, c.Zones, c.Skew, worst, *c.Worst)
			}
		}
	}
}

func TestZoneLoss(t *testing.T) {
	for name, c := range map[string]struct {
		q        []*big.Rat
		n        []int64
		share    string
		lost, to int
	}{
		"one of two, the other has all":           {shares("1/2", "1/2"), []int64{4, 4}, "1/4", 1, 0},
		"the smaller zone is left":                {shares("1/2", "1/2"), []int64{5, 4}, "1/4", 0, 1},
		"of three, the two with most callers":     {shares("1/2", "1/3", "1/6"), []int64{4, 4, 4}, "5/24", 1, 0},
		"a zone without endpoints falls on all":   {shares("1/2", "1/4", "1/4"), []int64{4, 4, 0}, "1/4", 1, 0},
		"all endpoints in one zone":               {shares("1/2", "1/2"), []int64{0, 4}, "0", -1, -1},
		"one zone alone":                          {shares("1"), []int64{4}, "0", -1, -1},
		"the callers go where one endpoint is":    {shares("1/3", "1/3", "1/3"), []int64{1, 5, 5}, "2/3", 1, 0},
		"callers may go where nobody called from": {shares("1", "0", "0"), []int64{4, 4, 2}, "1/2", 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			share, lost, to := ZoneLoss(c.q, c.n)
			if share.RatString() != c.share || lost != c.lost || to != c.to {
				t.Errorf("%s with zone %d lost to %d, want %s, %d, %d", share.RatString(), lost, to, c.share, c.lost, c.to)
			}
		})
	}
}

// The loss of each zone, its callers in each other, as a zone without endpoints
// and callers would have it.
func TestZoneLossIsTheWorstOfAllPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 3))
	for range 3000 {
		zones := 2 + random.IntN(4)
		q, n := make([]*big.Rat, zones), make([]int64, zones)
		for z := range q {
			q[z], n[z] = big.NewRat(random.Int64N(5), 20), random.Int64N(4)
		}
		if slices.Contains(n, sum(n)) {
			continue
		}
		want := new(big.Rat)
		for x := range n {
			for z := range n {
				if x == z {
					continue
				}
				left, counts := append([]*big.Rat{}, q...), append([]int64{}, n...)
				left[z], left[x], counts[x] = new(big.Rat).Add(q[z], q[x]), new(big.Rat), 0
				if u := fullest(left, counts); u.Cmp(want) > 0 {
					want = u
				}
			}
		}
		if got, _, _ := ZoneLoss(q, n); got.Cmp(want) != 0 {
			t.Fatalf("callers %v, endpoints %v: %s, want %s", q, n, got.RatString(), want.RatString())
		}
	}
}

// However the callers of a lost zone divide over the others, no endpoint has
// more than where all of them go to the worst one.
func TestNoDivisionOfTheCallersIsWorse(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	for range 2000 {
		q, n := make([]*big.Rat, 3), make([]int64, 3)
		whole := int64(1)
		for z := range q {
			n[z] = random.Int64N(6)
		}
		parts := []int64{random.Int64N(9), random.Int64N(9), 1 + random.Int64N(9)}
		whole = sum(parts)
		for z := range q {
			q[z] = big.NewRat(parts[z], whole)
		}
		worst, lost, _ := ZoneLoss(q, n)
		if lost < 0 {
			continue
		}
		for x := range n {
			w := big.NewRat(random.Int64N(11), 10)
			y, z := (x+1)%3, (x+2)%3
			left, counts := append([]*big.Rat{}, q...), append([]int64{}, n...)
			left[y] = new(big.Rat).Add(q[y], new(big.Rat).Mul(q[x], w))
			left[z] = new(big.Rat).Add(q[z], new(big.Rat).Mul(q[x], new(big.Rat).Sub(big.NewRat(1, 1), w)))
			left[x], counts[x] = new(big.Rat), 0
			if fullest(left, counts).Cmp(worst) > 0 {
				t.Fatalf("callers %v, endpoints %v, zone %d lost, divided %s: more than %s", q, n, x, w.RatString(), worst.RatString())
			}
		}
	}
}
