package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sizing"
)

// istiod makes the control plane's decisions in the order in which they build
// on one another. Where one has no safe value, those after it are left out.
func (b *builder) istiod() {
	b.cpu()
	steps := []func() bool{b.scaleUp, b.connectionAge, b.connectionThreshold, b.connectionBudget, b.replicas, b.calendarTriggers}
	for _, step := range steps {
		if !step() {
			return
		}
	}
	b.rollout()
}

func (b *builder) cpu() {
	d := b.from("cpuLimit")
	cores := d.whole("cpu", "max(2, ceil(cpuLimit))", "cores")
	b.decided("cpu", cores, "cores", "istiod.cpu")
	b.decide(d, Decision{
		Subject: "istiod.cpu", Value: cores, Unit: "cores",
		Reason: fmt.Sprintf("%d whole cores: GOMAXPROCS is the limit rounded up, so a fraction is throttled", cores),
		Source: "Istio sets GOMAXPROCS from limits.cpu (PR istio#46253)",
	}, "spec.istiod.resources.cpu")
	limit := b.spec().Istiod.Resources.CPU
	if limit.Cmp(big.NewRat(cores, 1)) != 0 {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/cpu-raised", Subject: "istiod.cpu",
			Message: fmt.Sprintf("CPU limit %s is not a whole number of at least 2 cores; %d is written", limit.Text, cores),
			Hint:    fmt.Sprintf("set spec.istiod.resources.cpu to %d, so that the profile says what runs", cores),
		}, "spec.istiod.resources.cpu")
	}
}

// scaleUp is W: a rollout counts its pods twice for as long as samples live,
// and the HPA must not act on that.
func (b *builder) scaleUp() bool {
	d := b.from("scrapeInterval")
	w := d.set("W", "max(60, 3*scrapeInterval) + 15", "s")
	if w.Cmp(big.NewRat(longestWindow, 1)) > 0 {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/scrapes-too-rare", Subject: "istiod.scaleUp.stabilizationWindow",
			Message: fmt.Sprintf("with a scrape every %s the scale-up window would be %s s, and an HPA takes at most %d", durationText(b.spec().Metrics.ScrapeInterval.Duration), number(w, 6), longestWindow),
			Hint:    "scrape istiod at least every 1195s; the usual interval is 15s to 60s",
		}, "spec.metrics.scrapeInterval")
		return false
	}
	b.window = time.Duration(sizing.Ceil(w).Int64()) * time.Second
	b.decided("W", int64(b.window/time.Second), "s", "istiod.scaleUp.stabilizationWindow")
	b.decide(d, Decision{
		Subject: "istiod.scaleUp.stabilizationWindow", Value: durationText(b.window), Unit: "duration",
		Reason: "a sample of a pod that has gone is counted for up to 3 scrapes: a shorter window would scale on a rollout's doubles",
		Source: "Prometheus range vectors; the HPA's stabilizationWindowSeconds",
	}, "spec.metrics.scrapeInterval")
	return true
}

// longestWindow is the most seconds that the API server takes for an HPA's
// stabilizationWindowSeconds.
const longestWindow = 3600

func (b *builder) connectionAge() bool {
	d := b.from("rebalanceWithin")
	d.set("limit", "min(rebalanceWithin / 1.1, 1800)", "s")
	b.age = time.Duration(d.whole("T", "age(limit)", "s")) * time.Second
	if b.age == 0 {
		within := durationText(b.spec().Istiod.RebalanceWithin.Duration)
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/rebalance-too-short", Subject: "istiod.keepaliveMaxServerConnectionAge",
			Message: fmt.Sprintf("rebalanceWithin %s is below 5m30s: the spread is restored after 1.1 connection ages, and the shortest age is 5m", within),
			Hint:    "set spec.istiod.rebalanceWithin to at least 5m30s; the default is 20m",
		}, "spec.istiod.rebalanceWithin")
		return false
	}
	b.decided("T", int64(b.age/time.Second), "s", "istiod.keepaliveMaxServerConnectionAge")
	b.decide(d, Decision{
		Subject: "istiod.keepaliveMaxServerConnectionAge", Value: durationText(b.age), Unit: "duration",
		Reason: fmt.Sprintf("connections are laid anew within 1.1 × %s, inside the %s that rebalanceWithin allows",
			durationText(b.age), durationText(b.spec().Istiod.RebalanceWithin.Duration)),
		Source:  "gRPC closes a connection at its maximum age ± 10 % (MaxConnectionAge)",
		Running: b.runningAge(d.terms),
	}, "spec.istiod.rebalanceWithin")
	return true
}

func (b *builder) runningAge(terms []Term) *Running {
	runs := b.spec().Istiod.Running.KeepaliveMaxServerConnectionAge
	if runs == nil {
		return nil
	}
	r := &Running{Value: durationText(runs.Duration), Verdict: Safe, Terms: []Term{
		{Name: "T", Value: seconds(runs.Duration), Unit: "s"},
	}}
	limit, _ := find(terms, "limit")
	balanced := new(big.Rat).Mul(seconds(runs.Duration), sizing.Tolerance)
	switch {
	case runs.Duration <= 0 || seconds(runs.Duration).Cmp(limit.Value) > 0:
		r.Verdict = Unsafe
		b.runningUnsafe("istiod.keepaliveMaxServerConnectionAge", r.Value,
			fmt.Sprintf("skew clears in %s, later than the %s that rebalanceWithin allows",
				durationText(upToMinute(balanced)), durationText(b.spec().Istiod.RebalanceWithin.Duration)),
			durationText(b.age), "spec.istiod.running.keepaliveMaxServerConnectionAge")
	case runs.Duration == b.age:
		r.Verdict = Same
	}
	return r
}

// runningUnsafe is a warning: what the cluster runs today is unsafe, and the
// output repairs it. Planned is empty where it deletes it.
func (b *builder) runningUnsafe(subject string, value any, why, planned, path string) {
	hint := "applying the plan sets it to " + planned
	if planned == "" {
		hint = "applying the plan deletes it"
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/running-unsafe", Subject: subject,
		Message: fmt.Sprintf("%s runs at %v: %s", subject, value, why),
		Hint:    hint,
	}, path)
}

// replicas decides the replicas at every time, and the budget that goes with them.
func (b *builder) replicas() bool {
	for i := range b.events {
		b.eventReplicas(i)
	}
	b.minReplicas()
	b.judgeEvents()
	b.maxReplicas()
	b.fallback()
	b.budget()
	return true
}

func (b *builder) eventReplicas(i int) {
	e := &b.events[i]
	d := b.from("Cr", "theta", "Z")
	m := b.eventTerm("m", i, b.connections, e.path)
	d.input(m)
	c := d.whole("C", "ceil(Cr * m)", "connections")
	e.replicas = d.whole("replicas", "upTo(ceil(C / theta), Z)", "replicas")
	b.largest = max(b.largest, e.replicas)
	b.decide(d, Decision{
		Subject: "istiod.replicas.event." + e.Name, Value: e.replicas, Unit: "replicas",
		Reason: fmt.Sprintf("%s connections at %d a pod, up to a multiple of %s", grouped(c), b.threshold, plural(b.zones, "zone")) + overlapText(m),
		Source: "the HPA takes the largest of its triggers, so each must be enough alone",
	}, e.path)
	if e.replicas > 200 {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/many-replicas", Subject: "istiod.replicas.event." + e.Name,
			Message: fmt.Sprintf("event %s asks for %d istiod pods, more than 200", e.Name, e.replicas),
			Hint:    b.roomierHint(),
		}, e.path)
	}
}

// overlapText says that a multiplier is that of several events.
func overlapText(m Term) string {
	if m.Note == "" {
		return ""
	}
	_, sum, _ := strings.Cut(m.Note, ", ")
	return "; m = " + sum
}

func (b *builder) minReplicas() {
	i := b.spec().Istiod
	names := slices.Concat([]string{"Cr", "Er", "Cp", "Ep", "theta", "Z", "L", "h"}, b.memory.inputs, []string{"u"})
	before := map[string]string{"zone": "beforeZoneLoss(surgeLeft, Z)", "pod": "beforePodLoss(surgeLeft)", "share": "beforeShareLoss(surgeLeft, x)"}
	if b.loss.Mode == "share" {
		names = append(names, "x")
	}
	rest := "ceil(Cr / theta)"
	if b.weight != nil {
		names = append(names, "own", "least", "budget")
		rest = "ceil(Cr*(least + own) / budget)"
	}
	d := b.from(names...)
	need := "max(2, Z, rest, surge"
	d.set("rest", rest, "replicas")
	d.set("Cu", "ceil(u * Cr)", "connections")
	d.set("Eu", "ceil(u * Er)", "endpoints")
	d.set("surgeLeft", "fewest(Cu, "+b.memory.at("Eu")+")", "replicas")
	d.set("surge", before[b.loss.Mode], "replicas")
	if i.HoldUnscaled {
		d.set("held", "fewest(Cp, "+b.memory.at("Ep")+")", "replicas")
		need += ", held"
	}
	computed := d.whole("need", "upTo("+need+"), Z)", "replicas")
	floor := "need"
	if runs := i.Running.MinReplicas; runs != nil && !i.AllowLowerFloor {
		d.input(Term{Name: "running", Value: big.NewRat(*runs, 1), Unit: "replicas", From: "spec.istiod.running.minReplicas"})
		floor = "upTo(max(need, running), Z)"
	}
	b.min = d.whole("min", floor, "replicas")
	binds := largestTerm(d.terms, "rest", "surge", "held", "running")
	d.text("binds", binds)
	if b.loss.Mode != "zone" {
		d.input(Term{Name: "survived", Value: b.survived(), Unit: "× rest", Note: "the largest load, in tenths of rest, that is survived with the loss at the pods that then run"})
	}
	b.decided("Nmin", b.min, "replicas", "istiod.replicas.min")
	b.decide(d, Decision{
		Subject: "istiod.replicas.min", Value: b.min, Unit: "replicas",
		Reason: b.minReason(d.terms, binds), Source: "the largest of what rest, an unplanned surge, an event without scaling and today's floor need",
		Running: b.runningMin(computed),
	}, "spec.istiod")
	b.judgeHeld(d.terms)
	b.judgeWeighted(binds)
}

// survived is the largest multiple of rest, in tenths and at most the larger of
// the worst moment and the unplanned surge (and 100), up to which the pods that
// then run survive the loss: between the surge and the events nothing else
// promises it.
func (b *builder) survived() *big.Rat {
	rest, most := b.spec().Istiod.Load, maxRat(1, b.terms["u"].Value)
	if peak := big.NewRat(b.limits.Connections, rest.Connections); peak.Cmp(most) > 0 {
		most = peak
	}
	held := new(big.Rat)
	for tenths := int64(10); tenths <= 1000 && big.NewRat(tenths, 10).Cmp(most) <= 0; tenths++ {
		m := big.NewRat(tenths, 10)
		c, e := sizing.CeilMul(rest.Connections, m), sizing.CeilMul(rest.Endpoints, m)
		n := max(b.min, sizing.UpTo(b.asked(c, e), b.zones))
		safe := b.nSafe(e)
		if safe.Sign() <= 0 || n-b.loss.Lost(n) < sizing.Fewest(c, safe) {
			break
		}
		held = m
	}
	return held
}

// nSafe is the connections that one pod may hold at that many endpoints.
func (b *builder) nSafe(endpoints int64) *big.Rat {
	at := b.limits
	at.Endpoints = endpoints
	return at.NSafe()
}

func (b *builder) minReason(terms []Term, binds string) string {
	t, _ := find(terms, binds)
	n := number(t.Value, 12)
	return map[string]string{
		"rest":    "the load at rest needs " + n,
		"surge":   "a surge nobody planned, with " + b.lossText() + ", needs " + n,
		"held":    "the largest event, should nothing scale, needs " + n,
		"running": "today's floor is " + n + ", and the first change takes no margin away",
	}[binds]
}

// largestTerm is the first of the named terms that none exceeds.
func largestTerm(terms []Term, names ...string) string {
	best := ""
	var most *big.Rat
	for _, name := range names {
		t, ok := find(terms, name)
		if ok && (most == nil || t.Value.Cmp(most) > 0) {
			best, most = name, t.Value
		}
	}
	return best
}

func (b *builder) runningMin(need int64) *Running {
	runs := b.spec().Istiod.Running.MinReplicas
	if runs == nil {
		return nil
	}
	r := &Running{Value: *runs, Verdict: Safe, Terms: []Term{{Name: "need", Value: big.NewRat(need, 1), Unit: "replicas"}}}
	switch {
	case *runs < need:
		r.Verdict = Unsafe
		b.runningUnsafe("istiod.replicas.min", *runs, fmt.Sprintf("%d are needed", need), fmt.Sprint(b.min), "spec.istiod.running.minReplicas")
	case *runs == b.min:
		r.Verdict = Same
	}
	return r
}

// judgeHeld says what it costs to survive the largest event without scaling,
// where that is more than twice what anything else asks for.
func (b *builder) judgeHeld(terms []Term) {
	held, ok := find(terms, "held")
	if !ok {
		return
	}
	other := max(2, b.zones)
	for _, name := range []string{"rest", "surge", "running"} {
		if t, ok := find(terms, name); ok {
			other = max(other, t.Value.Num().Int64())
		}
	}
	if held.Value.Cmp(big.NewRat(2*other, 1)) <= 0 {
		return
	}
	pods := b.min - sizing.UpTo(other, b.zones)
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/held-for-events", Subject: "istiod.replicas.min",
		Message: fmt.Sprintf("surviving the largest event without scaling holds %d pods more than anything else asks for: %s pod-hours a year", pods, grouped(pods*24*365)),
		Hint:    "set spec.istiod.holdUnscaled: false to rely on the pre-scale triggers and the fallback instead",
	}, "spec.istiod.holdUnscaled")
}

func (b *builder) judgeEvents() {
	for _, e := range b.events {
		if 10*e.replicas > 11*b.min {
			continue
		}
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/event-below-minimum", Subject: "istiod.replicas.event." + e.Name,
			Message: fmt.Sprintf("event %s asks for %d istiod pods, not more than 1.1 × the %d that always run: its trigger changes nothing", e.Name, e.replicas, b.min),
			Hint:    "the trigger stays, so that it counts when the minimum falls; delete the event if nothing else needs it",
		}, e.path)
	}
}

func (b *builder) maxReplicas() {
	d := b.from("Nmin", "Z", "u")
	d.input(Term{Name: "Nevent", Value: big.NewRat(b.largest, 1), Unit: "replicas", Note: "the most that any event asks for"})
	value := d.whole("max", "upTo(ceil(max(2, u) * max(Nevent, Nmin)), Z)", "replicas")
	b.decide(d, Decision{
		Subject: "istiod.replicas.max", Value: value, Unit: "replicas",
		Reason:  fmt.Sprintf("%s × the most that is planned for (%d): events came larger than planned", number(maxRat(2, b.terms["u"].Value), 4), max(b.largest, b.min)),
		Source:  "a ceiling that is hit is an outage; a ceiling that is never hit costs nothing",
		Running: b.runningMax(),
	}, "spec.istiod")
}

func maxRat(n int64, r *big.Rat) *big.Rat {
	if least := big.NewRat(n, 1); r.Cmp(least) < 0 {
		return least
	}
	return r
}

func (b *builder) runningMax() *Running {
	runs := b.spec().Istiod.Running.MaxReplicas
	if runs == nil {
		return nil
	}
	need := max(b.largest, b.min)
	r := &Running{Value: *runs, Verdict: Safe, Terms: []Term{{Name: "need", Value: big.NewRat(need, 1), Unit: "replicas"}}}
	planned := sizing.UpTo(sizing.CeilMul(need, maxRat(2, b.terms["u"].Value)), b.zones)
	switch {
	case *runs < need:
		r.Verdict = Unsafe
		b.runningUnsafe("istiod.replicas.max", *runs, fmt.Sprintf("the plan needs up to %d", need), fmt.Sprint(planned), "spec.istiod.running.maxReplicas")
	case *runs == planned:
		r.Verdict = Same
	}
	return r
}

func (b *builder) fallback() {
	d := b.from("Nmin")
	d.input(Term{Name: "Nevent", Value: big.NewRat(b.largest, 1), Unit: "replicas", Note: "the most that any event asks for"})
	value := d.whole("fallback", "max(Nevent, Nmin)", "replicas")
	b.decide(d, Decision{
		Subject: "istiod.fallback.replicas", Value: value, Unit: "replicas",
		Reason: "with Prometheus down the largest event is still met, and nothing is scaled in",
		Source: "KEDA fallback with behavior currentReplicasIfHigher",
	}, "spec.istiod")
}

func (b *builder) budget() {
	d := b.from("Nmin", "f")
	value := d.whole("maxUnavailable", "max(1, floor(min(0.10, f) * Nmin))", "pods")
	b.decide(d, Decision{
		Subject: "istiod.podDisruptionBudget.maxUnavailable", Value: value, Unit: "pods",
		Reason: fmt.Sprintf("drains take at most a tenth of the %d pods at once, less than the loss that is survived", b.min),
		Source: "the chart's own budget allows all but one pod to be evicted (istio#12602)",
	}, "spec.istiod.survive")
}

// rollout decides how pods are replaced and where they stand.
func (b *builder) rollout() {
	b.decide(&derivation{}, Decision{
		Subject: "istiod.rollout.maxSurge", Value: "25%", Unit: "share of the pods",
		Reason: "a rollout adds a quarter of the pods at a time and takes none away first; the chart's 100 % doubles them",
		Source: "every replaced pod drops its connections at one instant, which is a reconnect wave",
	}, "spec.istiod")
	zone, why := "ScheduleAnyway", "zones are spread over as far as there is room"
	if b.loss.Mode == "zone" {
		zone, why = "DoNotSchedule", "the threshold relies on a zone holding no more than its share of the pods"
	}
	b.decide(b.from("Z"), Decision{
		Subject: "istiod.topologySpreadConstraints",
		Value:   []string{"topology.kubernetes.io/zone " + zone + " 1", "kubernetes.io/hostname ScheduleAnyway 1"},
		Unit:    "topologyKey whenUnsatisfiable maxSkew",
		Reason:  why, Source: "Kubernetes topology spread constraints, nodeTaintsPolicy: Honor",
	}, "spec.istiod.survive")
	b.adoption()
}

func (b *builder) adoption() {
	if keeps := b.spec().Istiod.Running.ReplicasInManifest; keeps != nil && *keeps {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/replicas-in-manifest", Subject: b.plan.Istiod.Deployment,
			Message: "the manifest that runs today has spec.replicas: dropping it at once resets istiod to 1 pod",
			Hint:    "adopt in the two steps that PLAN.md gives: first whoever applies lets go of the field, then it is dropped",
		}, "spec.istiod.running.replicasInManifest")
	}
}
