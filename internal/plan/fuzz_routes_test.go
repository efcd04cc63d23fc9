package plan_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// The fullest endpoint, the stranded ones and the loss of a zone are those of the
// worst of all ways to lay the pods out, each enumerated, however few pods there
// are for the zones, and where callers stand in zones without nodes.
func TestTheWorstWayToLayPodsOutIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for range 400 {
		text := fewPods(random)
		p := loadText(t, text)
		pl, err := plan.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		terms := map[string]plan.Term{}
		d, _ := pl.Decision("service/team/few.trafficDistribution")
		for _, term := range d.Terms {
			terms[term.Name] = term
		}
		want := oracleOf(p).worstOf(p.Spec.Services[0])
		if got := terms["FWorst"].Value; got == nil || got.Cmp(want.factor) != 0 {
			t.Fatalf("F is %v, want %s\n%s", got, want.factor.RatString(), text)
		}
		if got := terms["strandedWorst"].Value; got.Sign() > 0 != (want.stranded > 0) {
			t.Fatalf("%v are stranded, want %d\n%s", got, want.stranded, text)
		}
		if fails := strings.HasPrefix(terms["S8"].Text, "fails"); fails == want.survives {
			t.Fatalf("S8 %s, and every loss is survived: %v\n%s", terms["S8"].Text, want.survives, text)
		}
	}
}

// fewPods is a profile of two to six zones, some without nodes, with one Service
// of up to twice as many pods.
func fewPods(random *rand.Rand) []byte {
	zones := 2 + random.IntN(5)
	pods := 1 + random.IntN(2*zones)
	var list, endpoints, clients []string
	shares := make([]int, zones)
	for range 100 {
		shares[random.IntN(1+random.IntN(zones))]++
	}
	random.Shuffle(zones, func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
	for z := range zones {
		name, nodes := "z"+strconv.Itoa(z), 5
		if z > 1 && random.IntN(5) == 0 {
			nodes = 0
		} else {
			endpoints = append(endpoints, name+": "+strconv.Itoa(pods))
		}
		list = append(list, fmt.Sprintf("{name: %s, nodePools: [{name: a, nodes: %d, allocatableCPU: 64}]}", name, nodes))
		clients = append(clients, fmt.Sprintf("%s: %.2f", name, float64(shares[z])/100))
	}
	return fmt.Appendf(nil, `apiVersion: meshgen.dev/v1alpha1
kind: ClusterProfile
metadata: {name: few}
spec:
  kubernetes: {version: "1.34", rebalancer: descheduler}
  zones: [%s]
  istio: {version: "1.29"}
  istiod:
    resources: {cpu: 4, memory: 8Gi}
    memoryModel: {base: 300Mi, bytesPerConnectionEndpoint: 300}
    load: {connections: 300, endpoints: 300}
  namespaces: [{name: team}]
  services:
    - {name: few, namespace: team, workload: {name: few, labels: {app: few}}, replicas: {min: %d, max: 100},
       endpoints: {%s}, clients: {%s}, capacity: {perEndpoint: 100, peak: %d, unit: requests}, routing: {trafficDistribution: PreferClose}}
`, strings.Join(list, ", "), pods, strings.Join(endpoints, ", "), strings.Join(clients, ", "), 20+random.IntN(200))
}

// read reports whether the callers of a Service read the field at all.
func (j *judge) read(s profile.Service) bool { return j.fieldValue(s) != "" }

// fieldValue is the value that every caller knows; empty where some caller reads
// none.
func (j *judge) fieldValue(s profile.Service) string {
	kubernetes, istio := minorOf(j.profile.Spec.Kubernetes.Version), minorOf(j.profile.Spec.Istio.Version)
	sidecars := s.Routing.Callers != "kube-proxy"
	switch {
	case kubernetes < 31 || sidecars && istio < 25:
		return ""
	case kubernetes < 34 || sidecars && istio < 27:
		return "PreferClose"
	}
	return "PreferSameZone"
}

func minorOf(version string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(version, "1."))
	return n
}

// routes hold that zone routing is added only where S1 to S9 hold, and taken away
// only for a number.
func (j *judge) routes(o *oracle) {
	j.Helper()
	for _, s := range j.profile.Spec.Services {
		subject := "service/" + s.Namespace + "/" + s.Name + ".trafficDistribution"
		d, decided := j.decided[subject]
		if serves := s.Ports == nil || len(s.Ports) > 0; decided != serves {
			j.failf("%s is decided: %v", subject, decided)
		} else if !serves {
			continue
		}
		value, _ := d.Value.(string)
		runs, annotated := s.Routing.TrafficDistribution, s.Routing.TopologyMode == "Auto" || s.Routing.TopologyMode == "auto"
		j.written(subject, s, value, annotated)
		worst := o.worstOf(s)
		switch {
		case value != "" && (runs == "" || annotated):
			j.added(o, s, subject, value, worst)
		case value == "" && runs != "" && !annotated && !worst.harmful:
			j.failf("%s takes %s away and no number fails", subject, runs)
		case value != "" && worst.harmful:
			j.failf("%s keeps %s, and a number fails", subject, value)
		}
	}
}

// written holds that a Service with the annotation is written, so that it goes.
func (j *judge) written(subject string, s profile.Service, value string, annotated bool) {
	j.Helper()
	for _, r := range j.plan.Routes {
		if r.Subject() == subject {
			if r.TrafficDistribution != value {
				j.failf("%s is %q, and %q is written", subject, value, r.TrafficDistribution)
			}
			return
		}
	}
	if annotated || value != "" && value != s.Routing.TrafficDistribution || value == "" && s.Routing.TrafficDistribution != "" {
		j.failf("%s is %q, and nothing is written", subject, value)
	}
}

// added holds the conditions that no state of the Service may be exempt from.
func (j *judge) added(o *oracle, s profile.Service, subject, value string, w worst) {
	j.Helper()
	z := j.profile.Spec.Mesh.ZoneRouting
	target := &z.TargetUtilization.Rat
	if u := s.Autoscaling.CPUUtilization; u != nil {
		target = ratio(*u, 100)
	}
	use := ratio(0, 1)
	if w.factor != nil {
		use.Mul(target, w.factor)
	}
	fixed := s.Replicas.Min == s.Replicas.Max || j.profile.Spec.Kubernetes.Rebalancer == "descheduler"
	placed := s.Workload != nil && len(s.Workload.Labels) > 0 && len(o.openZones()) > 1 && s.Replicas.Max > 1
	for rule, holds := range map[string]bool{
		"the version's value": value == j.fieldValue(s),
		"S1":                  len(s.Clients) > 0, "S2": placed, "S3": w.fewest >= 2, "S4": w.roomy,
		"S5": w.factor != nil && use.Cmp(&z.MaxUtilization.Rat) <= 0,
		"S6": w.factor != nil && w.factor.Cmp(&z.MaxOverload.Rat) <= 0 && w.stranded == 0,
		"S7": s.Routing.InternalTrafficPolicy != "Local" && j.onNodes(s), "S8": w.survives, "S9": fixed,
	} {
		if !holds {
			j.failf("%s is %s, and %s does not hold: %+v", subject, value, rule, w)
		}
	}
}

// onNodes reports whether every endpoint stands in a zone that has nodes.
func (j *judge) onNodes(s profile.Service) bool {
	return !slices.ContainsFunc(j.profile.Spec.Zones, func(z profile.Zone) bool {
		nodes := slices.ContainsFunc(z.NodePools, func(n profile.NodePool) bool { return n.Nodes.Now > 0 })
		return s.Endpoints[z.Name] > 0 && !nodes
	})
}

// worst is what the states of a Service come to, each enumerated: now, and every
// way in which a hard zone constraint of skew 1 may lay the pods of rest and of
// each event, with up to podsLost pods gone in one zone.
type worst struct {
	factor   *big.Rat // F; nil where the callers are not known or there is no endpoint
	stranded int64
	fewest   int64 // in a zone with callers, now or as guaranteed
	roomy    bool  // each zone carries its callers with podsLost pods gone
	survives bool  // the loss of any zone, wherever its callers go
	harmful  bool  // F, a stranded endpoint or the loss of a zone fails
}

type state struct {
	counts []int64
	load   *big.Rat // nil where it is not known
	now    bool
}

func (o *oracle) worstOf(s profile.Service) worst {
	w := worst{fewest: 1 << 40, roomy: true, survives: true}
	if len(s.Clients) == 0 {
		return w
	}
	var q []*big.Rat
	for _, z := range o.Spec.Zones {
		share := s.Clients[z.Name]
		q = append(q, &share.Rat)
	}
	placed := s.Workload != nil && len(s.Workload.Labels) > 0 && len(o.openZones()) > 1 && s.Replicas.Max > 1
	for _, st := range o.states(s, placed) {
		o.judgeState(&w, s, q, st, st.now && !placed || !st.now)
	}
	sized := s.Capacity != nil
	if w.factor == nil {
		return w
	}
	w.harmful = w.factor.Cmp(&o.Spec.Mesh.ZoneRouting.MaxOverload.Rat) > 0 || w.stranded > 0 || sized && len(o.openZones()) > 1 && !w.survives
	w.roomy, w.survives = w.roomy && sized, w.survives && sized
	return w
}

// states are now and, where a place is guaranteed, every way to lay the pods out.
func (o *oracle) states(s profile.Service, placed bool) []state {
	var now []int64
	for _, z := range o.Spec.Zones {
		now = append(now, s.Endpoints[z.Name])
	}
	var peak *big.Rat
	if s.Capacity != nil {
		peak = &s.Capacity.Peak.Rat
	}
	all := []state{{now, peak, true}}
	if !placed {
		return all
	}
	for _, counts := range o.laid(s.Replicas.Min) {
		all = append(all, state{counts, peak, false})
	}
	services := o.behind()[s.Namespace+"/"+s.Workload.Name]
	for e, event := range o.Spec.Events {
		m := o.multiplied(s, e)
		if _, named := s.Events[event.Name]; !named || m.Cmp(ratio(1, 1)) <= 0 {
			continue
		}
		pods, load := s.Replicas.Min, peak
		if n := o.pods(services, e); len(o.named(services, e)) > 0 && n <= services[0].Replicas.Max {
			pods = max(pods, n)
		}
		if load != nil {
			load = new(big.Rat).Mul(load, m)
		}
		for _, counts := range o.laid(pods) {
			all = append(all, state{counts, load, false})
		}
	}
	return all
}

// laid are all ways to lay pods over the open zones so that no two differ by more
// than one.
func (o *oracle) laid(pods int64) [][]int64 {
	open := o.openZones()
	each, extra := pods/int64(len(open)), int(pods%int64(len(open)))
	var all [][]int64
	for pick := range 1 << len(open) {
		counts, picked := make([]int64, len(o.Spec.Zones)), 0
		for i, z := range o.Spec.Zones {
			if at := slices.Index(open, z.Name); at >= 0 {
				counts[i] = each + int64(pick>>at&1)
				picked += pick >> at & 1
			}
		}
		if picked == extra {
			all = append(all, counts)
		}
	}
	return all
}

// judgeState takes a state in, with every number of pods gone in one zone.
func (o *oracle) judgeState(w *worst, s profile.Service, q []*big.Rat, st state, counted bool) {
	for z, n := range st.counts {
		if q[z].Sign() > 0 {
			w.fewest = min(w.fewest, n)
		}
		for gone := range o.Spec.Mesh.ZoneRouting.PodsLost + 1 {
			counts := slices.Clone(st.counts)
			counts[z] = max(min(n, 1), n-gone)
			w.load(q, counts)
		}
	}
	if s.Capacity == nil || !counted {
		return
	}
	z := o.Spec.Mesh.ZoneRouting
	can := new(big.Rat).Mul(&z.MaxUtilization.Rat, &s.Capacity.PerEndpoint.Rat)
	for i, n := range st.counts {
		if q[i].Sign() > 0 {
			need := new(big.Rat).Mul(q[i], st.load)
			w.roomy = w.roomy && n >= z.PodsLost+ceiling(need.Quo(need, can))
		}
	}
	w.survives = w.survives && o.survivesZone(q, st, can)
}

// load takes F and the stranded endpoints of one state in.
func (w *worst) load(q []*big.Rat, counts []int64) {
	f, stranded := overload(q, counts)
	if f == nil {
		return
	}
	w.stranded = max(w.stranded, stranded)
	if w.factor == nil || f.Cmp(w.factor) > 0 {
		w.factor = f
	}
}

// overload is the load of the fullest endpoint as a multiple of the mean, endpoint
// by endpoint; nil without endpoints.
func overload(q []*big.Rat, counts []int64) (f *big.Rat, stranded int64) {
	all, away := int64(0), new(big.Rat)
	for z, n := range counts {
		all += n
		if n == 0 {
			away.Add(away, q[z])
		}
	}
	if all == 0 {
		return nil, 0
	}
	f = new(big.Rat)
	for z, n := range counts {
		if n == 0 {
			continue
		}
		load := new(big.Rat).Quo(away, ratio(all, 1))
		load.Add(load, new(big.Rat).Quo(q[z], ratio(n, 1)))
		if load.Sign() == 0 {
			stranded += n
		}
		if load.Mul(load, ratio(all, 1)); load.Cmp(f) > 0 {
			f = load
		}
	}
	return f, stranded
}

// survivesZone tries the loss of each zone, with its callers gone, spread over the
// other zones, or all in one of these.
func (o *oracle) survivesZone(q []*big.Rat, st state, can *big.Rat) bool {
	for lost := range st.counts {
		counts := slices.Clone(st.counts)
		counts[lost] = 0
		for to := range counts {
			if to == lost {
				continue
			}
			moved := slices.Clone(q)
			moved[to], moved[lost] = new(big.Rat).Add(q[to], q[lost]), new(big.Rat)
			f, _ := overload(moved, counts)
			if f == nil {
				return false
			}
			left := int64(0)
			for _, n := range counts {
				left += n
			}
			use := new(big.Rat).Mul(f, st.load)
			if use.Quo(use, ratio(left, 1)).Cmp(can) > 0 {
				return false
			}
		}
	}
	return true
}
