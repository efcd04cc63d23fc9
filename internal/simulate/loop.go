package simulate

import "math"

// syncPeriod is the HPA's (horizontal-pod-autoscaler-sync-period). KEDA asks
// Prometheus when the HPA asks KEDA; its own pollingInterval only wakes what is
// scaled to nothing (keda pkg/scaling/scale_handler.go).
const syncPeriod = 15_000

// failureThreshold is how often Prometheus may fail to answer before KEDA falls
// back (generators/istiod writes it).
const failureThreshold = 3

// loop is the autoscaler with what it is told.
type loop struct {
	hpa
	failures int64 // of Prometheus, one after the other
	silent   bool  // Prometheus does not answer
	blind    bool  // it has no series of endpoints
	seen     int64 // endpoints at the last scrape
	unfired  bool  // windows of the calendar never open
}

func (l *loop) begin(s *scaling, pods int) {
	l.scaling = s
	l.recommendations = append(l.recommendations[:0], remembered{0, int64(pods)})
	l.ups, l.downs = l.ups[:0], l.downs[:0]
	l.failures, l.silent, l.blind, l.unfired, l.seen = 0, false, false, false, 0
}

// sync is one turn of the HPA.
func (t *trial) sync() {
	t.failures++
	if !t.silent {
		t.failures = 0
	}
	wanted, complete := t.asked()
	for i := range t.pods {
		t.pods[i].landed = 0
	}
	// an HPA with a metric that it cannot read does not scale in
	if !complete && wanted < t.desired {
		return
	}
	if next := t.next(t.now, t.desired, wanted); next != t.desired {
		t.desired = next
		t.reconcile()
	}
}

// asked is the most that any metric asks for; complete is false where one of
// them gives no answer.
func (t *trial) asked() (wanted int64, complete bool) {
	if t.threshold == 0 {
		return t.byCPU(), true
	}
	usage, ok := t.answer(t.connections(), t.threshold)
	complete = ok
	if ok {
		wanted = averaged(t.live, usage, t.threshold)
	}
	for _, w := range t.windows {
		usage, ok := t.opened(w)
		complete = complete && ok
		if ok {
			wanted = max(wanted, averaged(t.live, usage, 1))
		}
	}
	return wanted, complete
}

// opened is the value of a window's trigger: its replicas within, else 0, or 1 as
// KEDA's cron has it.
func (t *trial) opened(w window) (usage int64, ok bool) {
	if !w.prometheus {
		usage = 1
	}
	if w.from <= t.now && t.now < w.to && !t.unfired {
		usage = w.replicas
	}
	if !w.prometheus {
		return usage, true
	}
	return t.answer(usage, 1)
}

// answer is what Prometheus says, or what KEDA says in its place: the fallback
// with behavior currentReplicasIfHigher.
func (t *trial) answer(usage, target int64) (value int64, ok bool) {
	if !t.silent {
		return usage, true
	}
	if t.fallback == 0 || t.failures <= failureThreshold {
		return 0, false
	}
	return target * max(t.fallback, t.desired), true
}

// connections is what the connection trigger's query comes to: the last samples,
// those of pods that have gone for as long as it looks back.
func (t *trial) connections() int64 {
	sum := int64(0)
	for i := range t.pods {
		if p := &t.pods[i]; p.sampled != none && p.sampled > t.now-t.lookback {
			sum += int64(p.sample)
		}
	}
	return t.usage(sum, t.counted())
}

// counted are the endpoints that the trigger weighs by: without an answer, as many as at
// the worst moment.
func (t *trial) counted() int64 {
	if w := t.scaling.weight; w != nil && (t.blind || t.seen == 0) {
		return w.Peak
	}
	return t.seen
}

// scrape is Prometheus looking at every pod that serves, and at the endpoints.
func (t *trial) scrapeAll() {
	t.seen = t.endpoints
	for _, id := range t.ready {
		p := &t.pods[id]
		p.sample, p.sampled = p.count, t.now
	}
}

// byCPU is the replicas that the chart's HPA asks for: Kubernetes'
// GetResourceReplicas with what reconnects cost since the last sync. Pods that
// are not ready count as idle where that keeps it from scaling out.
func (t *trial) byCPU() int64 {
	landed := int64(0)
	for _, id := range t.ready {
		landed += int64(t.pods[id].landed)
	}
	cores := float64(float64(landed)*t.cpuPerReconnect) * 1000 / syncPeriod
	ready := int64(len(t.ready))
	if ready == 0 {
		return t.desired
	}
	ratio := cores / float64(t.cpuTarget*float64(ready))
	if ratio > 1 {
		ready = t.live
		ratio = max(1, cores/float64(t.cpuTarget*float64(ready)))
	}
	if 1-tolerance <= ratio && ratio <= 1+tolerance {
		return t.desired
	}
	return int64(math.Ceil(float64(ratio * float64(ready))))
}
