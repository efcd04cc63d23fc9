package sizing

import (
	"math/big"
	"slices"
)

// The load of endpoints while the calls of a zone stay there. A slice has one
// item for each zone: q is the share of the calls that come from it, n the
// endpoints that serve it (those that stand there, or those that are hinted for
// it). Calls of a zone without endpoints go to all of them, as kube-proxy and
// Envoy do.

// Overload is F, the load of the fullest endpoint as a multiple of the mean:
// N·max(q/n) + Σ q of the zones without endpoints. It is 1 where calls go to all.
func Overload(q []*big.Rat, n []int64) *big.Rat {
	f := fullest(q, n)
	if pods := sum(n); pods > 0 {
		return f.Mul(f, big.NewRat(pods, 1))
	}
	return big.NewRat(1, 1)
}

// fullest is the share of all calls that the fullest endpoint has; 0 where there
// is no endpoint.
func fullest(q []*big.Rat, n []int64) *big.Rat {
	most, pods := new(big.Rat), sum(n)
	if pods == 0 {
		return most
	}
	for z := range n {
		if n[z] == 0 || q[z].Sign() == 0 {
			continue
		}
		if share := new(big.Rat).Quo(q[z], big.NewRat(n[z], 1)); share.Cmp(most) > 0 {
			most = share
		}
	}
	if away := homeless(q, n); away.Sign() > 0 {
		most.Add(most, away.Quo(away, big.NewRat(pods, 1)))
	}
	return most
}

// homeless is the share of the calls that come from zones without endpoints.
func homeless(q []*big.Rat, n []int64) *big.Rat {
	share := new(big.Rat)
	for z := range n {
		if n[z] == 0 && q[z].Sign() > 0 {
			share.Add(share, q[z])
		}
	}
	return share
}

func sum(n []int64) int64 {
	total := int64(0)
	for _, x := range n {
		total += x
	}
	return total
}

// Stranded is the endpoints that nobody calls: those of zones without callers,
// unless some zone has no endpoint, whose calls then go to all.
func Stranded(q []*big.Rat, n []int64) int64 {
	stranded := int64(0)
	for z := range n {
		switch {
		case q[z].Sign() == 0:
			stranded += n[z]
		case n[z] == 0:
			return 0
		}
	}
	return stranded
}

// CrossZone is the share of the calls that leave their zone, own being those of
// the n endpoints of a zone that stand in it. A zone that no endpoint serves has
// none of its own.
func CrossZone(q []*big.Rat, n, own []int64) *big.Rat {
	share := homeless(q, n)
	for z := range n {
		if n[z] > 0 {
			away := big.NewRat(n[z]-own[z], n[z])
			share.Add(share, away.Mul(away, q[z]))
		}
	}
	return share
}

// Reachable is the fewest and the most pods that a zone may have after a fresh
// rollout under a hard zone constraint: max(0, ⌈(N − (Z−1)·skew)/Z⌉), and
// ⌊(N − skew)/Z⌋ + skew, or N up to the skew.
func Reachable(pods, zones, skew int64) (fewest, most int64) {
	fewest = max(0, CeilDiv(pods-(zones-1)*skew, zones))
	if pods <= skew {
		return fewest, pods
	}
	return fewest, (pods-skew)/zones + skew
}

// ZoneLoss is the share of all calls that the fullest endpoint has after the
// loss of the worst zone. The callers of that zone die, go elsewhere in
// proportion, or all go to one zone; the load is convex in where they go, so
// that the last, for some zone, is never less than the others. lost and to are
// the worst pair; lost is -1 where the loss of a zone leaves no endpoint, and
// the share means nothing.
func ZoneLoss(q []*big.Rat, n []int64) (share *big.Rat, lost, to int) {
	share, lost, to = new(big.Rat), -1, -1
	if slices.Contains(n, sum(n)) {
		return share, lost, to
	}
	near := Floats(q)
	least := NearZoneLoss(near, n) * (1 - Near)
	for z := range n {
		for _, x := range losses(q, n, z) {
			if nearLoss(near, n, x, z) < least {
				continue
			}
			if u := afterLoss(q, n, x, z); lost < 0 || u.Cmp(share) > 0 {
				share, lost, to = u, x, z
			}
		}
	}
	return share, lost, to
}

// Near is more than rounding can take from a share in floating point, as a part of
// it: a share is a sum of at most a few dozen terms, none of them negative.
const Near = 1e-6

// Floats are the shares of the calls in floating point.
func Floats(q []*big.Rat) []float64 {
	near := make([]float64, len(q))
	for z, share := range q {
		near[z], _ = share.Float64()
	}
	return near
}

// NearZoneLoss is the share of ZoneLoss in floating point, which tells what cannot be
// the worst: exact numbers for each pair of a dozen zones take a hundred times as
// long. Each zone's loss must leave an endpoint.
func NearZoneLoss(q []float64, n []int64) float64 {
	most := 0.0
	for z := range n {
		for x := range n {
			if x != z {
				most = max(most, nearLoss(q, n, x, z))
			}
		}
	}
	return most
}

// nearLoss is afterLoss in floating point.
func nearLoss(q []float64, n []int64, lost, to int) float64 {
	full, away, left := 0.0, 0.0, int64(0)
	for z, pods := range n {
		calls := q[z]
		switch z {
		case lost:
			continue
		case to:
			calls += q[lost]
		}
		left += pods
		if pods == 0 {
			away += calls
		} else {
			full = max(full, calls/float64(pods))
		}
	}
	return full + away/float64(left)
}

// losses are the zones whose loss may be the worst for another. While every zone
// has endpoints it is the one with the most callers; else each may be, for
// calls to all endpoints weigh more the fewer are left.
func losses(q []*big.Rat, n []int64, to int) []int {
	var all []int
	most, empty := -1, false
	for x := range n {
		empty = empty || n[x] == 0
		if x == to {
			continue
		}
		all = append(all, x)
		if most < 0 || q[x].Cmp(q[most]) > 0 {
			most = x
		}
	}
	if empty || most < 0 {
		return all
	}
	return []int{most}
}

func afterLoss(q []*big.Rat, n []int64, lost, to int) *big.Rat {
	left, counts := append([]*big.Rat{}, q...), append([]int64{}, n...)
	left[to] = new(big.Rat).Add(q[to], q[lost])
	left[lost] = new(big.Rat)
	counts[lost] = 0
	return fullest(left, counts)
}
