package simulate

import (
	"math/bits"
	"math/rand/v2"
)

// dice are the random numbers of one trial: PCG, and no interface on the way.
type dice struct{ *rand.PCG }

// below is a whole number from 0 up to, and without, n > 0. Its bias is n/2⁶⁴.
func (d dice) below(n int64) int64 {
	high, _ := bits.Mul64(d.Uint64(), uint64(n))
	return int64(high)
}

// deviation is a draw of N(0, 1) to a thousandth.
func (d dice) deviation() float64 {
	z := rand.New(d.PCG).NormFloat64() * 1000
	if z < 0 {
		return float64(int64(z-0.5)) / 1000
	}
	return float64(int64(z+0.5)) / 1000
}
