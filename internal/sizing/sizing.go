// Package sizing holds the formulas: numbers in, numbers out. Every floor and
// ceiling is of the exact value (math/big); only the random spread of
// connections over pods is float64, rounded so that it is the same on every
// processor. It knows no profile and no plan.
package sizing

import (
	"math"
	"math/big"
	"sort"
)

// Tolerance is the HPA's: it acts only when the metric is more than a tenth off
// its target (horizontal-pod-autoscaler-tolerance, default 0.1), so that pods
// may hold 1.10 times the threshold without being joined by another.
var Tolerance = big.NewRat(11, 10)

// Hot is the connections on the fullest of m pods that hold mu each on average,
// laid at random: mu + √(2·mu·ln m). It is about the 85th percentile of the
// true maximum. One pod holds what it holds.
func Hot(mu float64, m int64) float64 {
	return fixed(mu + math.Sqrt(float64(2*mu)*math.Log(float64(m))))
}

// Hot99 is about the 99th percentile of the same maximum:
// mu + √(2·mu·(1 − 1/m)·ln 20m).
func Hot99(mu float64, m int64) float64 {
	n := float64(m)
	return fixed(mu + math.Sqrt(float64(2*mu*(1-1/n))*math.Log(20*n)))
}

// fixed rounds to a millionth of a connection: processors may fuse operations
// and libraries may differ in the last bit of a logarithm.
func fixed(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// UpTo is n rounded up to a multiple of z.
func UpTo(n, z int64) int64 { return CeilDiv(n, z) * z }

// CeilDiv is ⌈a/b⌉ for b > 0.
func CeilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

// Ceil is the least whole number that is not less than r.
func Ceil(r *big.Rat) *big.Int {
	floor, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// Floor is the greatest whole number that is not greater than r.
func Floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// CeilMul is ⌈n·r⌉.
func CeilMul(n int64, r *big.Rat) int64 {
	return Ceil(new(big.Rat).Mul(big.NewRat(n, 1), r)).Int64()
}

// Step rounds a threshold down to a multiple of 5, or of 10 from 200 up: a
// number that people remember.
func Step(threshold int64) int64 {
	if threshold >= 200 {
		return threshold - threshold%10
	}
	return threshold - threshold%5
}

// Loss is the loss of pods that must be survived: one of Zones zones, one pod,
// or a share of the pods.
type Loss struct {
	Mode  string   // zone, pod or share
	Zones int64    // of mode zone
	Share *big.Rat // of mode share
}

// Lost is how many of n pods are gone after the loss.
func (l Loss) Lost(n int64) int64 {
	switch l.Mode {
	case "zone":
		return CeilDiv(n, l.Zones)
	case "pod":
		return 1
	default:
		return min(max(CeilMul(n, l.Share), 1), n-1)
	}
}

// Stay is 1 − f as a fraction: what is left of n pods after the loss. Of a zone
// it is (Zones − 1)/Zones whatever n is.
func (l Loss) Stay(n int64) (stay, of int64) {
	if l.Mode == "zone" {
		return l.Zones - 1, l.Zones
	}
	return n - l.Lost(n), n
}

// Before is the fewest n ≥ 2 of which at least left remain after the loss. What
// remains never falls as n grows.
func (l Loss) Before(left int64) int64 {
	return least(max(2, left), func(n int64) bool { return n-l.Lost(n) >= left })
}

// Fewest is the fewest n ≥ 1 pods whose fullest holds at most nSafe of the
// connections, laid at random. nSafe must be positive. The search begins where
// the average alone would fit; from 3 pods on the fullest holds less with every
// pod more.
func Fewest(connections int64, nSafe *big.Rat) int64 {
	limit, _ := nSafe.Float64()
	fits := func(n int64) bool { return Hot(float64(connections)/float64(n), n) <= limit }
	n := max(1, Ceil(new(big.Rat).Quo(big.NewRat(connections, 1), nSafe)).Int64())
	for ; n < 3; n++ {
		if fits(n) {
			return n
		}
	}
	return least(n, fits)
}

// least is the least n from a first one on at which a condition holds that, once
// it holds, holds for all that follow.
func least(from int64, holds func(n int64) bool) int64 {
	if holds(from) {
		return from
	}
	fails, step := from, int64(1)
	for ; !holds(fails + step); step *= 2 {
		fails += step
	}
	return fails + 1 + int64(sort.Search(int(step-1), func(i int) bool { return holds(fails + 1 + int64(i)) }))
}
