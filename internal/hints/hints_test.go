package hints

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectors are answers of k8s.io/endpointslice v0.37.2 that were drawn hundreds
// of times each, so that ties show.
type vectors struct {
	TAR []struct {
		ID        string   `json:"id"`
		Zones     []string `json:"zones"`
		Milli     []int64  `json:"cpu_milli"`
		Endpoints []int64  `json:"endpoints"`
		Enabled   bool     `json:"enabled"`
		Reason    string   `json:"reason"`
		Outcomes  []struct {
			Hints    []int64          `json:"hints"`
			Borrowed map[string]int64 `json:"borrowed"`
		} `json:"outcomes"`
	} `json:"tar_vectors"`
	Boundaries map[string][]struct {
		Low     string `json:"lo"`
		High    string `json:"hi"`
		LowIn   bool   `json:"lo_incl"`
		HighIn  bool   `json:"hi_incl"`
		Enabled bool   `json:"enabled"`
	} `json:"tar_boundaries_two_zones"`
	EqualCPU map[string]struct {
		Disabled []int64 `json:"disabled_n"`
	} `json:"tar_equal_cpu"`
	Edges []struct {
		Milli     []int64 `json:"cpu_milli"`
		Endpoints int64   `json:"endpoints_total"`
		Enabled   bool    `json:"real_enabled"`
	} `json:"tar_float_edges"`
	Reconciler []struct {
		ID         string            `json:"id"`
		Annotation map[string]string `json:"annotation"`
		Field      string            `json:"field"`
		Hints      string            `json:"hints"`
	} `json:"reconciler_cases"`
}

func load(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/topology_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func evaluate(t *testing.T, milli, ready []int64) Result {
	t.Helper()
	r, err := ByCPU(milli).Evaluate(ready)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// enabled reports whether n endpoints get hints; that never depends on where
// they stand.
func enabled(t *testing.T, milli []int64, n int64) bool {
	t.Helper()
	ready := make([]int64, len(milli))
	ready[0] = n
	return evaluate(t, milli, ready).Reason == ""
}

func TestEveryOutcomeThatWasDrawnIsListed(t *testing.T) {
	v := load(t)
	if len(v.TAR) != 1500 {
		t.Fatalf("%d vectors, want 1,500", len(v.TAR))
	}
	for _, c := range v.TAR {
		r := evaluate(t, c.Milli, c.Endpoints)
		if (r.Reason == "") != c.Enabled || r.Reason != c.Reason {
			t.Errorf("%s: reason %q, want %q", c.ID, r.Reason, c.Reason)
			continue
		}
		for _, drawn := range c.Outcomes {
			lent, borrowed := margins(t, c.Zones, drawn.Borrowed)
			want := Outcome{Hints: drawn.Hints, Lent: lent, Borrowed: borrowed}
			if !slices.ContainsFunc(r.Outcomes, want.equal) {
				t.Errorf("%s: %+v was drawn and is not among %+v", c.ID, want, r.Outcomes)
			}
		}
	}
}

// margins are how many endpoints each zone lends and borrows where "a>b" says
// how many of a are hinted for b.
func margins(t *testing.T, zones []string, pairs map[string]int64) (lent, borrowed []int64) {
	t.Helper()
	lent, borrowed = make([]int64, len(zones)), make([]int64, len(zones))
	for pair, n := range pairs {
		from, to, ok := strings.Cut(pair, ">")
		if !ok {
			t.Fatalf("pair %q", pair)
		}
		lent[slices.Index(zones, from)] += n
		borrowed[slices.Index(zones, to)] += n
	}
	return lent, borrowed
}

// Whatever the real code draws is listed, and each listed allocation is drawn
// sooner or later.
func TestTheListIsWhatTheRealCodeDraws(t *testing.T) {
	for name, c := range map[string]struct {
		milli, ready []int64
		outcomes     int
	}{
		"no tie":                     {[]int64{8000, 8000}, []int64{0, 4}, 1},
		"two givers tie":             {[]int64{4000, 4000, 4000, 4000}, []int64{5, 4, 0, 0}, 2},
		"three givers tie for two":   {[]int64{4000, 4000, 4000, 4000}, []int64{3, 3, 3, 0}, 3},
		"two receivers tie for one":  {[]int64{1000, 1000, 3000}, []int64{0, 0, 8}, 2},
		"four receivers tie for two": {[]int64{3000, 3000, 3000, 1000, 3000, 2000}, []int64{5, 4, 5, 7, 0, 7}, 6},
		"endpoints where no CPU is":  {[]int64{8000, 8000, 0}, []int64{1, 1, 4}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := evaluate(t, c.milli, c.ready)
			if len(r.Outcomes) != c.outcomes {
				t.Errorf("%d allocations, want %d: %+v", len(r.Outcomes), c.outcomes, r.Outcomes)
			}
			seen := map[int]bool{}
			for range 300 {
				_, drawn := ByCPU(c.milli).draw(c.ready)
				at := slices.IndexFunc(r.Outcomes, drawn.equal)
				if at < 0 {
					t.Fatalf("%+v was drawn and is not listed", drawn)
				}
				seen[at] = true
			}
			if len(seen) != len(r.Outcomes) {
				t.Errorf("of %+v only %v were drawn", r.Outcomes, slices.Sorted(maps.Keys(seen)))
			}
		})
	}
}

// Both ends and the middle of each interval of the larger zone's share, off the
// shares at which float64 rounds the other way.
func TestBoundariesOfTwoZones(t *testing.T) {
	v := load(t)
	if len(v.Boundaries) != 11 {
		t.Fatalf("boundaries of %d sizes, want 11", len(v.Boundaries))
	}
	for size, intervals := range v.Boundaries {
		n := big.NewRat(0, 1)
		n.SetString(size)
		for _, i := range intervals {
			low, high := rational(i.Low), rational(i.High)
			step := big.NewRat(1, 100_000)
			shares := []*big.Rat{new(big.Rat).Add(low, step), middle(low, high), new(big.Rat).Sub(high, step)}
			if i.LowIn {
				shares = append(shares, low)
			}
			if i.HighIn {
				shares = append(shares, high)
			}
			for _, p := range shares {
				milli := split(p)
				if onEdge(v, milli, n.Num().Int64()) {
					continue
				}
				if got := enabled(t, milli, n.Num().Int64()); got != i.Enabled {
					t.Errorf("%s endpoints, %s of the CPU in one zone: enabled %v, want %v", size, p.RatString(), got, i.Enabled)
				}
			}
		}
	}
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func middle(low, high *big.Rat) *big.Rat {
	sum := new(big.Rat).Add(low, high)
	return sum.Mul(sum, big.NewRat(1, 2))
}

// split is 10^9 millicores over two zones, of which the first has that share.
func split(share *big.Rat) []int64 {
	const total = 1_000_000_000
	of := new(big.Rat).Mul(share, big.NewRat(total, 1)).Num().Int64()
	return []int64{of, total - of}
}

// onEdge reports whether the vectors list the share among those that rounding decides.
func onEdge(v vectors, milli []int64, n int64) bool {
	for _, e := range v.Edges {
		if e.Endpoints != n || len(e.Milli) != 2 {
			continue
		}
		large, small := slices.Max(e.Milli), slices.Min(e.Milli)
		if big.NewRat(large, small).Cmp(big.NewRat(max(milli[0], milli[1]), max(1, min(milli[0], milli[1])))) == 0 {
			return true
		}
	}
	return false
}

func TestFloatEdges(t *testing.T) {
	for _, c := range load(t).Edges {
		if got := enabled(t, c.Milli, c.Endpoints); got != c.Enabled {
			t.Errorf("%d endpoints at CPU %v: enabled %v, Kubernetes has %v", c.Endpoints, c.Milli, got, c.Enabled)
		}
	}
}

func TestEqualCPU(t *testing.T) {
	v := load(t)
	for zones := 2; zones <= 4; zones++ {
		milli := slices.Repeat([]int64{4000}, zones)
		var disabled []int64
		for n := int64(1); n <= 30; n++ {
			if !enabled(t, milli, n) {
				disabled = append(disabled, n)
			}
		}
		if diff := cmp.Diff(v.EqualCPU[fmt.Sprint(zones)].Disabled, disabled); diff != "" {
			t.Errorf("%d zones, sizes without hints (-want +got):\n%s", zones, diff)
		}
	}
}

// From 6(Z − 1) + 1 endpoints on no split of the CPU takes the hints away.
func TestEnoughEndpointsAlwaysHaveHints(t *testing.T) {
	for a := int64(1); a < 60; a++ {
		if !enabled(t, []int64{a * 100, (60 - a) * 100}, 7) {
			t.Errorf("7 endpoints, CPU %d to %d: no hints", a, 60-a)
		}
		for b := int64(1); a+b < 60; b += 3 {
			if !enabled(t, []int64{a * 100, b * 100, (60 - a - b) * 100}, 13) {
				t.Errorf("13 endpoints, CPU %d, %d and %d: no hints", a, b, 60-a-b)
			}
		}
	}
}

const (
	noNodes = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
	tooFew  = "Insufficient number of endpoints"
)

// What happens in states that the vectors describe in words.
func TestStates(t *testing.T) {
	for name, c := range map[string]struct {
		milli, ready []int64
		want         Result
	}{
		"one zone has nodes": {[]int64{8000, 0}, []int64{2, 2}, Result{Reason: noNodes}},
		"no zone has nodes":  {[]int64{0, 0}, []int64{2, 2}, Result{Reason: noNodes}},
		"a single zone":      {[]int64{8000}, []int64{4}, Result{Reason: noNodes}},
		"no endpoints":       {[]int64{8000, 8000}, []int64{0, 0}, Result{Reason: tooFew + " (0 endpoints, 2 zones)"}},
		"endpoints in a zone without nodes keep its hint": {
			[]int64{8000, 8000, 0},
			[]int64{1, 1, 4},
			Result{Outcomes: []Outcome{{Hints: []int64{1, 1, 4}, Lent: []int64{0, 0, 0}, Borrowed: []int64{0, 0, 0}}}},
		},
		"a tainted pool counts: 8 and 40 cores": {
			[]int64{8000, 40000},
			[]int64{2, 2},
			Result{Outcomes: []Outcome{{Hints: []int64{1, 3}, Lent: []int64{1, 0}, Borrowed: []int64{0, 1}}}},
		},
		"hints are on and one zone has none": {
			[]int64{8800, 1200},
			[]int64{4, 0},
			Result{Outcomes: []Outcome{{Hints: []int64{4, 0}, Lent: []int64{0, 0}, Borrowed: []int64{0, 0}}}},
		},
		"the incident: all pods in the zone without callers": {
			[]int64{94920, 94920},
			[]int64{0, 4},
			Result{Outcomes: []Outcome{{Hints: []int64{2, 2}, Lent: []int64{0, 2}, Borrowed: []int64{2, 0}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, evaluate(t, c.milli, c.ready)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFlapOfTheIncident(t *testing.T) {
	want := map[int64]bool{50: true, 60: true, 61: false, 70: true, 75: true, 90: true, 91: false}
	got := map[int64]bool{}
	for share := range want {
		got[share] = enabled(t, []int64{share * 100, (100 - share) * 100}, 4)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hints by the percentage of the CPU in one zone (-want +got):\n%s", diff)
	}
}

func TestWhatFits(t *testing.T) {
	for name, c := range map[string]struct {
		milli, ready []int64
		want         bool
	}{
		"no zones":             {nil, nil, true},
		"as many as fit":       {make([]int64, MaxZones), []int64{MaxEndpoints / 2, MaxEndpoints / 2}, true},
		"a zone too many":      {make([]int64, MaxZones+1), []int64{1}, false},
		"an endpoint too many": {[]int64{1, 1}, []int64{MaxEndpoints, 1}, false},
		"more CPU than exists": {[]int64{1, 1 << 41}, []int64{1, 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fits(c.milli, c.ready); got != c.want {
				t.Errorf("fits %v, want %v", got, c.want)
			}
		})
	}
}

// Where all zones tie, the most zones that fit still have few allocations.
func TestTheLargestTieIsListed(t *testing.T) {
	milli, ready := slices.Repeat([]int64{4000}, MaxZones), make([]int64, MaxZones)
	for i := range MaxZones - 1 {
		ready[i] = 8 // of 88, each zone should have 7.33
	}
	// Each of eleven lends 0.67 until the last zone lacks less than a half: 7 of 11.
	if r := evaluate(t, milli, ready); len(r.Outcomes) != 330 {
		t.Errorf("%d allocations, want 330", len(r.Outcomes))
	}
}

func FuzzEvaluate(f *testing.F) {
	f.Add(int64(8000), int64(8000), int64(4000), int64(5), int64(4), int64(0))
	f.Add(int64(0), int64(1), int64(1<<40), int64(0), int64(0), int64(1))
	f.Fuzz(func(t *testing.T, a, b, c, x, y, z int64) {
		milli, ready := []int64{bound(a, 1<<40), bound(b, 1<<40), bound(c, 1<<40)}, []int64{bound(x, 40), bound(y, 40), bound(z, 40)}
		r := evaluate(t, milli, ready)
		for _, o := range r.Outcomes {
			if o.Hints[0]+o.Hints[1]+o.Hints[2] != ready[0]+ready[1]+ready[2] || slices.Min(o.Hints) < 0 || slices.Min(o.Lent) < 0 {
				t.Errorf("CPU %v, endpoints %v: %+v", milli, ready, o)
			}
		}
	})
}

func bound(n, most int64) int64 {
	if n < 0 {
		n = -(n + 1)
	}
	return n % (most + 1)
}
