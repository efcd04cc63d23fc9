package plan_test

import (
	"math/big"

	"github.com/meshgen/meshgen/internal/profile"
)

// capacity holds what is left of the nodes when the largest zone is lost, at the
// time that asks for most.
func (j *judge) capacity(o *oracle) {
	j.Helper()
	for _, r := range []struct {
		subject   string
		istiod    *big.Rat
		requested func(profile.Service) *profile.Quantity
		node      func(profile.NodePool) *profile.Quantity
		unit      int64
	}{
		{"capacity.cpu", ratio(o.cpu, 1), func(s profile.Service) *profile.Quantity { return s.Requests.CPU }, func(n profile.NodePool) *profile.Quantity { return &n.AllocatableCPU }, 1},
		{"capacity.memory", &o.Spec.Istiod.Resources.Memory.Rat, func(s profile.Service) *profile.Quantity { return s.Requests.Memory }, func(n profile.NodePool) *profile.Quantity { return n.AllocatableMemory }, 1 << 30},
	} {
		left, decided := j.whole(r.subject)
		if !decided {
			continue
		}
		room := o.room(r.node)
		room.Sub(room, j.asked(o, r.istiod, r.requested))
		room.Quo(room, ratio(r.unit, 1))
		if want := floor(room); left != want {
			j.failf("%s is %d, want %d", r.subject, left, want)
		}
		if room.Sign() < 0 && !j.found("plan/no-room", r.subject) {
			j.failf("%s is %d, and nothing says so", r.subject, left)
		}
	}
}

func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }

// room is what the pools that istiod may use have at their most nodes, without the
// zone that has most where there is another.
func (o *oracle) room(node func(profile.NodePool) *profile.Quantity) *big.Rat {
	sum, most, zones := new(big.Rat), new(big.Rat), 0
	for _, z := range o.Spec.Zones {
		zone := new(big.Rat)
		for _, n := range z.NodePools {
			if each := node(n); each != nil && o.stands(n.Taints) {
				zone.Add(zone, new(big.Rat).Mul(&each.Rat, ratio(n.Nodes.Max, 1)))
			}
		}
		if sum.Add(sum, zone); zone.Sign() > 0 {
			zones++
		}
		if zone.Cmp(most) > 0 {
			most = zone
		}
	}
	if zones > 1 {
		sum.Sub(sum, most)
	}
	return sum
}

// asked is the most that istiod and the workloads request at rest or while some
// events are under way together, each at the most that one of these asks of it.
func (j *judge) asked(o *oracle, istiod *big.Rat, requested func(profile.Service) *profile.Quantity) *big.Rat {
	most := new(big.Rat)
	for _, set := range append([][]int{nil}, o.sets...) {
		n, _ := j.whole("istiod.replicas.min")
		for _, e := range set {
			more, _ := j.whole("istiod.replicas.event." + o.Spec.Events[e].Name)
			n = max(n, more)
		}
		sum := new(big.Rat).Mul(istiod, ratio(n, 1))
		for key, services := range o.behind() {
			each := requested(services[0])
			if each == nil {
				continue
			}
			pods := services[0].Replicas.Min
			for _, e := range set {
				more, _ := j.whole("workload/" + key + ".replicas.event." + o.Spec.Events[e].Name)
				pods = max(pods, more)
			}
			sum.Add(sum, new(big.Rat).Mul(&each.Rat, ratio(pods, 1)))
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}
