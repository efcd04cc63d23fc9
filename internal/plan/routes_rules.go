package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/sizing"
)

// rule is one condition under which calls may stay in their zone, judged.
type rule struct {
	name   string // S1 to S9
	result result
	says   string // with its numbers
	remedy string // of one that is not proven
}

// result is what a rule comes to: a number fails, or something that the rule
// relies on is not known to be so.
type result string

const (
	holds    result = "holds"
	fails    result = "fails"
	unproven result = "unproven"
	waits    result = "waits" // cannot be judged before S1 holds
)

// judge applies the rules, and adds each with its sentence as a term.
func (s *routed) judge() {
	for _, rule := range []func() rule{
		s.callersKnown, s.placeGuaranteed, s.podsEverywhere, s.roomInEachZone, s.autoscalerSeesTheFullest,
		s.loadEven, s.zonesKnown, s.zoneMayBeLost, s.placeRestored,
	} {
		judged := rule()
		s.rules = append(s.rules, judged)
		s.d.text(judged.name, string(judged.result)+": "+judged.says)
	}
}

// named are the rules that come to that result.
func named(rules []rule, of result) []string {
	var names []string
	for _, r := range rules {
		if r.result == of {
			names = append(names, r.name)
		}
	}
	return names
}

// summary names the rules that come to that result, with the sentence of the first.
func summary(rules []rule, of result) string {
	names := named(rules, of)
	for _, r := range rules {
		if r.result == of {
			return fmt.Sprintf("%s: %s (%s)", of, strings.Join(names, ", "), r.says)
		}
	}
	return ""
}

// sayings are the names and sentences of the rules that come to that result.
func sayings(rules []rule, of result) string {
	var all []string
	for _, r := range rules {
		if r.result == of {
			all = append(all, r.name+" "+r.says)
		}
	}
	return strings.Join(all, "; ")
}

// remedies are what proves the rules that are not proven, each once.
func remedies(rules []rule) string {
	var all []string
	for _, r := range rules {
		if r.result == unproven && r.remedy != "" && !slices.Contains(all, r.remedy) {
			all = append(all, r.remedy)
		}
	}
	return strings.Join(all, "; ")
}

// S1: the share of the calls is known for every zone.
func (s *routed) callersKnown() rule {
	if s.q == nil {
		return rule{"S1", unproven, "nothing says in which zones the callers are", "give clients: the share of the calls by the zone of the last proxy before the Service"}
	}
	var all []string
	for z, q := range s.q {
		if q.Sign() > 0 {
			all = append(all, percent(q)+" from "+s.names[z])
		}
	}
	return rule{"S1", holds, "calls come " + strings.Join(all, ", "), ""}
}

// S2: a hard zone constraint, which meshgen writes, guarantees pods in each zone.
func (s *routed) placeGuaranteed() rule {
	switch w := s.behind(s.Service); {
	case w == nil:
		return rule{"S2", unproven, "the profile names no workload to spread over the zones", "name the workload with its labels"}
	case len(w.Labels) == 0:
		return rule{"S2", unproven, "workload " + w.Name + " has no labels to spread its pods by", "give workload.labels"}
	case len(s.open) < 2:
		return rule{"S2", unproven, fmt.Sprintf("%s has nodes that pods may use: there is no other to keep calls from", plural(int64(len(s.open)), "zone")), "leave the field out where there is one zone"}
	case !s.placed:
		return rule{"S2", unproven, "one replica cannot be spread over zones", "allow replicas.max of at least 2 a zone"}
	}
	m, _ := find(s.d.terms, "m")
	return rule{"S2", holds, fmt.Sprintf("%d replicas under a hard zone constraint are at least %s in each of %d zones",
		s.Replicas.Min, number(m.Value, 12), len(s.open)), ""}
}

// leastPods is how many pods a zone with callers must have: the loss of one must
// turn neither into all load on none nor on one.
const leastPods = 2

// S3: every zone with callers has two pods, today and as guaranteed.
func (s *routed) podsEverywhere() rule {
	for _, at := range append([]moment{{name: "now", fewest: s.now}}, s.moments...) {
		for z, n := range at.fewest {
			if !s.calledFrom(z) || n >= leastPods {
				continue
			}
			says := fmt.Sprintf("%s %s in %s, which needs %d", plural(n, "pod"), at.name, s.names[z], leastPods)
			if s.q == nil {
				return rule{"S3", waits, "for S1: " + says + " if calls come from there", ""}
			}
			return rule{"S3", fails, says, ""}
		}
	}
	if !s.placed {
		return rule{"S3", holds, fmt.Sprintf("every zone with callers has at least %d pods now", leastPods), ""}
	}
	return rule{"S3", holds, fmt.Sprintf("every zone with callers has at least %d pods, now and as guaranteed", leastPods), ""}
}

// calledFrom reports whether calls may come from the zone.
func (s *routed) calledFrom(zone int) bool { return s.q == nil || s.q[zone].Sign() > 0 }

// unjudged is what a rule over the fullest endpoint lacks; ok is true where
// nothing does.
func (s *routed) unjudged(name string) (missing rule, ok bool) {
	switch {
	case s.q == nil:
		return rule{name, waits, "for S1: it needs to know where the callers are", ""}, false
	case s.worst.counts == nil:
		return rule{name, unproven, "there is no endpoint", ""}, false
	}
	return rule{}, true
}

// unsized is unjudged for a rule over what an endpoint can do.
func (s *routed) unsized(name string) (missing rule, ok bool) {
	if missing, ok := s.unjudged(name); !ok {
		return missing, false
	}
	if !s.sized() {
		return rule{name, unproven, "needs to know what an endpoint can do", "give capacity: perEndpoint and peak"}, false
	}
	return rule{}, true
}

// S4: each zone carries its callers, with pods lost there.
func (s *routed) roomInEachZone() rule {
	if missing, ok := s.unsized("S4"); !ok {
		return missing
	}
	at, zone, have := s.tightest()
	s.d.input(Term{Name: "qTight", Value: s.q[zone], From: s.path + ".clients." + s.names[zone]})
	s.d.input(Term{Name: "loadTight", Value: at.load, Unit: s.Capacity.Unit, Note: "the peak " + at.name})
	s.d.found("nTight", have, "endpoints", "in "+s.names[zone]+" "+at.name)
	need := s.d.whole("need", "podsLost + ceil(qTight * loadTight / (Umax * perEndpoint))", "endpoints")
	says := fmt.Sprintf("%s %s has %s, and %s of the peak of %s needs %d with %s lost",
		s.names[zone], at.name, plural(have, "endpoint"), percent(s.q[zone]), number(at.load, 4), need, plural(s.lost(), "pod"))
	if have < need {
		return rule{"S4", fails, says, ""}
	}
	return rule{"S4", holds, says, ""}
}

// tightest is the moment and the zone with callers that lack the most endpoints,
// or have the fewest to spare.
func (s *routed) tightest() (at moment, zone int, have int64) {
	least, known := int64(0), false
	capacity := new(big.Rat).Mul(&s.spec().Mesh.ZoneRouting.MaxUtilization.Rat, s.perEndpoint())
	for _, m := range s.moments {
		for z, q := range s.q {
			if q.Sign() == 0 {
				continue
			}
			load := new(big.Rat).Mul(q, m.load)
			need := sizing.Ceil(load.Quo(load, capacity)).Int64()
			if spare := m.fewest[z] - need; !known || spare < least {
				least, at, zone, have, known = spare, m, z, m.fewest[z], true
			}
		}
	}
	return at, zone, have
}

// S5: the autoscaler sees the mean, and acts before the fullest is full.
func (s *routed) autoscalerSeesTheFullest() rule {
	if missing, ok := s.unjudged("S5"); !ok {
		return missing
	}
	use := s.d.set("fullestUse", "T * FWorst", "")
	umax := &s.spec().Mesh.ZoneRouting.MaxUtilization.Rat
	t, _ := find(s.d.terms, "T")
	says := fmt.Sprintf("at a mean of %s the fullest endpoint is used to %s, of %s", percent(t.Value), percent(use), percent(umax))
	if use.Cmp(umax) > 0 {
		return rule{"S5", fails, says, ""}
	}
	return rule{"S5", holds, says, ""}
}

// S6: no endpoint carries much more than the mean, and none nothing.
func (s *routed) loadEven() rule {
	if missing, ok := s.unjudged("S6"); !ok {
		return missing
	}
	most := &s.spec().Mesh.ZoneRouting.MaxOverload.Rat
	note, _ := find(s.d.terms, "worst")
	says := fmt.Sprintf("the fullest endpoint carries %s × the mean (%s), of %s, and %s stranded",
		number(s.worst.factor, 3), note.Text, number(most, 3), areOf(s.worst.stranded, "endpoint"))
	if s.worst.factor.Cmp(most) > 0 || s.worst.stranded > 0 {
		return rule{"S6", fails, says, ""}
	}
	return rule{"S6", holds, says, ""}
}

// S7: every endpoint stands in a zone that has nodes, and calls may leave their node.
func (s *routed) zonesKnown() rule {
	if s.Routing.InternalTrafficPolicy == "Local" {
		return rule{"S7", unproven, "internalTrafficPolicy Local keeps calls on their node, so that the field has no effect", "leave one of the two out"}
	}
	for z, n := range s.now {
		nodes := int64(0)
		for _, p := range s.spec().Zones[z].NodePools {
			nodes += p.Nodes.Now
		}
		if n > 0 && nodes == 0 {
			return rule{"S7", unproven, fmt.Sprintf("%s in %s, which has no nodes", standIn(n), s.names[z]), "correct endpoints, or the nodes of the zone"}
		}
	}
	return rule{"S7", holds, "every endpoint stands in a zone that has nodes", ""}
}

func standIn(n int64) string {
	if n == 1 {
		return "1 endpoint stands"
	}
	return plural(n, "endpoint") + " stand"
}

// S8: after the loss of a zone the others carry its callers, wherever they go.
func (s *routed) zoneMayBeLost() rule {
	if missing, ok := s.unsized("S8"); !ok {
		return missing
	}
	if len(s.open) < 2 {
		return rule{"S8", unproven, "there is no second zone", ""}
	}
	at, counts, lost, to := s.worstLoss()
	if lost < 0 {
		return rule{"S8", fails, "all endpoints " + at.name + " are in one zone: nothing is left after its loss", ""}
	}
	s.d.input(Term{Name: "loadLoss", Value: at.load, Unit: s.Capacity.Unit, Note: "the peak " + at.name})
	s.counts("e", counts)
	use := s.d.set("useAfterLoss", "zoneLoss("+s.arguments("q", "e")+") * loadLoss / perEndpoint", "")
	umax := &s.spec().Mesh.ZoneRouting.MaxUtilization.Rat
	says := fmt.Sprintf("%s: without %s, its callers in %s, the fullest endpoint is used to %s, of %s",
		at.name, s.names[lost], s.names[to], percent(use), percent(umax))
	if use.Cmp(umax) > 0 {
		return rule{"S8", fails, says, ""}
	}
	return rule{"S8", holds, says, ""}
}

// worstLoss is the moment, the endpoints before the loss and the two zones with
// the most load on one endpoint after it; lost is -1 where a loss leaves no
// endpoint.
func (s *routed) worstLoss() (at moment, counts []int64, lost, to int) {
	most := new(big.Rat)
	lost = -1
	for _, c := range s.nearWorst() {
		share, x, z := sizing.ZoneLoss(s.q, c.counts)
		if x < 0 {
			return c.at, c.counts, -1, -1
		}
		if load := share.Mul(share, c.at.load); lost < 0 || load.Cmp(most) > 0 {
			most, at, counts, lost, to = load, c.at, c.counts, x, z
		}
	}
	return at, counts, lost, to
}

// beforeALoss is a way in which the endpoints of a moment may stand before a zone is
// lost.
type beforeALoss struct {
	at     moment
	counts []int64
	near   float64 // about the load on the fullest endpoint after it
}

// nearWorst are the ways that may be the worst, or the first after whose loss nothing
// is left.
func (s *routed) nearWorst() []beforeALoss {
	q, most := sizing.Floats(s.q), 0.0
	var all []beforeALoss
	for _, m := range s.moments {
		load, _ := m.load.Float64()
		for _, way := range s.beforeLoss(m) {
			c := beforeALoss{at: m, counts: way}
			if slices.Contains(way, total(way)) {
				return []beforeALoss{c}
			}
			c.near = load * sizing.NearZoneLoss(q, way)
			most = max(most, c.near)
			all = append(all, c)
		}
	}
	return slices.DeleteFunc(all, func(c beforeALoss) bool { return c.near < most*(1-sizing.Near) })
}

// S9: the pods stay where the constraint put them: scaling in takes any, and
// nothing but a rebalancer moves the rest.
func (s *routed) placeRestored() rule {
	switch {
	case s.Replicas.Min == s.Replicas.Max:
		return rule{"S9", holds, fmt.Sprintf("the %d replicas are fixed: nothing scales them in", s.Replicas.Min), ""}
	case s.spec().Kubernetes.Rebalancer == "descheduler":
		return rule{"S9", holds, "the descheduler moves pods back after scaling in", ""}
	}
	return rule{
		"S9", unproven, fmt.Sprintf("scaling in from %d to %d takes pods of any zone, and nothing moves the rest back", s.Replicas.Max, s.Replicas.Min),
		"run the descheduler with RemovePodsViolatingTopologySpreadConstraint and set spec.kubernetes.rebalancer, or set replicas.min to replicas.max",
	}
}
