package plan_test

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/profile"
)

// openZones are the zones with nodes that pods without tolerations may use, by
// name.
func (o *oracle) openZones() []string {
	var open []string
	for _, z := range o.Spec.Zones {
		if slices.ContainsFunc(z.NodePools, func(n profile.NodePool) bool { return n.Nodes.Now > 0 && untainted(n) }) {
			open = append(open, z.Name)
		}
	}
	return open
}

func untainted(n profile.NodePool) bool {
	return !slices.ContainsFunc(n.Taints, func(t profile.Taint) bool { return t.Effect != "PreferNoSchedule" })
}

// behind are the Services in front of each workload, by namespace/name.
func (o *oracle) behind() map[string][]profile.Service {
	all := map[string][]profile.Service{}
	for _, s := range o.Spec.Services {
		if s.Workload != nil {
			key := s.Namespace + "/" + s.Workload.Name
			all[key] = append(all[key], s)
		}
	}
	return all
}

// multiplied is the Service's largest combined multiplier in any set that the
// event is in, among the events that the Service names.
func (o *oracle) multiplied(s profile.Service, event int) *big.Rat {
	m := make([]*big.Rat, len(o.Spec.Events))
	for i, e := range o.Spec.Events {
		m[i] = ratio(1, 1)
		if named, ok := s.Events[e.Name]; ok {
			m[i] = &named.Multiplier.Rat
		}
	}
	return o.most(event, m)
}

// named are those of a workload's Services that name an event, of one that meshgen
// scales.
func (o *oracle) named(services []profile.Service, event int) []profile.Service {
	if services[0].Autoscaling.ManagedBy != "meshgen" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(services), func(s profile.Service) bool {
		_, ok := s.Events[o.Spec.Events[event].Name]
		return !ok
	})
}

// lead is max(5 m, podReady + nodeReady + 15 s·(1 + max(0, ⌈log₂ m⌉))), up to the
// whole minute, of the slowest of some Services.
func (o *oracle) lead(named []profile.Service, event int) time.Duration {
	lead := 5 * time.Minute
	for _, s := range named {
		ready := o.Spec.Istiod.PodReady.Duration
		if s.PodReady != nil {
			ready = s.PodReady.Duration
		}
		lead = max(lead, ready+o.Spec.Istiod.NodeReady.Duration+15*time.Second*time.Duration(1+doublings(o.multiplied(s, event))))
	}
	return (lead + time.Minute - 1) / time.Minute * time.Minute
}

func (o *oracle) longestLead(event int) time.Duration {
	longest := time.Duration(0)
	for _, services := range o.behind() {
		if named := o.named(services, event); len(named) > 0 {
			longest = max(longest, o.lead(named, event))
		}
	}
	return longest
}

// pods is up_Z of ⌈min·m⌉ and of what keeps every pod at 0.75 with a zone lost.
func (o *oracle) pods(services []profile.Service, event int) int64 {
	zones := int64(len(o.openZones()))
	need, share := int64(0), new(big.Rat)
	for _, s := range o.named(services, event) {
		need = max(need, times(services[0].Replicas.Min, o.multiplied(s, event)))
	}
	for _, s := range services {
		if s.Capacity != nil {
			each := new(big.Rat).Quo(&s.Capacity.Peak.Rat, &s.Capacity.PerEndpoint.Rat)
			share.Add(share, each.Mul(each, o.multiplied(s, event)))
		}
	}
	share.Quo(share, ratio(3, 4))
	if zones > 1 {
		share.Mul(share, ratio(zones, zones-1))
	}
	return up(max(need, ceiling(share)), zones)
}

// workloads hold how many pods each event asks of each workload, and from when on.
func (j *judge) workloads(o *oracle) {
	j.Helper()
	for key, services := range o.behind() {
		if services[0].Autoscaling.ManagedBy != "meshgen" || len(o.openZones()) == 0 {
			continue
		}
		bounds, subject := services[0].Replicas, "workload/"+key
		j.want(subject+".replicas.min", bounds.Min)
		j.want(subject+".replicas.max", bounds.Max)
		for e, event := range o.Spec.Events {
			named := o.named(services, e)
			n, decided := j.whole(subject + ".replicas.event." + event.Name)
			want := o.pods(services, e)
			if decided != (len(named) > 0 && want <= bounds.Max) || decided && n != want {
				j.failf("%s.replicas.event.%s is %d (%v), want %d of at most %d", subject, event.Name, n, decided, want, bounds.Max)
			}
			if decided {
				lead := o.lead(named, e)
				j.want(subject+".prescale.lead."+event.Name, short(lead))
				j.window(subject, event, lead)
			} else if len(named) > 0 && !j.found("plan/above-maximum", subject+".replicas.event."+event.Name) {
				j.failf("%s needs %d pods of at most %d in %s, and no error says so", subject, want, bounds.Max, event.Name)
			}
		}
	}
}

func (j *judge) found(id, subject string) bool {
	for _, f := range j.plan.Findings {
		if f.ID == id && (subject == "" || f.Subject == subject) {
			return true
		}
	}
	return false
}

// spreads hold that a list of constraints is one that the API takes, and that its
// zones are hard where, and only where, calls rely on it or the profile keeps it.
func (j *judge) spreads() {
	j.Helper()
	for _, w := range j.plan.Workloads {
		type key struct{ topology, when string }
		seen := map[key]bool{}
		for _, s := range w.Spread {
			if k := (key{s.TopologyKey, s.WhenUnsatisfiable}); seen[k] || s.MaxSkew < 1 {
				j.failf("%s spreads by %v", w.Subject(), w.Spread)
			} else {
				seen[k] = true
			}
		}
		if w.Spread == nil {
			continue
		}
		hard := seen[key{"topology.kubernetes.io/zone", "DoNotSchedule"}]
		if want := j.local(w.Namespace, w.Name) || j.keepsHard(w.Namespace, w.Name); hard != want {
			j.failf("%s spreads by %v, hard: want %v", w.Subject(), w.Spread, want)
		}
		if len(w.Spread) < 2 || !strings.HasPrefix(w.Spread[0].String(), "topology.kubernetes.io/zone") {
			j.failf("%s spreads by %v", w.Subject(), w.Spread)
		}
	}
}

// local reports whether calls to a Service in front of the workload stay in their
// zone by the plan.
func (j *judge) local(namespace, workload string) bool {
	for _, s := range j.profile.Spec.Services {
		if s.Workload != nil && s.Namespace == namespace && s.Workload.Name == workload {
			value, _ := j.decided["service/"+s.Namespace+"/"+s.Name+".trafficDistribution"].Value.(string)
			if value != "" && j.read(s) {
				return true
			}
		}
	}
	return false
}

func (j *judge) keepsHard(namespace, workload string) bool {
	for _, s := range j.profile.Spec.Services {
		if s.Workload == nil || s.Namespace != namespace || s.Workload.Name != workload {
			continue
		}
		for _, c := range s.Workload.TopologySpreadConstraints {
			if c.TopologyKey == "topology.kubernetes.io/zone" && c.WhenUnsatisfiable == "DoNotSchedule" {
				return true
			}
		}
	}
	return false
}
