package plan

import (
	"fmt"
	"math/big"
)

// tally adds up what all listed proxies see: with every scope written, and as it
// is written.
type tally struct {
	listed          int64
	proxies         int64
	scopes, written int64
	seen, seenNow   big.Int // endpoints, of each proxy
}

// add takes a scope in. The copy of a scope that a canary tries has its proxies
// among those of the scope.
func (t *tally) add(s scoped) {
	if s.copied {
		return
	}
	t.scopes++
	within := s.tried
	if s.Written() {
		within = s.Proxies
		t.written++
	}
	t.proxies += s.Proxies
	see(&t.seen, s.Proxies, s.Visible)
	see(&t.seenNow, within, s.Visible)
	see(&t.seenNow, s.Proxies-within, t.listed)
}

// addUnscoped takes in proxies that no scope selects.
func (t *tally) addUnscoped(proxies int64) {
	t.proxies += proxies
	see(&t.seen, proxies, t.listed)
	see(&t.seenNow, proxies, t.listed)
}

// see adds what some proxies see to a sum.
func see(sum *big.Int, proxies, endpoints int64) {
	sum.Add(sum, new(big.Int).Mul(big.NewInt(proxies), big.NewInt(endpoints)))
}

// visibleEndpoints is what a proxy sees on average with every scope written. It
// is shown and credited nowhere: what scopes save is in a new fit of the model.
func (b *builder) visibleEndpoints(t *tally) {
	if t.proxies == 0 || t.listed == 0 {
		return
	}
	d := &derivation{}
	d.input(Term{Name: "listed", Value: big.NewRat(t.listed, 1), Unit: "endpoints", From: "spec.services"})
	d.input(Term{Name: "proxies", Value: big.NewRat(t.proxies, 1), Unit: "proxies", From: "spec.services"})
	d.found("scopes", t.scopes, "scopes", "of namespaces or workloads, by their level")
	d.found("written", t.written, "scopes", "those that are live, or tried")
	d.input(Term{Name: "seen", Value: new(big.Rat).SetInt(&t.seen), Unit: "endpoints", Note: "proxies × visible endpoints, over all scopes"})
	d.input(Term{Name: "seenNow", Value: new(big.Rat).SetInt(&t.seenNow), Unit: "endpoints", Note: "the same with the scopes that are written; other proxies see all that is listed"})
	mean := d.set("EVisible", "seen / proxies", "endpoints")
	now := d.set("ENow", "seenNow / proxies", "endpoints")
	d.set("saved", "1 - EVisible / listed", "of what is listed")
	value := d.whole("visible", "ceil(EVisible)", "endpoints")
	b.decide(d, Decision{
		Subject: "sidecar.visibleEndpoints", Value: value, Unit: "endpoints a proxy",
		Reason: fmt.Sprintf("with every scope written a proxy sees %s of %s listed endpoints on average; as it is written, %s",
			number(mean, 4), grouped(t.listed), number(now, 4)),
		Source: "Istio pushes an endpoint only to proxies whose scope has its Service; no formula counts on it before the memory model is fitted again",
	}, "spec.namespaces")
}
