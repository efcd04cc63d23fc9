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
	s := standingOf(q, n)
	for _, p := range s.worst() {
		if u := s.afterLoss(p.lost, p.to); lost < 0 || u.Cmp(share) > 0 {
			share, lost, to = u, p.lost, p.to
		}
	}
	return share, lost, to
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

// standing is what the loss of any zone is judged by.
type standing struct {
	q     []*big.Rat
	n     []int64
	pods  int64
	away  *big.Rat   // share of the calls that come from zones without endpoints
	each  []*big.Rat // of all calls, by endpoint of the zone; nil where it has none
	order []int      // the zones with endpoints, those of the fullest first
}

func standingOf(q []*big.Rat, n []int64) standing {
	s := standing{q: q, n: n, pods: sum(n), away: homeless(q, n), each: make([]*big.Rat, len(n))}
	for z := range n {
		if n[z] > 0 {
			s.each[z] = s.divided(z, q[z])
			s.order = append(s.order, z)
		}
	}
	slices.SortFunc(s.order, func(x, y int) int { return s.each[y].Cmp(s.each[x]) })
	return s
}

// pair is a zone that is lost, and the one that its callers go to.
type pair struct{ lost, to int }

// worst are the pairs that may be the worst. They are told in floating point, for
// exact numbers for each pair of a dozen zones take a hundred times as long; what
// rounding can hide of shares that are at most 1 is far less than the slack.
func (s standing) worst() []pair {
	const slack = 1e-9
	var pairs []pair
	var about []float64
	q := make([]float64, len(s.q))
	for z, share := range s.q {
		q[z], _ = share.Float64()
	}
	for z := range s.n {
		for _, x := range losses(s.q, s.n, z) {
			pairs, about = append(pairs, pair{x, z}), append(about, s.nearly(q, x, z))
		}
	}
	most := slices.Max(about) - slack
	var worst []pair
	for i, p := range pairs {
		if about[i] >= most {
			worst = append(worst, p)
		}
	}
	return worst
}

// nearly is afterLoss in floating point.
func (s standing) nearly(q []float64, lost, to int) float64 {
	fullest, away := 0.0, 0.0
	for z, n := range s.n {
		calls := q[z]
		switch z {
		case lost:
			continue
		case to:
			calls += q[lost]
		}
		if n == 0 {
			away += calls
		} else {
			fullest = max(fullest, calls/float64(n))
		}
	}
	return fullest + away/float64(s.pods-s.n[lost])
}

// divided is what an endpoint of a zone has of a share of the calls.
func (s standing) divided(zone int, share *big.Rat) *big.Rat {
	return new(big.Rat).Quo(share, big.NewRat(s.n[zone], 1))
}

// afterLoss is the share of the fullest endpoint after the loss of one zone, whose
// callers all go to another.
func (s standing) afterLoss(lost, to int) *big.Rat {
	most, away := new(big.Rat), new(big.Rat).Set(s.away)
	if i := slices.IndexFunc(s.order, func(z int) bool { return z != lost && z != to }); i >= 0 {
		most.Set(s.each[s.order[i]])
	}
	if s.n[lost] == 0 {
		away.Sub(away, s.q[lost])
	}
	if s.n[to] == 0 {
		away.Add(away, s.q[lost])
	} else if own := s.divided(to, new(big.Rat).Add(s.q[to], s.q[lost])); own.Cmp(most) > 0 {
		most = own
	}
	return most.Add(most, away.Quo(away, big.NewRat(s.pods-s.n[lost], 1)))
}
