package plan_test

import (
	"fmt"
	"strings"
)

// asks is the pods that the connection trigger asks for: connections over the
// threshold, or connections × endpoints over the budget.
func (j *judge) asks(theta, connections, endpoints int64) int64 {
	if j.profile.Spec.Istiod.Scaling != "weighted" {
		return (connections + theta - 1) / theta
	}
	t := j.terms("istiod.connectionBudget")
	carries := ratio(connections, 1)
	carries.Mul(carries, ratio(max(endpoints, t["least"])+t["own"], t["budget"]))
	return ceiling(carries)
}

// weight holds the budget: what the trigger asks for is never less than a static
// one at the worst moment and without an answer on endpoints, and at any number of
// endpoints up to that moment's every condition of the threshold holds for what a
// pod may then carry.
func (j *judge) weight(o *oracle, theta int64) {
	j.Helper()
	budget, weighted := j.whole("istiod.connectionBudget")
	if weighted != (j.profile.Spec.Istiod.Scaling == "weighted") {
		j.failf("a budget is decided: %t", weighted)
	}
	if !weighted {
		return
	}
	t, bounds := j.terms("istiod.connectionBudget"), j.terms("istiod.connectionThreshold")
	if budget != theta*(o.peakE+t["own"]) || t["least"] < min(j.profile.Spec.Istiod.Load.Endpoints, o.peakE) || t["least"] > o.peakE {
		j.failf("a budget of %d at a threshold of %d, at least %d of %d endpoints", budget, theta, t["least"], o.peakE)
	}
	for _, connections := range []int64{1, theta, theta + 1, o.peakC / 2, o.peakC, 3 * o.peakC} {
		if got, static := j.asks(theta, connections, o.peakE), (connections+theta-1)/theta; got != static {
			j.failf("%d pods are asked for at %d connections of the worst moment, %d without weights", got, connections, static)
		}
	}
	last := int64(0)
	for step := range int64(101) {
		endpoints := max(1, step*o.peakE/100)
		carried := ratio(budget, max(endpoints, t["least"])+t["own"])
		if cap := ratio(min(bounds["reconnectSafe"], bounds["ageSafe"]), 1); carried.Cmp(cap) > 0 {
			j.failf("at %d endpoints a pod carries %s connections, more than the %s that come back in time", endpoints, carried.RatString(), cap.RatString())
		}
		if room := o.spare(carried, o.fraction(theta), endpoints); room < -near(float(carried)) {
			j.failf("at %d endpoints a pod carries %s connections, %v more than are safe after the loss", endpoints, carried.RatString(), -room)
		}
		pods := j.asks(theta, o.peakC, endpoints)
		if pods < last {
			j.failf("%d pods are asked for at %d endpoints, after %d at fewer", pods, endpoints, last)
		}
		last = pods
	}
}

// connectionQuery holds what Prometheus is asked for: connections, by endpoints
// where they weigh, in whole pods of every zone where one of them may be lost.
func (j *judge) connectionQuery(o *oracle, theta int64, query string) {
	j.Helper()
	step, zone := o.zones*theta, j.profile.Spec.Istiod.Survive.Mode == "zone"
	prefix, suffix := "sum(max by", ")))"
	if j.profile.Spec.Istiod.Scaling == "weighted" {
		t := j.terms("istiod.connectionBudget")
		prefix, suffix = "ceil(", fmt.Sprintf(" / %d)", o.peakE+t["own"])
		step *= o.peakE + t["own"]
		weight := fmt.Sprintf("(clamp_min(max(%s) > 0, %d) or vector(%d))", j.profile.Spec.Metrics.Endpoints, t["least"], o.peakE)
		if t["own"] > 0 {
			weight = fmt.Sprintf("(%s + %d)", weight, t["own"])
		}
		if !strings.Contains(query, " * "+weight+" / ") {
			j.failf("the connection trigger asks %s, want %s", query, weight)
		}
	}
	if zone {
		prefix, suffix = fmt.Sprintf("%d * ceil(", o.zones*theta), fmt.Sprintf(" / %d)", step)
	}
	if !strings.HasPrefix(query, prefix) || !strings.HasSuffix(query, suffix) {
		j.failf("the connection trigger asks %s, want %s…%s", query, prefix, suffix)
	}
}
