package calibrate

import (
	"fmt"
	"math"
)

const (
	reconnectCost = "reconnectCost"
	// window is what CPU and reconnects are averaged over, in seconds: several
	// scrapes, so that their not being aligned does not matter.
	window = 300.0
)

// reconnect estimates the CPU of a reconnect: core·seconds a second against
// reconnects a second, and against pushes of endpoint changes, in windows of five
// minutes of all hours. istiod counts no connects; it sends clusters to each proxy
// that connects, and with full pushes, which cost as much.
func (f *fitter) reconnect(in Input, all []sample) {
	if len(in.CPU) == 0 || len(in.Reconnects) == 0 {
		return
	}
	windows := windowsOf(in, all, silence(step(byPod(in.Memory, drops{}))))
	if len(windows) == 0 {
		f.unclearReconnect("no five minutes have both CPU and reconnects")
		return
	}
	r := regressionOn(windows, func(w spell) float64 { return w.cores },
		func(w spell) string { return w.pod }, func(w spell) int64 { return w.hour },
		func(spell) float64 { return 1 }, func(w spell) float64 { return w.reconnects }, func(w spell) float64 { return w.pushes })
	g, ok := r.solve()
	if !ok {
		r.terms = r.terms[:2]
		g, ok = r.solve()
	}
	if !ok || 1+largest(r.pods) < leastPods {
		f.unclearReconnect("reconnects hardly vary, or there are too few pods")
		return
	}
	e := estimate(reconnectCost, "core·s/reconnect", g, 1)
	if e.Low <= 0 {
		f.unclearReconnect(fmt.Sprintf("its interval is %.3g to %.3g core·s", e.Low, e.High))
		return
	}
	f.report.Estimates = append(f.report.Estimates, e)
}

func (f *fitter) unclearReconnect(why string) {
	f.warn("calibrate/reconnect-unclear", reconnectCost,
		"the cost of a reconnect cannot be told: "+why,
		"leave reconnectCost at its default, the careful end; a period with a rollout or a lost pod tells more")
}

// spell is what a pod did in one window: cores, reconnects a second, and pushes a
// second of endpoints that changed, one for each connection.
type spell struct {
	pod                       string
	hour                      int64
	cores, reconnects, pushes float64
}

// windowsOf cuts each pod's samples into windows, and leaves out those with a gap,
// a counter that was reset, or a counter that is not known.
func windowsOf(in Input, all []sample, gap float64) []spell {
	cpu, sent := byPod(in.CPU, drops{}), byPod(in.Reconnects, drops{})
	of := map[string][]sample{}
	for _, s := range all {
		of[s.pod] = append(of[s.pod], s)
	}
	var windows []spell
	for _, pod := range sortedKeys(of) {
		samples := of[pod]
		from, changed := samples[0], 0.0
		for i := 1; i < len(samples); i++ {
			to := samples[i]
			changed += math.Abs(to.endpoints - samples[i-1].endpoints)
			span := to.at - from.at
			if span < window {
				continue
			}
			cores, ok := rate(cpu[pod], from.at, to.at)
			reconnects, okSent := rate(sent[pod], from.at, to.at)
			if ok && okSent && span < window+gap {
				windows = append(windows, spell{pod, to.hour(), cores, reconnects, changed / span * to.connections})
			}
			from, changed = to, 0
		}
	}
	return windows
}

// rate is a counter's growth a second between two moments; ok is false where it
// was reset or is not known.
func rate(counter []Point, from, to float64) (float64, bool) {
	a, okA := nearest(counter, from, window/4)
	b, okB := nearest(counter, to, window/4)
	return (b - a) / (to - from), okA && okB && b >= a
}
