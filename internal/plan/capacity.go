package plan

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// resource is what pods request and nodes have, in cores or in bytes.
type resource struct {
	name, unit  string
	shownUnit   string                                     // the one in which people read it
	shown       int64                                      // units in one of those
	requested   func(*profile.Resources) *profile.Quantity // nil where the profile does not say
	allocatable func(*profile.NodePool) *profile.Quantity  // likewise
}

var resources = []resource{
	{
		"cpu", "cores", "cores", 1,
		func(r *profile.Resources) *profile.Quantity { return r.CPU },
		func(p *profile.NodePool) *profile.Quantity { return &p.AllocatableCPU },
	},
	{
		"memory", "bytes", "GiB", 1 << 30,
		func(r *profile.Resources) *profile.Quantity { return r.Memory },
		func(p *profile.NodePool) *profile.Quantity { return p.AllocatableMemory },
	},
}

func (r resource) text(amount *big.Rat) string {
	return number(new(big.Rat).Quo(amount, big.NewRat(r.shown, 1)), 4) + " " + r.shownUnit
}

// whole is the formula of an amount in whole units for people.
func (r resource) whole(amount string) string {
	if r.shown == 1 {
		return "floor(" + amount + ")"
	}
	return fmt.Sprintf("floor((%s) / %d)", amount, r.shown)
}

// occasion is what is planned at rest, or while a set of events is under way.
type occasion struct {
	name, path string
	istiods    int64
	from       string   // the decision that says how many istiods
	workloads  *big.Rat // what they request; those that give no requests are left out
	asked      *big.Rat // by istiod and the workloads
}

// capacity holds what istiod and the workloads request, at rest and in each
// event, against the nodes that are left when the largest zone is lost.
// Gateways have no requests in the profile, and are not counted.
func (b *builder) capacity() {
	if b.plan.Findings.HasErrors() {
		return
	}
	for _, r := range resources {
		occasions := b.occasions(r)
		if all, ok := b.room(r, b.open); ok {
			for _, m := range occasions {
				b.judgeRoom(r, m, all, "istiod and the workloads", m.asked)
			}
			b.decideRoom(r, slices.MaxFunc(occasions, func(x, y occasion) int { return x.asked.Cmp(y.asked) }), all)
		}
		if shared, ok := b.room(r, untainted); ok && b.ownPools() {
			for _, m := range occasions {
				b.judgeRoom(r, m, shared, "the workloads", m.workloads)
			}
		}
	}
}

// ownPools reports whether istiod tolerates its way onto pools that workloads
// may not use.
func (b *builder) ownPools() bool {
	return slices.ContainsFunc(b.spec().Zones, func(z profile.Zone) bool {
		return slices.ContainsFunc(z.NodePools, func(p profile.NodePool) bool { return b.open(p) && !untainted(p) })
	})
}

// space is what the nodes have of a resource, the zone that has most left out.
type space struct {
	left *big.Rat
	lost string // the zone; empty where there is one alone
}

func (s space) text() string {
	if s.lost == "" {
		return "in all"
	}
	return "with zone " + s.lost + " lost"
}

// room is what the open pools have of the resource at their most nodes. ok is
// false when one of them does not say.
func (b *builder) room(r resource, open func(profile.NodePool) bool) (s space, ok bool) {
	zones := make([]*big.Rat, len(b.spec().Zones))
	for i, z := range b.spec().Zones {
		zones[i] = new(big.Rat)
		for j := range z.NodePools {
			p := &z.NodePools[j]
			if !open(*p) {
				continue
			}
			each := r.allocatable(p)
			if each == nil || each.Sign() == 0 {
				return space{}, false
			}
			zones[i].Add(zones[i], new(big.Rat).Mul(&each.Rat, big.NewRat(p.Nodes.Max, 1)))
		}
	}
	left, lost := sizing.LeaveLargest(zones)
	if lost < 0 {
		return space{left: left}, true
	}
	return space{left, b.spec().Zones[lost].Name}, true
}

// occasions are rest, and for each event the set of events under way with it that
// asks for most, each set once.
func (b *builder) occasions(r resource) []occasion {
	rest := b.restRequests(r)
	all := []occasion{b.occasion(r, nil, rest)}
	under := make([]occasion, len(b.sets))
	for i, set := range b.sets {
		under[i] = b.occasion(r, set, rest)
	}
	worst := map[int]bool{}
	for e := range b.events {
		if at := b.worstSet(e, under); !worst[at] {
			worst[at] = true
			all = append(all, under[at])
		}
	}
	return all
}

// worstSet is the set that holds the event and asks for most, of equals the smallest
// and then the first by its events' names: the profile's order decides nothing.
// Every event is in the set of those under way with it.
func (b *builder) worstSet(event int, under []occasion) int {
	worst := -1
	for i, set := range b.sets {
		if slices.Contains(set, event) && (worst < 0 || b.compareSets(i, worst, under) > 0) {
			worst = i
		}
	}
	return worst
}

func (b *builder) compareSets(i, j int, under []occasion) int {
	return cmp.Or(
		under[i].asked.Cmp(under[j].asked),
		cmp.Compare(len(b.sets[j]), len(b.sets[i])),
		slices.Compare(b.namesOf(b.sets[j]), b.namesOf(b.sets[i])),
	)
}

func (b *builder) namesOf(set []int) []string {
	var names []string
	for _, e := range set {
		names = append(names, b.events[e].Name)
	}
	slices.Sort(names)
	return names
}

func (b *builder) restRequests(r resource) *big.Rat {
	sum := new(big.Rat)
	for i := range b.workloads {
		s := b.service(b.workloads[i].services[0])
		if each := r.requested(&s.Requests); each != nil {
			sum.Add(sum, new(big.Rat).Mul(&each.Rat, big.NewRat(s.Replicas.Min, 1)))
		}
	}
	return sum
}

// occasion is what is asked for while the set of events is under way: each
// workload and istiod at the most that one of these asks of it.
func (b *builder) occasion(r resource, set []int, rest *big.Rat) occasion {
	m := occasion{name: "at rest", path: "spec.zones", istiods: b.min, from: "istiod.replicas.min", workloads: rest}
	var names []string
	for _, e := range set {
		names = append(names, b.events[e].Name)
		if n := b.events[e].replicas; n > m.istiods {
			m.istiods, m.from = n, "istiod.replicas.event."+b.events[e].Name
		}
	}
	if len(set) > 0 {
		m.name, m.path = "in event "+strings.Join(names, " with "), b.events[set[0]].path
		m.workloads = new(big.Rat).Add(rest, b.eventRequests(r, set))
	}
	m.asked = new(big.Rat).Mul(b.istiodRequest(r), big.NewRat(m.istiods, 1))
	m.asked.Add(m.asked, m.workloads)
	return m
}

// eventRequests is what a set of events asks for beyond rest.
func (b *builder) eventRequests(r resource, set []int) *big.Rat {
	sum := new(big.Rat)
	for i := range b.workloads {
		w := &b.workloads[i]
		s := b.service(w.services[0])
		each := r.requested(&s.Requests)
		if more := w.most(set) - s.Replicas.Min; more > 0 && each != nil {
			sum.Add(sum, new(big.Rat).Mul(&each.Rat, big.NewRat(more, 1)))
		}
	}
	return sum
}

// most is the most replicas that an event of the set asks for; 0 where none does.
func (w *deployed) most(set []int) int64 {
	most := int64(0)
	for _, p := range w.prescales {
		if slices.Contains(set, p.event) {
			most = max(most, p.replicas)
		}
	}
	return most
}

func (b *builder) istiodRequest(r resource) *big.Rat {
	if r.name == "cpu" {
		return big.NewRat(wholeCores(b.spec().Istiod.Resources.CPU), 1)
	}
	return ratOf(b.spec().Istiod.Resources.Memory)
}

func (b *builder) judgeRoom(r resource, m occasion, s space, who string, asked *big.Rat) {
	if asked.Cmp(s.left) <= 0 {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/no-room", Subject: "capacity." + r.name,
		Message: fmt.Sprintf("%s %s request %s of %s, and the pools that they may use have %s at their most nodes %s: pods will stay pending",
			m.name, who, r.text(asked), r.name, r.text(s.left), s.text()),
		Hint: fmt.Sprintf("give the pools %s more (nodes.max, or another pool in the zones that are left), or lower requests or bounds", r.text(new(big.Rat).Sub(asked, s.left))),
	}, m.path)
}

// requestsNote says how many of the workloads are counted.
func (b *builder) requestsNote(r resource) string {
	counted := 0
	for _, w := range b.workloads {
		if r.requested(&b.service(w.services[0]).Requests) != nil {
			counted++
		}
	}
	return fmt.Sprintf("%d of %d workloads say what they request", counted, len(b.workloads))
}

// decideRoom says how much is left at the occasion that asks for most.
func (b *builder) decideRoom(r resource, m occasion, s space) {
	request := Term{Name: "istiod", Value: b.istiodRequest(r), Unit: r.unit, From: "istiod.cpu"}
	if r.name == "memory" {
		request.From = "spec.istiod.resources.memory"
	}
	d := &derivation{terms: []Term{
		request,
		{Name: "istiods", Value: big.NewRat(m.istiods, 1), Unit: "pods", From: m.from},
		{Name: "workloads", Value: m.workloads, Unit: r.unit, Note: b.requestsNote(r) + ", " + m.name},
		{Name: "room", Value: s.left, Unit: r.unit, Note: "nodes.max × allocatable of the pools that are open to them, " + s.text()},
	}}
	d.set("asked", "istiod*istiods + workloads", r.unit)
	left := d.whole("left", r.whole("room - asked"), r.shownUnit)
	b.decide(d, Decision{
		Subject: "capacity." + r.name, Value: left, Unit: r.shownUnit + " left",
		Reason: fmt.Sprintf("%s istiod and the workloads request %s (%s), the open pools have %s %s", m.name, r.text(m.asked), b.requestsNote(r), r.text(s.left), s.text()),
		Source: "a pod that finds no room is pending while its trigger counts on it",
	}, m.path)
}
