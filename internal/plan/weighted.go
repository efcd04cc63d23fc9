package plan

import (
	"fmt"
	"math/big"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/sizing"
)

// connectionBudget decides what a pod may carry in connections × endpoints, where
// the connection trigger weighs the one by the other (docs/weighted.md).
func (b *builder) connectionBudget() bool {
	if b.spec().Istiod.Scaling != "weighted" {
		return true
	}
	names := []string{"theta", "Er", "Ep", "reconnectSafe", "ageSafe"}
	own, least := "0", "Ep"
	if b.weighs() {
		names = append([]string{"p", "k"}, names...)
		own, least = "ceil(p / k)", "max(Er, ceil(budget / min(reconnectSafe, ageSafe)) - own)"
	}
	d := b.from(names...)
	w := &sizing.Weight{Peak: b.terms["Ep"].Value.Num().Int64()}
	w.Own = d.whole("own", own, "endpoints")
	budget := d.whole("budget", "theta*(Ep + own)", "connections × endpoints")
	w.Least = d.whole("least", least, "endpoints")
	rest := d.whole("thetaRest", "floor(budget / (least + own))", "connections")
	b.weight = w
	b.decided("own", w.Own, "endpoints", "istiod.connectionBudget")
	b.decided("least", w.Least, "endpoints", "istiod.connectionBudget")
	b.decided("budget", budget, "connections × endpoints", "istiod.connectionBudget")
	b.decide(d, Decision{
		Subject: "istiod.connectionBudget", Value: budget, Unit: "connections × endpoints per istiod",
		Reason: fmt.Sprintf("%d connections a pod at the %s endpoints of the worst moment, %d at %s or fewer; while nothing says how many there are, as at the worst moment",
			b.threshold, grouped(w.Peak), rest, grouped(w.Least)),
		Source: b.memory.source + "; reconnects and the connection age bind whatever the endpoints",
	}, "spec.istiod.scaling")
	return true
}

// weighs reports whether the memory model says what an endpoint weighs: a line,
// and not so flat that all endpoints together are less than a hundredth of it.
// Otherwise a connection weighs at every time what it weighs at the worst moment.
func (b *builder) weighs() bool {
	k, linear := b.terms["k"]
	if !linear {
		return false
	}
	all := new(big.Rat).Mul(k.Value, b.terms["Ep"].Value)
	return b.terms["p"].Value.Cmp(all.Mul(all, big.NewRat(100, 1))) <= 0 && all.Sign() > 0
}

// asked is the pods that the connection trigger asks for, before they are rounded
// up to a multiple of the zones.
func (b *builder) asked(connections, endpoints int64) int64 {
	if b.weight == nil {
		return sizing.CeilDiv(connections, b.threshold)
	}
	return b.weight.Asks(connections, endpoints, b.threshold)
}

// endpointsNow is the query of what a connection weighs: the endpoints that there
// are, and what it costs by itself. No answer, and none that is above 0, leaves it
// as heavy as at the worst moment.
func (b *builder) endpointsNow() string {
	w := b.weight
	now := fmt.Sprintf("(clamp_min(max(%s) > 0, %d) or vector(%d))", b.spec().Metrics.Endpoints, w.Least, w.Peak)
	if w.Own > 0 {
		return fmt.Sprintf("(%s + %d)", now, w.Own)
	}
	return now
}

// judgeWeighted warns where what always runs is no less than the static trigger
// would ask for at rest, and where it is too little for an event by itself.
func (b *builder) judgeWeighted(binds string) {
	if b.weight == nil {
		return
	}
	static := sizing.UpTo(sizing.CeilDiv(b.spec().Istiod.Load.Connections, b.threshold), b.zones)
	f := diag.Finding{Severity: diag.Warning, Subject: "istiod.connectionBudget"}
	switch {
	case b.min >= static:
		f.ID, f.Hint = "plan/weighted-saves-nothing", b.weightedHint(binds)
		f.Message = fmt.Sprintf("scaling weighted saves nothing at rest: %d pods always run, and scaling static would ask for %d", b.min, static)
	case !b.spec().Istiod.HoldUnscaled:
		f.ID = "plan/weighted-unannounced"
		f.Message = fmt.Sprintf("%d pods run at rest where scaling static has %d: an event whose pre-scale trigger does not fire climbs on these", b.min, static)
		f.Hint = "see what it does: meshgen simulate --fault no-prescale; spec.istiod.holdUnscaled: true runs enough for it at every time"
	default:
		return
	}
	b.find(f, "spec.istiod.scaling")
}

// weightedHint is what would have to change so that fewer pods run at rest.
func (b *builder) weightedHint(binds string) string {
	hint, ok := map[string]string{
		"running": "today's floor binds: set spec.istiod.allowLowerFloor: true when the plan has been through an event",
		"held":    "the largest event without scaling binds: set spec.istiod.holdUnscaled: false to rely on the pre-scale triggers and the fallback",
		"surge":   "a surge nobody planned binds (spec.istiod.unplannedSurge): the mesh at rest is too small to save pods",
	}[binds]
	switch {
	case ok:
		return hint
	case !b.weighs():
		return "the memory model has no line over endpoints: leave scaling at static"
	case b.weight.Least > b.terms["Er"].Value.Num().Int64():
		return "reconnects or the connection age bind, whatever the endpoints: leave scaling at static, or measure spec.istiod.reconnectCost"
	}
	return "the calendar has no event with more endpoints than rest: leave scaling at static"
}
