package hints_test

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/meshgen/meshgen/internal/hints"
	"github.com/meshgen/meshgen/internal/sizing"
)

type load struct {
	Factor    float64 `json:"overload_factor"`
	Stranded  int64   `json:"stranded_endpoints"`
	CrossZone float64 `json:"cross_zone_pct"`
	Hints     []int64 `json:"hints"`
	Disabled  string  `json:"disabled"`
}

// Fifteen Services of public reports, without zone routing, with the hints of
// the real code, and with every call in its zone.
func TestLoadsOfReportedServices(t *testing.T) {
	text, err := os.ReadFile("testdata/topology_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Cases []struct {
			ID    string    `json:"id"`
			Milli []int64   `json:"cpu_milli"`
			Ready []int64   `json:"endpoints"`
			Share []float64 `json:"traffic_share"`
			None  load      `json:"none"`
			TAR   load      `json:"tar"`
			Same  load      `json:"prefer_same_zone"`
		} `json:"model_cases"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) != 15 {
		t.Fatalf("%d cases, want 15", len(v.Cases))
	}
	for _, c := range v.Cases {
		q := exactly(c.Share)
		everywhere := load{Factor: 1, CrossZone: 100 * percentAway(q, c.Ready)}
		judge(t, c.ID+", none", c.None, everywhere)
		judge(t, c.ID+", same zone", c.Same, loadOf(q, c.Ready, c.Ready))
		r, err := hints.ByCPU(c.Milli).Evaluate(c.Ready)
		if err != nil {
			t.Fatal(err)
		}
		if r.Reason != c.TAR.Disabled || (r.Reason == "") != (len(r.Outcomes) == 1) {
			t.Errorf("%s: reason %q with %d outcomes, want %q", c.ID, r.Reason, len(r.Outcomes), c.TAR.Disabled)
			continue
		}
		if r.Reason != "" {
			judge(t, c.ID+", hints off", c.TAR, everywhere)
			continue
		}
		o := r.Outcomes[0]
		own := make([]int64, len(o.Hints))
		for i := range own {
			own[i] = o.Own(i)
		}
		judge(t, c.ID+", hints", c.TAR, loadOf(q, o.Hints, own))
	}
}

// exactly reads shares that were written in binary; 1/3 is the only one that is
// not meant as it stands.
func exactly(share []float64) []*big.Rat {
	var q []*big.Rat
	for _, x := range share {
		r := big.NewRat(int64(math.Round(x*30)), 30)
		q = append(q, r)
	}
	return q
}

func percentAway(q []*big.Rat, n []int64) float64 {
	total, stay := int64(0), new(big.Rat)
	for _, x := range n {
		total += x
	}
	for z := range n {
		stay.Add(stay, new(big.Rat).Mul(q[z], big.NewRat(n[z], total)))
	}
	f, _ := stay.Float64()
	return 1 - f
}

func loadOf(q []*big.Rat, n, own []int64) load {
	factor, _ := sizing.Overload(q, n).Float64()
	away, _ := sizing.CrossZone(q, n, own).Float64()
	return load{Factor: factor, Stranded: sizing.Stranded(q, n), CrossZone: 100 * away}
}

func judge(t *testing.T, name string, want, got load) {
	t.Helper()
	if math.Abs(want.Factor-got.Factor) > 5e-5 || want.Stranded != got.Stranded || math.Abs(want.CrossZone-got.CrossZone) > 5e-3 {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
}
