package sizing

import (
	"math/big"
	"testing"
)

func bigsale() Threshold {
	return Threshold{
		Loss: Loss{Mode: "zone", Zones: 2}, Connections: 3600,
		Limit: big.NewRat(800<<20, 1), Headroom: big.NewRat(85, 100), Base: big.NewRat(240e6, 1),
		PerConnection: big.NewRat(400*5400, 1), Residual: big.NewRat(5, 100),
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
