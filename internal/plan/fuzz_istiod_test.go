package plan_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// oracle is the control plane's arithmetic a second time, from the profile alone.
type oracle struct {
	*profile.Profile
	zones, cpu   int64
	sets         [][]int // events that are ever under way together, as a start finds them
	connections  []*big.Rat
	endpoints    []*big.Rat
	peakC, peakE int64
}

func oracleOf(p *profile.Profile) *oracle {
	o := &oracle{Profile: p}
	for _, z := range p.Spec.Zones {
		if slices.ContainsFunc(z.NodePools, func(n profile.NodePool) bool { return n.Nodes.Now > 0 && o.stands(n.Taints) }) {
			o.zones++
		}
	}
	o.cpu = max(2, ceiling(&p.Spec.Istiod.Resources.CPU.Rat))
	rest := p.Spec.Istiod.Load
	for _, e := range p.Spec.Events {
		c, n := big.NewRat(1, 1), big.NewRat(1, 1)
		if m := e.Multiplier; m != nil && m.Connections != nil {
			c = &m.Connections.Rat
		}
		if m := e.Multiplier; m != nil && m.Endpoints != nil {
			n = &m.Endpoints.Rat
		}
		o.connections, o.endpoints = append(o.connections, c), append(o.endpoints, n)
	}
	o.sets = setsOf(p.Spec.Events)
	o.peakC, o.peakE = rest.Connections, rest.Endpoints
	for _, set := range o.sets {
		o.peakC = max(o.peakC, times(rest.Connections, together(set, o.connections)))
		o.peakE = max(o.peakE, times(rest.Endpoints, together(set, o.endpoints)))
	}
	return o
}

// stands reports whether istiod's pods may stand on nodes with those taints.
func (o *oracle) stands(taints []profile.Taint) bool {
	for _, t := range taints {
		tolerated := t.Effect == "PreferNoSchedule" || t.Key == "cni.istio.io/not-ready"
		for _, l := range o.Spec.Istiod.Tolerations {
			key := l.Key == t.Key || l.Operator == "Exists" && l.Key == ""
			value := l.Operator == "Exists" || l.Value == t.Value
			tolerated = tolerated || key && value && (l.Effect == "" || l.Effect == t.Effect)
		}
		if !tolerated {
			return false
		}
	}
	return true
}

func ceiling(r *big.Rat) int64 {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

// times is ⌈n·m⌉.
func times(n int64, m *big.Rat) int64 { return ceiling(new(big.Rat).Mul(ratio(n, 1), m)) }

// together is 1 + Σ(mᵢ − 1).
func together(set []int, m []*big.Rat) *big.Rat {
	sum := ratio(1, 1)
	for _, i := range set {
		sum.Add(sum, new(big.Rat).Sub(m[i], ratio(1, 1)))
	}
	return sum
}

// setsOf looks at every instant at which an event starts, over the time in which
// weekly events are followed: no set of events is left out that none contains.
func setsOf(events []profile.Event) [][]int {
	known, sets := map[string]bool{}, [][]int{}
	for _, at := range startsOf(events) {
		var under []int
		for i := range events {
			if underWay(events[i], at) {
				under = append(under, i)
			}
		}
		if key := fmt.Sprint(under); !known[key] {
			known[key] = true
			sets = append(sets, under)
		}
	}
	return sets
}

func startsOf(events []profile.Event) []time.Time {
	var starts []time.Time
	followed := [][2]time.Time{}
	year := 9999
	for _, e := range events {
		if e.Start != nil {
			starts = append(starts, e.Start.Time)
			followed = append(followed, [2]time.Time{e.Start.AddDate(0, 0, -1), e.End.AddDate(0, 0, 1)})
			year = min(year, e.Start.UTC().Year())
		}
	}
	if year == 9999 {
		year = 2026
	}
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	followed = append(followed, [2]time.Time{first, first.AddDate(0, 0, 400)})
	for _, e := range events {
		for _, span := range followed {
			if e.Weekly != nil {
				starts = append(starts, weeklyStarts(e.Weekly, span[0], span[1])...)
			}
		}
	}
	return starts
}

func weeklyStarts(w *profile.Weekly, from, to time.Time) []time.Time {
	var starts []time.Time
	loc, _ := calendar.Location(w.TimeZone)
	for day := from.In(loc).AddDate(0, 0, -1); day.Before(to.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		if start, _, ok := occurrenceOn(w, loc, day); ok && !start.Before(from) && start.Before(to) {
			starts = append(starts, start)
		}
	}
	return starts
}

// occurrenceOn is the weekly event's of the day in which an instant lies.
func occurrenceOn(w *profile.Weekly, loc *time.Location, day time.Time) (start, end time.Time, ok bool) {
	y, m, d := day.Date()
	noon := time.Date(y, m, d, 12, 0, 0, 0, loc)
	if !slices.Contains(w.Days, noon.Weekday().String()[:3]) {
		return start, end, false
	}
	var from, to [2]int
	fmt.Sscanf(w.Start, "%d:%d", &from[0], &from[1])
	fmt.Sscanf(w.End, "%d:%d", &to[0], &to[1])
	if w.End <= w.Start {
		d2 := d + 1
		return time.Date(y, m, d, from[0], from[1], 0, 0, loc), time.Date(y, m, d2, to[0], to[1], 0, 0, loc), true
	}
	return time.Date(y, m, d, from[0], from[1], 0, 0, loc), time.Date(y, m, d, to[0], to[1], 0, 0, loc), true
}

func underWay(e profile.Event, at time.Time) bool {
	if e.Weekly == nil {
		return !at.Before(e.Start.Time) && at.Before(e.End.Time)
	}
	loc, _ := calendar.Location(e.Weekly.TimeZone)
	for back := range 3 {
		start, end, ok := occurrenceOn(e.Weekly, loc, at.In(loc).AddDate(0, 0, -back))
		if ok && !at.Before(start) && at.Before(end) {
			return true
		}
	}
	return false
}

// most is the largest combined multiplier of the sets that hold the event.
func (o *oracle) most(event int, m []*big.Rat) *big.Rat {
	most := ratio(1, 1)
	for _, set := range o.sets {
		if x := together(set, m); slices.Contains(set, event) && x.Cmp(most) > 0 {
			most = x
		}
	}
	return most
}

// up is n up to a multiple of z.
func up(n, z int64) int64 { return (n + z - 1) / z * z }

// lost is how many of n pods are gone after the loss.
func (o *oracle) lost(n int64) int64 {
	switch s := o.Spec.Istiod.Survive; s.Mode {
	case "zone":
		return (n + o.zones - 1) / o.zones
	case "pod":
		return 1
	default:
		return min(max(times(n, s.Share), 1), n-1)
	}
}

// fraction is f for a threshold.
func (o *oracle) fraction(theta int64) *big.Rat {
	if o.Spec.Istiod.Survive.Mode == "zone" {
		return ratio(1, o.zones)
	}
	n := max(2, (o.peakC+theta-1)/theta)
	return ratio(o.lost(n), n)
}

// nSafe is the connections that fill the headroom.
func (o *oracle) nSafe(endpoints int64) *big.Rat {
	i := o.Spec.Istiod
	return o.fill(new(big.Rat).Mul(&i.Headroom.Rat, &i.Resources.Memory.Rat), endpoints)
}

// fill is the connections at which a pod takes that much memory, found on the
// straight line between two numbers of connections: none and one, or, beyond the
// bend of the law of the push, the bend and one more.
func (o *oracle) fill(room *big.Rat, endpoints int64) *big.Rat {
	from := new(big.Rat)
	if bend := o.bend(endpoints); bend != nil && o.bytes(bend, endpoints).Cmp(room) < 0 {
		from = bend
	}
	step := ratio(1, 1<<40)
	low := o.bytes(from, endpoints)
	slope := new(big.Rat).Sub(o.bytes(new(big.Rat).Add(from, step), endpoints), low)
	slope.Quo(slope, step)
	more := new(big.Rat).Sub(room, low)
	return more.Add(more.Quo(more, slope), from)
}

// bytes is what a pod takes at its dearest.
func (o *oracle) bytes(connections *big.Rat, endpoints int64) *big.Rat {
	m, e := o.Spec.Istiod.MemoryModel, ratio(endpoints, 1)
	if m.Kind == "linear" {
		w := new(big.Rat).Mul(&m.BytesPerConnectionEndpoint.Rat, e)
		w.Mul(w.Add(w, &m.BytesPerConnection.Rat), connections)
		return w.Add(w, &m.Base.Rat)
	}
	rests := new(big.Rat).Mul(&m.BytesPerConnection.Rat, connections)
	rests.Add(rests, e.Mul(e, &m.BytesPerEndpoint.Rat))
	waits := connections
	if bend := o.bend(endpoints); bend != nil && bend.Cmp(waits) < 0 {
		waits = bend
	}
	buffers := new(big.Rat).Mul(waits, buffer(o.message(endpoints)))
	rests.Add(rests.Mul(rests, &m.HeapGrowth.Rat), buffers)
	return rests.Add(rests, &m.Base.Rat)
}

// bend is the connections from which no more messages wait; nil without one.
func (o *oracle) bend(endpoints int64) *big.Rat {
	waiting := o.Spec.Istiod.MemoryModel.BytesPerWaitingMessage
	if waiting == nil {
		return nil
	}
	return new(big.Rat).Quo(o.message(endpoints), &waiting.Rat)
}

func (o *oracle) message(endpoints int64) *big.Rat {
	m := o.Spec.Istiod.MemoryModel
	bytes := new(big.Rat).Mul(&m.VisibleShare.Rat, &m.MessageBytesPerEndpoint.Rat)
	return bytes.Mul(bytes, ratio(endpoints, 1))
}

// buffer is what gRPC takes to send a message.
func buffer(message *big.Rat) *big.Rat {
	size := message
	for _, kib := range []int64{1024, 32, 16, 4} {
		if pool := ratio(kib<<10, 1); message.Cmp(pool) <= 0 {
			size = pool
		}
	}
	if message.Cmp(ratio(1024, 1)) <= 0 {
		return message
	}
	return size
}

// hot is the fullest of m pods with mu connections each on average.
func hot(mu, m float64) float64 { return mu + math.Sqrt(2*mu*math.Log(m)) }

func hot99(mu, m float64) float64 { return mu + math.Sqrt(2*mu*(1-1/m)*math.Log(20*m)) }

// near is how far two numbers of the random spread may be apart and count as
// equal: it is the one thing that is not exact.
func near(x float64) float64 { return 2e-6 + 1e-9*math.Abs(x) }

func float(r *big.Rat) float64 {
	x, _ := r.Float64()
	return x
}

// memory is how much room is left in the fullest pod after the loss, at a
// threshold: the lesser of the two conditions, in connections.
func (o *oracle) memory(theta int64) float64 {
	return o.spare(ratio(theta, 1), o.fraction(theta), o.peakE)
}

// spare is how much room the fullest pod has after the loss, in connections, where
// each may be asked to carry so many.
func (o *oracle) spare(carried, lost *big.Rat, endpoints int64) float64 {
	stay := new(big.Rat).Sub(ratio(1, 1), lost)
	mean := new(big.Rat).Quo(new(big.Rat).Mul(ratio(11, 10), carried), stay)
	pods := ceiling(new(big.Rat).Quo(ratio(o.peakC, 1), carried))
	m := float64(max(2, times(pods, stay)))
	i := o.Spec.Istiod
	most := new(big.Rat).Mul(ratio(2, 1), &i.MemoryModel.Residual.Rat)
	most.Quo(&i.Resources.Memory.Rat, most.Add(most, ratio(1, 1)))
	return min(float(o.nSafe(endpoints))-hot(float(mean), m), float(o.fill(most, endpoints))-hot99(float(mean), m))
}

// reconnects reports θ·f/(1 − f) ≤ 30·A/1.10.
func (o *oracle) reconnects(theta int64) bool {
	rate := new(big.Rat).Quo(ratio(o.cpu, 1), &o.Spec.Istiod.ReconnectCost.Rat)
	if admitted := ratio(min(15+5*o.cpu, 100), 1); admitted.Cmp(rate) < 0 {
		rate = admitted
	}
	f := o.fraction(theta)
	back := new(big.Rat).Mul(ratio(theta, 1), f)
	back.Quo(back, new(big.Rat).Sub(ratio(1, 1), f))
	return back.Cmp(rate.Mul(rate, ratio(300, 11))) <= 0
}

// ages reports max(11·θ·c/cpu, 5.5·θ/(0.5·R)) ≤ T.
func (o *oracle) ages(theta int64, age time.Duration) bool {
	t := ratio(int64(age/time.Second), 1)
	spent := new(big.Rat).Mul(ratio(11*theta, o.cpu), &o.Spec.Istiod.ReconnectCost.Rat)
	return spent.Cmp(t) <= 0 && ratio(11*theta, min(15+5*o.cpu, 100)).Cmp(t) <= 0
}

// age is the largest connection age of five that rebalanceWithin allows.
func (o *oracle) age() time.Duration {
	longest := time.Duration(0)
	for _, minutes := range []time.Duration{5, 10, 15, 20, 30} {
		if age := minutes * time.Minute; 11*age <= 10*o.Spec.Istiod.RebalanceWithin.Duration {
			longest = age
		}
	}
	return longest
}

// controlPlane holds istiod's decisions, as far as they were made.
func (j *judge) controlPlane(o *oracle) {
	j.Helper()
	if j.plan.Istiod.Zones != o.zones {
		j.failf("istiod may use %d zones, want %d", j.plan.Istiod.Zones, o.zones)
	}
	theta, planned := j.whole("istiod.connectionThreshold")
	if !planned {
		if !j.plan.Findings.HasErrors() {
			j.failf("there is neither a threshold nor an error")
		}
		j.refusedThreshold(o)
		return
	}
	j.want("istiod.cpu", o.cpu)
	j.want("istiod.keepaliveMaxServerConnectionAge", short(o.age()))
	j.threshold(o, theta)
	j.weight(o, theta)
	least := j.replicas(o, theta)
	if _, ok := j.decided["istiod.prescale.lead."+first(j.profile.Spec.Events)]; ok {
		j.leads(o, least)
		j.triggers(o, theta)
	}
}

func first(events []profile.Event) string {
	if len(events) == 0 {
		return ""
	}
	return events[0].Name
}

// short is a duration in the largest whole unit.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0 && d > 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// refusedThreshold holds a refusal: no threshold from 20 up was safe.
func (j *judge) refusedThreshold(o *oracle) {
	j.Helper()
	if !slices.ContainsFunc(j.plan.Findings, func(f diag.Finding) bool { return f.ID == "plan/threshold-too-low" }) {
		return
	}
	for theta := int64(1); theta <= 20; theta++ {
		if o.memory(theta) < near(float64(theta)) || !o.reconnects(theta) || !o.ages(theta, o.age()) {
			return
		}
	}
	j.failf("a threshold of 20 is safe, and was refused")
}

// threshold holds θ: every threshold up to it is safe, the next is not, and it is
// a number that people remember.
func (j *judge) threshold(o *oracle, theta int64) {
	j.Helper()
	terms := j.terms("istiod.connectionThreshold")
	memory, reconnect, age := terms["memorySafe"], terms["reconnectSafe"], terms["ageSafe"]
	for _, bound := range []struct {
		name  string
		value int64
		holds func(theta int64) (yes, no bool)
	}{
		{"memorySafe", memory, func(x int64) (yes, no bool) {
			room := o.memory(x)
			return room > -near(float64(x)), room < near(float64(x))
		}},
		{"reconnectSafe", reconnect, func(x int64) (yes, no bool) { y := o.reconnects(x); return y, !y }},
		{"ageSafe", age, func(x int64) (yes, no bool) { y := o.ages(x, o.age()); return y, !y }},
	} {
		for x := int64(1); x <= bound.value; x += 1 + x/200 {
			if yes, _ := bound.holds(x); !yes {
				j.failf("%s is %d, and %d is not safe", bound.name, bound.value, x)
			}
		}
		if yes, _ := bound.holds(max(1, bound.value)); !yes && bound.value > 0 {
			j.failf("%s is %d, which is not safe", bound.name, bound.value)
		}
		if _, no := bound.holds(bound.value + 1); !no && bound.value < 20000 {
			j.failf("%s is %d, and %d is safe too", bound.name, bound.value, bound.value+1)
		}
	}
	most, step := min(memory, reconnect, age), int64(5)
	if most >= 200 {
		step = 10
	}
	if theta != most/step*step || theta < 20 {
		j.failf("threshold %d of at most %d", theta, most)
	}
}

// terms are the whole numbers of a derivation.
func (j *judge) terms(subject string) map[string]int64 {
	all := map[string]int64{}
	for _, t := range j.decided[subject].Terms {
		if t.Value != nil && t.Value.IsInt() {
			all[t.Name] = t.Value.Num().Int64()
		}
	}
	return all
}

// fewest holds F(C, E): n pods carry the connections, and fewer do not.
func (j *judge) fewest(name string, n, connections int64, nSafe *big.Rat) {
	j.Helper()
	limit := float(nSafe)
	if x := hot(float64(connections)/float64(n), float64(n)); x > limit+near(x) {
		j.failf("%s: %d pods of %d connections hold up to %v, of %v", name, n, connections, x, limit)
	}
	for _, fewer := range []int64{1, 2, n - 1} {
		if fewer < 1 || fewer >= n {
			continue
		}
		if x := hot(float64(connections)/float64(fewer), float64(fewer)); x < limit-near(x) {
			j.failf("%s: %d pods where %d are enough", name, n, fewer)
		}
	}
}

// replicas holds the replicas at every time, and returns the fewest.
func (j *judge) replicas(o *oracle, theta int64) int64 {
	j.Helper()
	i := j.profile.Spec.Istiod
	largest := int64(0)
	for e, event := range j.profile.Spec.Events {
		c := times(i.Load.Connections, o.most(e, o.connections))
		n := up((c+theta-1)/theta, o.zones)
		j.want("istiod.replicas.event."+event.Name, n)
		largest = max(largest, n)
	}
	terms := j.terms("istiod.replicas.min")
	surgeC, surgeE := times(i.Load.Connections, &i.UnplannedSurge.Rat), times(i.Load.Endpoints, &i.UnplannedSurge.Rat)
	j.fewest("surgeLeft", terms["surgeLeft"], surgeC, o.nSafe(surgeE))
	surge := terms["surge"]
	if surge < 2 || surge-o.lost(surge) < terms["surgeLeft"] || surge > 2 && surge-1-o.lost(surge-1) >= terms["surgeLeft"] {
		j.failf("%d pods before the loss, %d after it", surge, terms["surgeLeft"])
	}
	need := max(2, o.zones, j.asks(theta, i.Load.Connections, i.Load.Endpoints), surge)
	if i.HoldUnscaled {
		j.fewest("held", terms["held"], o.peakC, o.nSafe(o.peakE))
		need = max(need, terms["held"])
	}
	if i.Running.MinReplicas != nil && !i.AllowLowerFloor {
		need = max(need, *i.Running.MinReplicas)
	}
	least := up(need, o.zones)
	j.want("istiod.replicas.min", least)
	j.want("istiod.fallback.replicas", max(largest, least))
	j.want("istiod.replicas.max", up(ceiling(new(big.Rat).Mul(ratio(max(largest, least), 1), atLeast2(&i.UnplannedSurge.Rat))), o.zones))
	j.survives(o, theta, max(largest, least))
	f := o.fraction(theta)
	if tenth := ratio(1, 10); f.Cmp(tenth) > 0 {
		f = tenth
	}
	away := new(big.Rat).Mul(f, ratio(least, 1))
	j.want("istiod.podDisruptionBudget.maxUnavailable", max(1, new(big.Int).Div(away.Num(), away.Denom()).Int64()))
	return least
}

func atLeast2(r *big.Rat) *big.Rat {
	if two := ratio(2, 1); r.Cmp(two) < 0 {
		return two
	}
	return r
}

// survives holds the promise itself: at the worst moment, with the pods of then,
// the fullest pod after the loss stays within its headroom.
func (j *judge) survives(o *oracle, theta, n int64) {
	j.Helper()
	left := n - o.lost(n)
	if x := hot(float64(o.peakC)/float64(left), float64(left)); x > float(o.nSafe(o.peakE))+near(x) {
		j.failf("%d of %d pods are left at the worst moment, and the fullest holds %v connections of %v", left, n, x, float(o.nSafe(o.peakE)))
	}
}

// leads hold how long before each event its replicas are asked for, and the
// windows and triggers that follow.
func (j *judge) leads(o *oracle, least int64) {
	j.Helper()
	i := j.profile.Spec.Istiod
	window := max(time.Minute, 3*j.profile.Spec.Metrics.ScrapeInterval.Duration) + 15*time.Second
	for at, e := range j.profile.Spec.Events {
		n, _ := j.whole("istiod.replicas.event." + e.Name)
		lead := o.longestLead(at) + 5*o.age()/4 + i.PodReady.Duration + i.NodeReady.Duration + window
		lead += 15 * time.Second * time.Duration(1+doublings(ratio(n, least)))
		lead = (lead + time.Minute - 1) / time.Minute * time.Minute
		j.want("istiod.prescale.lead."+e.Name, short(lead))
		j.window("istiod", e, lead)
		if e.Weekly == nil {
			j.want("istiod.freeze."+e.Name, utc(e.Start.Add(-lead-10*o.age()))+"/"+utc(e.End.Time))
		}
	}
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func doublings(r *big.Rat) int64 {
	n := int64(0)
	for ratio(1<<n, 1).Cmp(r) < 0 {
		n++
	}
	return n
}

// window holds when replicas are asked for, and of a weekly event its days and
// its clock.
func (j *judge) window(owner string, e profile.Event, lead time.Duration) {
	j.Helper()
	subject := owner + ".prescale.window." + e.Name
	if e.Weekly == nil {
		j.want(subject, utc(e.Start.Add(-lead))+"/"+utc(e.End.Time))
		return
	}
	text, _ := j.decided[subject].Value.(string)
	if !strings.HasSuffix(text, " "+e.Weekly.TimeZone) {
		j.failf("%s is %s", subject, text)
	}
}

// triggers hold KEDA's triggers in their order: connections, weekly events as the
// profile lists them, dated ones by start and name.
func (j *judge) triggers(o *oracle, theta int64) {
	j.Helper()
	events := slices.Clone(j.profile.Spec.Events)
	slices.SortStableFunc(events, func(x, y profile.Event) int {
		if x.Weekly != nil || y.Weekly != nil {
			return cmp.Compare(boolText(x.Weekly == nil), boolText(y.Weekly == nil))
		}
		return cmp.Or(x.Start.Compare(y.Start.Time), cmp.Compare(x.Name, y.Name))
	})
	all := j.plan.Istiod.Triggers
	if len(all) != len(events)+1 || all[0].Threshold != theta {
		j.failf("triggers %+v", all)
	}
	j.connectionQuery(o, theta, all[0].Query)
	for i, e := range events {
		n, _ := j.whole("istiod.replicas.event." + e.Name)
		t := all[i+1]
		if t.Event != e.Name || t.Replicas != n {
			j.failf("trigger %d is %+v, want %s with %d", i+1, t, e.Name, n)
		}
		if e.Weekly != nil {
			j.cron(t, e.Weekly)
			continue
		}
		from, _, _ := strings.Cut(j.decided["istiod.prescale.window."+e.Name].Value.(string), "/")
		at, err := time.Parse(time.RFC3339, from)
		if want := fmt.Sprintf("vector(%d * (time() >= bool %d) * (time() < bool %d))", n, at.Unix(), e.End.Unix()); err != nil || t.Query != want || t.Threshold != 1 {
			j.failf("%s asks %s, want %s", e.Name, t.Query, want)
		}
	}
}

func boolText(b bool) string { return fmt.Sprint(b) }

// cron holds the end of a weekly trigger; FuzzCalendar holds its days.
func (j *judge) cron(t plan.Trigger, w *profile.Weekly) {
	j.Helper()
	var hour, minute int
	fmt.Sscanf(w.End, "%d:%d", &hour, &minute)
	if end := fmt.Sprintf("%d %d * * ", minute, hour%24); !strings.HasPrefix(t.End, end) || t.TimeZone != w.TimeZone || t.Query != "" {
		j.failf("trigger %+v, want its end at %s", t, end)
	}
}
