package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/hints"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// hinted is what topology hints are computed from, and what has been computed.
type hinted struct {
	states     []nodes // now first, then each that a node more or less makes of it
	allocators map[string]*hints.Allocator
	known      map[string]spectrum // by the endpoints of each zone
}

// nodes is a distribution of the nodes' CPU over zones, in millicores. Taints do
// not count: Kubernetes does not look at them here.
type nodes struct {
	name  string
	milli []int64
}

// spectrum is what hints do to the same endpoints under different nodes: in the
// states that can be reached, now first, and at the nearest splits of the CPU.
type spectrum struct{ states, splits []spot }

// spot is what hints do under one distribution of nodes.
type spot struct {
	nodes
	hints.Result
}

// todays is what topology hints do to a Service today.
type todays struct {
	value  string
	unsafe bool
	says   string
	terms  []Term
}

func (t todays) running() *Running {
	r := &Running{Value: t.value, Verdict: Safe, Terms: t.terms}
	if t.unsafe {
		r.Verdict = Unsafe
	}
	return r
}

// outcome is the worst that hints do to a Service under one distribution of nodes.
type outcome struct {
	spot
	hints, own []int64  // by zone; nil without hints
	factor     *big.Rat // F; nil where the callers are not known
	stranded   int64
}

// text is the hints by zone, or that there are none.
func (o outcome) text() string {
	if o.Reason != "" {
		return "off"
	}
	var all []string
	for _, n := range o.hints {
		all = append(all, fmt.Sprint(n))
	}
	return strings.Join(all, "/")
}

// topologyHints adds what the annotation does now, in the worst state that a
// node more or less makes, and at the nearest splits of the CPU at which a zone
// is given one endpoint more or less.
func (s *routed) topologyHints() {
	s.today = todays{value: "topology-mode: " + s.Routing.TopologyMode, unsafe: true}
	if s.hints.states == nil {
		s.hints.states = nodeStates(s.spec().Zones)
	}
	if !hints.Fits(s.hints.states[0].milli, s.now) {
		s.today.says = fmt.Sprintf("what the hints are is not computed for more than %d zones or %s endpoints", hints.MaxZones, grouped(hints.MaxEndpoints))
		s.d.text("hints", s.today.says)
		return
	}
	found, err := s.spectrumOf(s.now)
	if err != nil {
		if s.err == nil {
			s.err = err
		}
		return
	}
	now, worst := s.worstTie(found.states[0]), s.worstSpot(found.states)
	var split *outcome
	if len(found.splits) > 0 {
		o := s.worstSpot(found.splits)
		split = &o
	}
	s.hintTerms(now, worst, split)
	s.judgeHints(now, worst, split)
}

// spectrumOf is what hints do to those endpoints, computed once.
func (r *router) spectrumOf(ready []int64) (spectrum, error) {
	key := fmt.Sprint(ready)
	if known, ok := r.hints.known[key]; ok {
		return known, nil
	}
	var found spectrum
	var err error
	for _, at := range r.hints.states {
		if found.states, err = r.hints.evaluate(found.states, at, ready); err != nil {
			return found, err
		}
	}
	for _, at := range r.nearestSplits(found.states[0], ready) {
		if found.splits, err = r.hints.evaluate(found.splits, at, ready); err != nil {
			return found, err
		}
	}
	r.hints.known[key] = found
	return found, nil
}

// evaluate adds what hints do to the endpoints under those nodes, unless other
// nodes do the same.
func (h *hinted) evaluate(spots []spot, at nodes, ready []int64) ([]spot, error) {
	key := fmt.Sprint(at.milli)
	allocator, ok := h.allocators[key]
	if !ok {
		allocator = hints.ByCPU(at.milli)
		h.allocators[key] = allocator
	}
	r, err := allocator.Evaluate(ready)
	if slices.ContainsFunc(spots, func(x spot) bool { return x.Same(r) }) {
		return spots, err
	}
	return append(spots, spot{at, r}), err
}

// worstSpot is the worst of several distributions of nodes, the first where they
// are alike.
func (s *routed) worstSpot(spots []spot) outcome {
	worst := s.worstTie(spots[0])
	for _, x := range spots[1:] {
		if o := s.worstTie(x); o.worse(worst) {
			worst = o
		}
	}
	return worst
}

// worstTie is the worst of the allocations that are possible.
func (s *routed) worstTie(at spot) outcome {
	if at.Reason != "" {
		return outcome{spot: at, factor: s.unhinted()}
	}
	var worst outcome
	for i, o := range at.Outcomes {
		x := outcome{spot: at, hints: o.Hints}
		for z := range o.Hints {
			x.own = append(x.own, o.Own(z))
		}
		if s.q != nil {
			x.factor, x.stranded = sizing.Overload(s.q, o.Hints), sizing.Stranded(s.q, o.Hints)
		}
		if i == 0 || x.worse(worst) {
			worst = x
		}
	}
	return worst
}

// unhinted is F where every endpoint takes calls of every zone.
func (s *routed) unhinted() *big.Rat {
	if s.q == nil {
		return nil
	}
	return big.NewRat(1, 1)
}

// worse compares the fullest endpoint, then the stranded ones.
func (o outcome) worse(than outcome) bool {
	if o.factor == nil {
		return false
	}
	c := o.factor.Cmp(than.factor)
	return c > 0 || c == 0 && o.stranded > than.stranded
}

// nodeStates are the distribution of now and those with one node more or less in
// one pool, each once.
func nodeStates(zones []profile.Zone) []nodes {
	states := []nodes{{"now", cpuOf(zones, -1, -1, 0)}}
	for z, zone := range zones {
		for p, pool := range zone.NodePools {
			for _, change := range []int64{-1, 1} {
				if pool.Nodes.Now+change < 0 || pool.Nodes.Now == 0 && pool.Nodes.Max == 0 {
					continue
				}
				state := nodes{fmt.Sprintf("a node of pool %s %s in %s", pool.Name, map[int64]string{-1: "less", 1: "more"}[change], zone.Name), cpuOf(zones, z, p, change)}
				if !slices.ContainsFunc(states, func(x nodes) bool { return slices.Equal(x.milli, state.milli) }) {
					states = append(states, state)
				}
			}
		}
	}
	return states
}

// cpuOf is the CPU of all nodes by zone, with so many more in one pool.
func cpuOf(zones []profile.Zone, zone, pool int, more int64) []int64 {
	var milli []int64
	for z := range zones {
		cores := new(big.Rat)
		for p, of := range zones[z].NodePools {
			count := of.Nodes.Now
			if z == zone && p == pool {
				count += more
			}
			cores.Add(cores, new(big.Rat).Mul(&of.AllocatableCPU.Rat, big.NewRat(count, 1)))
		}
		milli = append(milli, thousandths(cores))
	}
	return milli
}

// thousandths is a number of cores in whole millicores, rounded up as Kubernetes
// does; the largest number where it has no room.
func thousandths(cores *big.Rat) int64 {
	whole := sizing.Ceil(cores.Mul(cores, big.NewRat(1000, 1)))
	if !whole.IsInt64() {
		return 1<<63 - 1
	}
	return whole.Int64()
}

// nearestSplits are the distributions of CPU that ask for one endpoint more or
// less in a zone than it is given now, the other zones keeping their proportion:
// a zone is given k of n endpoints where it has k/n of the CPU.
func (r *router) nearestSplits(now spot, ready []int64) []nodes {
	var all []nodes
	endpoints := total(ready)
	for z := range now.milli {
		below, above := neighbours(now, z, endpoints)
		for _, k := range []int64{below, above} {
			milli := scaled(now.milli, z, k, endpoints)
			if milli == nil || slices.ContainsFunc(all, func(x nodes) bool { return sameSplit(x.milli, milli) }) {
				continue
			}
			all = append(all, nodes{fmt.Sprintf("%s of the CPU in %s", percent(big.NewRat(k, endpoints)), r.names[z]), milli})
		}
	}
	return all
}

// neighbours are one endpoint less and one more than a zone's hints, or, without
// hints, the whole numbers around its share of the CPU.
func neighbours(now spot, zone int, endpoints int64) (below, above int64) {
	if now.Reason == "" {
		given := now.Outcomes[0].Hints[zone]
		return given - 1, given + 1
	}
	all := total(now.milli)
	if all == 0 {
		return 0, 0
	}
	share := big.NewRat(now.milli[zone], all)
	share.Mul(share, big.NewRat(endpoints, 1))
	return sizing.Ceil(share).Int64() - 1, sizing.Floor(share).Int64() + 1
}

// scaled is a distribution in which the zone has k/n of the CPU; nil where that
// leaves nothing for it or for the others.
func scaled(milli []int64, zone int, k, n int64) []int64 {
	others := total(milli) - milli[zone]
	if k <= 0 || k >= n || others == 0 || milli[zone] == 0 {
		return nil
	}
	split := make([]int64, len(milli))
	for z := range milli {
		split[z] = (n - k) * milli[z]
	}
	split[zone] = k * others
	return split
}

// sameSplit reports whether two distributions have the same shares.
func sameSplit(x, y []int64) bool {
	a, b := total(x), total(y)
	for z := range x {
		if big.NewRat(x[z], a).Cmp(big.NewRat(y[z], b)) != 0 {
			return false
		}
	}
	return true
}

// hintTerms are the numbers of the hints now, in the worst state, and at the
// worst of the nearest splits, which is not a state but shows how near the edge is.
func (s *routed) hintTerms(now, worst outcome, split *outcome) {
	text := now.text()
	switch {
	case now.Reason != "":
		text += ": " + now.Reason
	case len(now.Outcomes) > 1:
		text += fmt.Sprintf(", the worst of %d that are possible", len(now.Outcomes))
	}
	s.d.text("hints", text)
	s.loadTerms("TAR", "h", now)
	if s.q == nil {
		return
	}
	if now.Reason == "" {
		s.counts("own", now.own)
		s.d.set("crossZoneTAR", "crossZone("+s.arguments("q", "h", "own")+")", "of the calls")
	}
	s.d.text("worstTAR", worst.name+", hints "+worst.text())
	s.loadTerms("TARWorst", "hWorst", worst)
	if split != nil {
		s.d.text("split", split.name+", hints "+split.text()+" (a nearest split, not a reachable state)")
		s.loadTerms("Split", "hSplit", *split)
	}
}

// loadTerms are F and the stranded endpoints; without hints calls go to all.
func (s *routed) loadTerms(name, count string, o outcome) {
	factor, stranded := "1", "0"
	if o.Reason == "" {
		s.counts(count, o.hints)
		factor = "overload(" + s.arguments("q", count) + ")"
		stranded = "stranded(" + s.arguments("q", count) + ")"
	}
	if s.q != nil {
		s.d.set("F"+name, factor, "× the mean")
		s.d.set("stranded"+name, stranded, "endpoints")
	}
}

// judgeHints says what the annotation does today. It is safe where the callers
// are known and neither F nor a stranded endpoint in any reachable state fails.
func (s *routed) judgeHints(now, worst outcome, split *outcome) {
	s.today.terms = s.copied("F", "FTAR", "stranded", "strandedTAR", "crossZone", "crossZoneTAR", "FWorst", "FTARWorst", "FSplit", "FSplit")
	s.today.says = fmt.Sprintf("Kubernetes hints %s for %s", s.placesOf(now), strings.Join(s.names, "/"))
	if now.Reason != "" {
		s.today.says = "Kubernetes gives no hints now: " + now.Reason
	}
	if s.q == nil {
		s.today.says += ", and nothing says where the callers are"
		return
	}
	s.today.unsafe = worst.factor.Cmp(&s.spec().Mesh.ZoneRouting.MaxOverload.Rat) > 0 || worst.stranded > 0
	s.today.says += fmt.Sprintf(": the fullest endpoint carries %s × the mean and %s stranded", number(now.factor, 3), areOf(now.stranded, "endpoint"))
	if worst.worse(now) {
		s.today.says += fmt.Sprintf("; with %s %s × and %d", worst.name, number(worst.factor, 3), worst.stranded)
	}
	if split != nil && split.worse(worst) {
		s.today.says += fmt.Sprintf("; at %s it would be %s × and %d", split.name, number(split.factor, 3), split.stranded)
	}
}

// placesOf is what is hinted of what stands in each zone.
func (s *routed) placesOf(o outcome) string {
	var stand []string
	for _, n := range s.now {
		stand = append(stand, fmt.Sprint(n))
	}
	return "the endpoints " + strings.Join(stand, "/") + " as " + o.text()
}

// hintsFinding is the warning that goes with the removal of the annotation.
func (s *routed) hintsFinding(subject, planned string) {
	hint := "applying the plan deletes both annotations; calls then go to every endpoint until S1 to S9 hold"
	if planned != "" {
		hint = "applying the plan deletes both annotations and sets trafficDistribution to " + planned
	}
	if s.Routing.TrafficDistribution != "" {
		hint += fmt.Sprintf("; trafficDistribution %s has had no effect beside the annotation", s.Routing.TrafficDistribution)
	}
	s.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/topology-hints", Subject: subject,
		Message: fmt.Sprintf("%s/%s has topology hints, which follow the CPU of all nodes and not the callers: %s", s.Namespace, s.Name, s.today.says),
		Hint:    hint,
	}, s.path+".routing.topologyMode")
}
