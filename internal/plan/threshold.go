package plan

import (
	"fmt"
	"math/big"
	"slices"
	"sort"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sizing"
)

// connectionThreshold decides θ, the connections that one pod may be asked to
// carry, and leaves the loss f behind for the decisions that follow.
func (b *builder) connectionThreshold() bool {
	if !b.modelHolds() {
		return false
	}
	b.limits = b.thresholdLimits()
	d := b.thresholdDerivation()
	memory := b.searchMemory(d)
	reconnect := sizing.Largest(b.limits.ReconnectHolds())
	d.found("reconnectSafe", reconnect, "connections", "the largest θ with θ·f/(1 − f) ≤ 30·A/1.10: every lost proxy is back 30 s after the dead endpoints are gone")
	age := sizing.Largest(b.limits.AgeHolds())
	d.found("ageSafe", age, "connections", "the largest θ with max(11·θ·c/cpu, 5.5·θ/(0.5·R)) ≤ T: the spread is restored in time for a tenth of the CPU")
	d.set("bound", "min(memorySafe, reconnectSafe, ageSafe)", "connections")
	b.threshold = d.whole("theta", "step(bound)", "connections")
	binds := map[int64]string{age: "age", reconnect: "reconnect", memory: "memory"}[min(memory, reconnect, age)]
	d.text("binds", binds)
	if b.threshold < 20 {
		b.tooLow(binds, min(memory, reconnect, age))
		return false
	}
	hot, share := b.hottest(d, "theta")
	b.decided("theta", b.threshold, "connections", "istiod.connectionThreshold")
	f, _ := find(d.terms, "f")
	b.terms["f"] = Term{Name: "f", Value: f.Value, From: "istiod.connectionThreshold"}
	b.decided("reconnectSafe", reconnect, "connections", "istiod.connectionThreshold")
	b.decided("ageSafe", age, "connections", "istiod.connectionThreshold")
	b.decide(d, Decision{
		Subject: "istiod.connectionThreshold", Value: b.threshold, Unit: "connections per istiod",
		Reason: fmt.Sprintf("after %s at %s connections and %s endpoints the fullest pod holds %s of %s connections, %s of %s; %s binds",
			b.lossText(), grouped(b.limits.Connections), grouped(b.terms["Ep"].Value.Num().Int64()), number(hot, 4),
			number(b.limits.NSafe(), 4), percent(share), b.plan.Istiod.Memory, binds),
		Source:  b.memory.source + ", balls into bins, istiod's admission limit",
		Running: b.runningThreshold(d.terms),
	}, "spec.istiod")
	b.judgeThreshold(binds)
	return true
}

func (b *builder) thresholdLimits() sizing.Threshold {
	t := b.terms
	cpu := t["cpu"].Value.Num().Int64()
	return sizing.Threshold{
		Loss: b.loss, Connections: t["Cp"].Value.Num().Int64(), Endpoints: t["Ep"].Value.Num().Int64(),
		Memory: b.memory.law, Limit: t["L"].Value, Headroom: t["h"].Value, Residual: t["rho"].Value,
		Cores: t["cpu"].Value, Cost: t["c"].Value, Age: t["T"].Value,
		Admission: big.NewRat(min(15+5*cpu, 100), 1),
	}
}

func (b *builder) thresholdDerivation() *derivation {
	d := b.from(slices.Concat([]string{"L", "h"}, b.memory.inputs, []string{"rho", "Cp", "Ep"})...)
	if b.loss.Mode == "zone" {
		d.input(b.terms["Z"])
	}
	if b.loss.Mode == "share" {
		d.input(b.terms["x"])
	}
	for _, name := range []string{"cpu", "c", "T"} {
		d.input(b.terms[name])
	}
	b.memory.set(d)
	d.set("R", "min(15 + 5*cpu, 100)", "streams/s")
	d.set("A", "min(R, cpu / c)", "reconnects/s")
	return d
}

// searchMemory finds the memory bound and notes what stops the next threshold.
func (b *builder) searchMemory(d *derivation) int64 {
	safe := sizing.Largest(b.limits.MemoryHolds())
	note := "the largest θ whose fullest survivor stays within NSafe, and at its 99th percentile with twice the residual within L"
	if safe < sizing.MaxThreshold {
		hot := sizing.Hot(b.limits.Mean(safe+1), b.limits.Left(safe+1))
		note += fmt.Sprintf("; at %d the fullest holds %s", safe+1, number(new(big.Rat).SetFloat64(hot), 4))
	}
	d.found("memorySafe", safe, "connections", note)
	return safe
}

// hottest adds the terms of the fullest pod after the loss at a threshold, and
// returns its connections and its share of the memory limit.
func (b *builder) hottest(d *derivation, theta string) (hot, share *big.Rat) {
	pods := fmt.Sprintf("ceil(Cp / %s)", theta)
	d.set("N", "max(2, "+pods+")", "pods")
	fraction := map[string]string{"zone": "1 / Z", "pod": "1 / N", "share": "min(max(ceil(x*N), 1), N - 1) / N"}
	d.set("f", fraction[b.loss.Mode], "")
	d.set("mean", "1.10 * "+theta+" / (1 - f)", "connections")
	d.set("m", "max(2, ceil((1 - f) * "+pods+"))", "pods")
	hot = d.set("hot", "hot(mean, m)", "connections")
	share = d.set("hotShare", "("+b.memory.used+") / L", "of L")
	return hot, share
}

func (b *builder) runningThreshold(terms []Term) *Running {
	runs := b.spec().Istiod.Running.ConnectionThreshold
	if runs == nil {
		return nil
	}
	d := &derivation{terms: terms[:len(terms):len(terms)]}
	for _, name := range []string{"N", "f", "mean", "m", "hot", "hotShare", "theta", "bound", "binds"} {
		d.terms = without(d.terms, name)
	}
	inputs := len(d.terms)
	d.input(Term{Name: "theta", Value: big.NewRat(*runs, 1), Unit: "connections", From: "spec.istiod.running.connectionThreshold"})
	hot, share := b.hottest(d, "theta")
	r := &Running{Value: *runs, Verdict: Safe, Terms: d.terms[inputs:]}
	memory, reconnect, age := b.limits.MemoryHolds()(*runs), b.limits.ReconnectHolds()(*runs), b.limits.AgeHolds()(*runs)
	switch {
	case !memory:
		r.Verdict = Unsafe
		b.runningUnsafe("istiod.connectionThreshold", *runs, fmt.Sprintf("after %s the hottest pod holds %s connections, %s of the memory limit, where %s are safe",
			b.lossText(), number(hot, 4), percent(share), number(b.limits.NSafe(), 4)), fmt.Sprint(b.threshold), "spec.istiod.running.connectionThreshold")
	case !reconnect || !age:
		r.Verdict = Unsafe
		b.runningUnsafe("istiod.connectionThreshold", *runs, "lost proxies need more than 30 s to come back, or the spread is not restored within the connection age",
			fmt.Sprint(b.threshold), "spec.istiod.running.connectionThreshold")
	case *runs == b.threshold:
		r.Verdict = Same
	}
	return r
}

func without(terms []Term, name string) []Term {
	var left []Term
	for _, t := range terms {
		if t.Name != name {
			left = append(left, t)
		}
	}
	return left
}

// binding is what may bind the threshold: the field to look at first, and what a
// low one then comes of.
var binding = map[string]struct{ field, low string }{
	"memory":    {"spec.istiod.resources.memory", "most of each pod's memory is its base"},
	"reconnect": {"spec.istiod.reconnectCost", "more proxies could not come back within 30 s of a loss"},
	"age":       {"spec.istiod.reconnectCost", "more proxies could not be spread again within a connection's age"},
}

// judgeThreshold warns of a threshold at which most of what a pod has serves no
// proxy.
func (b *builder) judgeThreshold(binds string) {
	if b.threshold >= 50 {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/threshold-low", Subject: "istiod.connectionThreshold",
		Message: fmt.Sprintf("connection threshold %d is below 50: %s", b.threshold, binding[binds].low),
		Hint:    b.roomierHint(),
	}, binding[binds].field)
}

func (b *builder) tooLow(binds string, bound int64) {
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/threshold-too-low", Subject: "istiod.connectionThreshold",
		Message: fmt.Sprintf("no safe connection threshold: %s allows %d connections a pod, fewer than 20", binds, bound),
		Hint:    b.roomierHint(),
	}, binding[binds].field)
}

// roomierHint names the memory limit at which the threshold would be 100, or
// what else stands in the way.
func (b *builder) roomierHint() string {
	const step, most = 64 << 20, 1 << 40
	reaches := func(limit int64) bool {
		at := b.limits
		at.Limit = big.NewRat(limit, 1)
		holds := at.MemoryHolds()
		return sizing.Largest(func(theta int64) bool { return theta <= 100 && holds(theta) }) == 100
	}
	if !b.limits.ReconnectHolds()(100) || !b.limits.AgeHolds()(100) || !reaches(most) {
		return "more memory does not help, reconnects bind: raise spec.istiod.resources.cpu, or lower spec.istiod.reconnectCost by measuring it"
	}
	high := int64(1 + sort.Search(most/step, func(i int) bool { return reaches(int64(i+1) * step) }))
	return fmt.Sprintf("with spec.istiod.resources.memory %dMi the threshold would be 100; scoping proxies with Sidecars lowers the cost of a connection, once measured", high*step>>20)
}

// modelHolds judges the memory model: whether it leaves room for connections,
// and whether it is used where it was fitted.
func (b *builder) modelHolds() bool {
	b.judgeModelAge()
	t := b.terms
	room := new(big.Rat).Mul(t["h"].Value, t["L"].Value)
	most := big.NewRat(b.mostEndpoints(), 1)
	base := b.memory.law.Peak(new(big.Rat), most)
	switch {
	case room.Cmp(base) <= 0:
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/no-memory-left", Subject: "istiod.connectionThreshold",
			Message: fmt.Sprintf("headroom × limit is %s bytes, not more than the base of %s: no memory is left for connections", number(room, 12), number(base, 12)),
			Hint:    "raise spec.istiod.resources.memory, or correct spec.istiod.memoryModel.base",
		}, "spec.istiod.resources.memory")
		return false
	case b.memory.law.Peak(big.NewRat(1, 1), most).Cmp(base) <= 0:
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/free-connections", Subject: "istiod.connectionThreshold",
			Message: "the memory model says that a connection costs nothing",
			Hint:    "give spec.istiod.memoryModel.bytesPerConnectionEndpoint or bytesPerConnection",
		}, "spec.istiod.memoryModel")
		return false
	}
	return b.judgeHeadroom() && b.judgeRange()
}

// mostEndpoints is the largest number of endpoints that any formula uses: of the
// worst moment, or of a surge that nobody planned.
func (b *builder) mostEndpoints() int64 {
	surge := sizing.CeilMul(b.terms["Er"].Value.Num().Int64(), b.terms["u"].Value)
	return max(b.terms["Ep"].Value.Num().Int64(), surge)
}

// judgeHeadroom keeps the headroom below the share of the limit at which Go's
// collector already works without pause.
func (b *builder) judgeHeadroom() bool {
	if minor(b.spec().Istio.Version) < 29 || b.terms["h"].Value.Cmp(big.NewRat(9, 10)) < 0 {
		return true
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/headroom-above-gomemlimit", Subject: "istiod.connectionThreshold",
		Message: fmt.Sprintf("headroom %s is not below 0.90, where Istio %s sets GOMEMLIMIT: the collector would run all the time", number(b.terms["h"].Value, 4), b.spec().Istio.Version),
		Hint:    "set spec.istiod.headroom to 0.85",
	}, "spec.istiod.headroom")
	return false
}

// judgeRange refuses to extrapolate the model beyond 1.5 times the endpoints it
// was fitted on, and warns beyond the range itself.
func (b *builder) judgeRange() bool {
	fitted := b.spec().Istiod.MemoryModel.FittedEndpoints
	if fitted == nil {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/model-range-unknown", Subject: "istiod.connectionThreshold",
			Message: "the memory model does not say on how many endpoints it was fitted: nothing guards against extrapolation",
			Hint:    "give spec.istiod.memoryModel.fittedEndpoints {min, max}",
		}, "spec.istiod.memoryModel")
		return true
	}
	peak, most := b.terms["Ep"].Value.Num().Int64(), b.mostEndpoints()
	switch {
	case 2*peak > 3*fitted.Max:
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/extrapolation", Subject: "istiod.connectionThreshold",
			Message: fmt.Sprintf("%s endpoints at the worst moment are beyond 1.5 × the %s on which the memory model was fitted", grouped(peak), grouped(fitted.Max)),
			Hint:    "fit the model on a busier day, or on a cluster with as many endpoints",
		}, "spec.istiod.memoryModel.fittedEndpoints")
		return false
	case most > fitted.Max:
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/beyond-fit", Subject: "istiod.connectionThreshold",
			Message: fmt.Sprintf("formulas use the memory model at %s endpoints, beyond the %s on which it was fitted", grouped(most), grouped(fitted.Max)),
			Hint:    "fit the model again when the cluster has had that many",
		}, "spec.istiod.memoryModel.fittedEndpoints")
	}
	return true
}
