package plan

import (
	"math/big"
	"slices"

	"github.com/meshgen/meshgen/internal/sizing"
)

// moment is a load that the Service must carry, and the endpoints by zone that
// may be there then.
type moment struct {
	name   string
	load   *big.Rat  // at its peak; nil where the profile does not say
	counts [][]int64 // every way that may be the worst
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
	rest := moment{name: "at rest", load: s.peakLoad()}
	if !s.placed {
		rest.name, rest.counts = "now", [][]int64{s.now}
		s.moments = []moment{rest}
		return
	}
	s.d.set("m", "fewestInZone(Nmin, Z, 1)", "pods")
	rest.counts = s.even(s.Replicas.Min)
	s.moments = append([]moment{rest}, s.eventMoments()...)
}

func (s *routed) peakLoad() *big.Rat {
	if !s.sized() {
		return nil
	}
	return &s.Capacity.Peak.Rat
}

// eventMoments are the peaks of the events that multiply the Service, with the
// pods that meshgen scales it to, or its least where meshgen does not.
func (s *routed) eventMoments() []moment {
	var all []moment
	if len(s.Events) == 0 {
		return nil
	}
	for i, e := range s.events {
		m := s.most(i, s.multiplier)
		if _, named := s.Events[e.Name]; !named || m.Cmp(big.NewRat(1, 1)) <= 0 {
			continue
		}
		pods := s.Replicas.Min
		if s.Autoscaling.ManagedBy == "meshgen" {
			pods = sizing.EventReplicas(pods, int64(len(s.open)), m, s.peakLoad(), s.perEndpoint())
		}
		at := moment{name: "in event " + e.Name, counts: s.even(pods)}
		if s.sized() {
			at.load = new(big.Rat).Mul(s.peakLoad(), m)
		}
		all = append(all, at)
	}
	return all
}

// multiplier is what an event does to the Service.
func (s *routed) multiplier(event int) *big.Rat {
	if named, ok := s.Events[s.events[event].Name]; ok {
		return &named.Multiplier.Rat
	}
	return big.NewRat(1, 1)
}

func (s *routed) perEndpoint() *big.Rat {
	if !s.sized() {
		return nil
	}
	return &s.Capacity.PerEndpoint.Rat
}

// even are the ways in which that many pods stand under a hard zone constraint
// of skew 1, as far as they may be the worst: each open zone once among those
// that have the fewest.
func (s *routed) even(pods int64) [][]int64 {
	zones := int64(len(s.open))
	fewest, _ := sizing.Reachable(pods, zones, 1)
	extra := pods - fewest*zones
	var ways [][]int64
	for _, short := range s.open {
		counts, left := make([]int64, len(s.names)), extra
		for _, z := range s.open {
			counts[z] = fewest
			if z != short && left > 0 {
				counts[z]++
				left--
			}
		}
		ways = append(ways, counts)
		if extra == 0 {
			break
		}
	}
	return ways
}

// fullest finds the worst of today's endpoints and of what is guaranteed, each
// also with pods lost in any one zone.
func (s *routed) fullest() {
	if s.q == nil {
		return
	}
	note := ""
	for _, at := range s.states() {
		for lost := -1; lost < len(at.counts); lost++ {
			counts := s.without(at.counts, lost)
			if counts == nil || total(counts) == 0 {
				continue
			}
			f := sizing.Overload(s.q, counts)
			stranded := sizing.Stranded(s.q, counts)
			if stranded > s.worst.stranded {
				s.worst.stranded = stranded
			}
			if s.worst.factor == nil || f.Cmp(s.worst.factor) > 0 {
				s.worst.factor, s.worst.counts = f, counts
				note = at.name
				if lost >= 0 {
					note += ", " + plural(s.lost(), "pod") + " less in " + s.names[lost]
				}
			}
		}
	}
	if s.worst.counts == nil {
		return
	}
	s.d.text("worst", note)
	s.counts("w", s.worst.counts)
	s.d.set("FWorst", "overload("+s.arguments("q", "w")+")", "× the mean")
	s.d.found("strandedWorst", s.worst.stranded, "endpoints", "the most in any of these states")
}

func (s *routed) lost() int64 { return s.spec().Mesh.ZoneRouting.PodsLost }

// without is the counts with pods lost in one zone; nil where it has none to
// lose. No zone, -1, loses nothing.
func (s *routed) without(counts []int64, zone int) []int64 {
	if zone < 0 {
		return counts
	}
	if counts[zone] == 0 {
		return nil
	}
	left := slices.Clone(counts)
	left[zone] = max(0, left[zone]-s.lost())
	return left
}

// standing is one way in which the endpoints may stand.
type standing struct {
	name   string
	counts []int64
}

// states are where the endpoints stand now and where they are guaranteed to,
// each once.
func (s *routed) states() []standing {
	all := []standing{{"now", s.now}}
	for _, m := range s.moments {
		for _, counts := range m.counts {
			if !slices.ContainsFunc(all, func(x standing) bool { return slices.Equal(x.counts, counts) }) {
				all = append(all, standing{m.name, counts})
			}
		}
	}
	return all
}
