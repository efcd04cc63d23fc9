package plan

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/meshgen/meshgen/internal/sizing"
)

// moment is a load that the Service must carry, and where its endpoints stand
// then.
type moment struct {
	name   string
	load   *big.Rat // at its peak; nil where the profile does not say
	fewest []int64  // in each zone
	extra  int64    // pods besides these, at most one a zone
	ways   []standing
}

// standing is one way in which the endpoints stand, by zone, at some moment.
type standing struct {
	name   string
	counts []int64
	short  int // the zone that is the worst to lose pods in; -1 where it may be any
}

// fullest is the state of the endpoints in which one of them has the most.
type fullest struct {
	factor   *big.Rat // F
	counts   []int64
	stranded int64 // the most in any state
}

// place finds what a hard zone constraint guarantees, at rest and in each event
// that multiplies the Service. Where nothing guarantees a place, the endpoints
// of today are what the numbers are about.
func (s *routed) place() {
	w := s.behind(s.Service)
	s.placed = w != nil && len(w.Labels) > 0 && len(s.open) > 1 && s.Replicas.Max > 1
	if !s.placed {
		s.moments = []moment{{name: "now", load: s.peakLoad(), fewest: s.now}}
		return
	}
	s.d.set("m", "fewestInZone(Nmin, Z, 1)", "pods")
	s.moments = append([]moment{s.guaranteed("at rest", s.Replicas.Min, s.peakLoad())}, s.eventMoments()...)
}

func (s *routed) peakLoad() *big.Rat {
	if !s.sized() {
		return nil
	}
	return &s.Capacity.Peak.Rat
}

func (s *routed) perEndpoint() *big.Rat {
	if !s.sized() {
		return nil
	}
	return &s.Capacity.PerEndpoint.Rat
}

// eventMoments are the peaks of the events that multiply the Service, with the
// pods that meshgen scales it to, or its least where meshgen does not.
func (s *routed) eventMoments() []moment {
	if len(s.Events) == 0 {
		return nil
	}
	var all []moment
	f := s.serviceFactors(s.index)
	for i, e := range s.events {
		m, _ := s.worstWith(i, f)
		if _, named := s.Events[e.Name]; !named || m.Cmp(big.NewRat(1, 1)) <= 0 {
			continue
		}
		pods, load := max(s.Replicas.Min, s.prescaledTo(i)), s.peakLoad()
		if load != nil {
			load = new(big.Rat).Mul(load, m)
		}
		all = append(all, s.guaranteed("in event "+e.Name, pods, load))
	}
	return all
}

// prescaledTo is the pods that meshgen scales the Service's workload to for the
// event; 0 where it does not.
func (s *routed) prescaledTo(event int) int64 {
	return s.behind(s.Service).most([]int{event})
}

// guaranteed is where that many pods stand under a hard zone constraint of skew
// 1: as many in each open zone, and what is left over in any but one of them. Its
// ways are those that may be the worst for the load of an endpoint.
func (s *routed) guaranteed(name string, pods int64, load *big.Rat) moment {
	zones := int64(len(s.open))
	fewest, _ := sizing.Reachable(pods, zones, 1)
	at := moment{name: name, load: load, fewest: make([]int64, len(s.names)), extra: pods - fewest*zones}
	for _, z := range s.open {
		at.fewest[z] = fewest
	}
	if at.extra == 0 {
		at.ways = []standing{{name, at.fewest, -1}}
		return at
	}
	for _, worst := range s.open {
		at.ways = append(at.ways, standing{name, at.laid(s.against(at, worst)), worst})
	}
	if fewest == 0 && s.q != nil { // the way that leaves the fewest callers without a pod, so that pods may have none
		most := s.byCalls()
		slices.Reverse(most)
		at.ways = append(at.ways, standing{name, at.laid(most), -1})
	}
	return at
}

// laid are the endpoints with what is left over in the first zones of that order.
func (m moment) laid(order []int) []int64 {
	counts := slices.Clone(m.fewest)
	for _, z := range order[:m.extra] {
		counts[z]++
	}
	return counts
}

// against is the order in which what is left over makes an endpoint of the zone
// carry the most: where the others have pods, all get one before it; where none
// has, its only pod stands beside those of the zones with the fewest calls, and
// the calls of the others come to all.
func (s *routed) against(m moment, zone int) []int {
	if m.fewest[zone] == 0 {
		return first(zone, s.byCalls())
	}
	order := slices.DeleteFunc(slices.Clone(s.open), func(z int) bool { return z == zone })
	return append(order, zone)
}

// byCalls are the zones in which pods may stand, those with the fewest calls first.
func (s *routed) byCalls() []int {
	zones := slices.Clone(s.open)
	if s.q != nil {
		slices.SortStableFunc(zones, func(x, y int) int { return s.q[x].Cmp(s.q[y]) })
	}
	return zones
}

// first is the order with one zone moved to its front.
func first(zone int, order []int) []int {
	return append([]int{zone}, slices.DeleteFunc(slices.Clone(order), func(z int) bool { return z == zone })...)
}

// beforeLoss are the ways in which the endpoints may stand that may be the worst
// before a zone is lost. The fewest everywhere stand for all of them where each
// zone with calls has pods: its load depends on no other's. Else calls go to all
// that are left, which are fewest where the lost zone had one more.
func (s *routed) beforeLoss(m moment) [][]int64 {
	if m.extra == 0 || s.servedEverywhere(m.fewest) {
		return [][]int64{m.fewest}
	}
	var all [][]int64
	for _, way := range m.ways {
		all = append(all, way.counts)
	}
	for _, worst := range s.open {
		for _, lost := range s.open {
			if lost != worst {
				all = append(all, m.laid(first(lost, s.against(m, worst))))
			}
		}
	}
	return once(all)
}

// once is each way once, in the order in which they come first.
func once(ways [][]int64) [][]int64 {
	known := map[string]bool{}
	return slices.DeleteFunc(ways, func(way []int64) bool {
		key := fmt.Sprint(way)
		had := known[key]
		known[key] = true
		return had
	})
}

// servedEverywhere reports whether every zone with calls has endpoints.
func (s *routed) servedEverywhere(counts []int64) bool {
	for z, q := range s.q {
		if q.Sign() > 0 && counts[z] == 0 {
			return false
		}
	}
	return true
}

// standings are where the endpoints stand now, and every way in which they may
// under the hard constraint.
func (s *routed) standings() []standing {
	all := []standing{{"now", s.now, -1}}
	for _, m := range s.moments {
		all = append(all, m.ways...)
	}
	return all
}

// fullest finds the state in which one endpoint carries the most: now or as
// guaranteed, with pods lost in one zone.
func (s *routed) fullest() {
	if s.q == nil {
		return
	}
	var worst standing
	for _, state := range s.standings() {
		for _, x := range s.losses(state) {
			if total(x.counts) == 0 {
				continue
			}
			s.worst.stranded = max(s.worst.stranded, sizing.Stranded(s.q, x.counts))
			if f := sizing.Overload(s.q, x.counts); s.worst.factor == nil || f.Cmp(s.worst.factor) > 0 {
				s.worst.factor, s.worst.counts, worst = f, x.counts, x
			}
		}
	}
	if s.worst.counts == nil {
		return
	}
	note := worst.name
	if worst.short >= 0 {
		note += ", pods lost in " + s.names[worst.short]
	}
	s.d.text("worst", note)
	s.counts("w", s.worst.counts)
	s.d.set("FWorst", "overload("+s.arguments("q", "w")+")", "× the mean")
	s.d.found("strandedWorst", s.worst.stranded, "endpoints", "the most in any of these states")
}

func (s *routed) lost() int64 { return s.spec().Mesh.ZoneRouting.PodsLost }

// losses are the states that a loss of up to so many pods in one zone makes, as
// far as they may be the worst. That is never a zone without callers, nor the
// loss of a zone's last pod, whose load then goes to all; and no loss at all is
// the worst only where no zone with callers has pods.
func (s *routed) losses(from standing) []standing {
	var all []standing
	for z, n := range from.counts {
		if n == 0 || s.q[z].Sign() == 0 || from.short >= 0 && z != from.short {
			continue
		}
		counts := slices.Clone(from.counts)
		counts[z] = max(1, n-s.lost())
		all = append(all, standing{from.name, counts, z})
	}
	if all == nil {
		return []standing{{from.name, from.counts, -1}}
	}
	return all
}
