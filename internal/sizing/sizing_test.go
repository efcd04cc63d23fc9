package sizing

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func bigsale() Threshold {
	return Threshold{
		Loss: Loss{Mode: "zone", Zones: 2}, Connections: 3600, Endpoints: 5400,
		Memory: FieldLaw{Base: big.NewRat(240e6, 1), PerConnection: new(big.Rat), PerConnectionEndpoint: big.NewRat(400, 1)},
		Limit:  big.NewRat(800<<20, 1), Headroom: big.NewRat(85, 100), Residual: big.NewRat(5, 100),
		Cores: big.NewRat(2, 1), Cost: big.NewRat(1, 5), Admission: big.NewRat(25, 1), Age: big.NewRat(900, 1),
	}
}

func TestIncidentBHasTheBoundsThatWereWorkedByHand(t *testing.T) {
	b := bigsale()
	for name, c := range map[string]struct{ got, want int64 }{
		"memory":    {Largest(b.MemoryHolds()), 84},
		"reconnect": {Largest(b.ReconnectHolds()), 272},
		"age":       {Largest(b.AgeHolds()), 818},
	} {
		if c.got != c.want {
			t.Errorf("%s: largest threshold %d, want %d", name, c.got, c.want)
		}
	}
	nSafe, _ := b.NSafe().Float64()
	if nSafe < 218.95 || nSafe > 219.05 {
		t.Errorf("NSafe %v, want 219.0", nSafe)
	}
	if got := Fewest(3600, b.NSafe()); got != 20 {
		t.Errorf("the event unscaled needs %d pods, want 20", got)
	}
}

// The searches that double their steps find what a search by ones finds.
func TestTheFewestAreTheFewest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for range 3000 {
		connections, nSafe := 1+random.Int64N(20000), big.NewRat(1+random.Int64N(30000), 1+random.Int64N(100))
		limit, _ := nSafe.Float64()
		want := int64(1)
		for Hot(float64(connections)/float64(want), want) > limit {
			want++
		}
		if got := Fewest(connections, nSafe); got != want {
			t.Fatalf("%d connections at %v a pod: %d pods, want %d", connections, nSafe, got, want)
		}
	}
	for _, l := range []Loss{{Mode: "zone", Zones: 2}, {Mode: "zone", Zones: 3}, {Mode: "pod"}, {Mode: "share", Share: big.NewRat(9, 10)}, {Mode: "share", Share: big.NewRat(1, 7)}} {
		for left := int64(1); left < 300; left++ {
			want := int64(2)
			for want-l.Lost(want) < left {
				want++
			}
			if got := l.Before(left); got != want {
				t.Fatalf("%+v: %d pods leave %d, want %d", l, got, left, want)
			}
		}
	}
}

func TestSearchesEndOnMeshesThatNobodyRuns(t *testing.T) {
	n := Fewest(1e13, big.NewRat(60, 1))
	if Hot(1e13/float64(n), n) > 60 || Hot(1e13/float64(n-1), n-1) <= 60 {
		t.Errorf("%d is not the fewest", n)
	}
	if got := (Loss{Mode: "share", Share: big.NewRat(9, 10)}).Before(1e12); got != 1e13 {
		t.Errorf("%d pods leave a million million", got)
	}
}
