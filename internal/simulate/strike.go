package simulate

// The faults that strike a running world; others change the day itself.
const (
	loseZone = iota
	loseNode
	losePods
	rollout
	silence   // of Prometheus
	blindness // of Prometheus, for endpoints
	unfiring  // of the calendar's triggers
)

// fault is something that goes wrong at a moment.
type fault struct {
	name  string // without its moment
	kind  int
	at    int64
	until int64 // of a silence or a blindness
	pods  share // that are lost
}

// evictionDelay is how long a lost node's pods stay counted: 40 s until it is
// seen (node-monitor-grace-period), 300 s of the default toleration.
const evictionDelay = 340_000

func (t *trial) strike(f fault) {
	switch f.kind {
	case loseZone:
		t.loseZone()
	case loseNode:
		t.losePods((t.live+int64(t.world.nodes)-1)/int64(t.world.nodes), t.strand)
	case losePods:
		t.losePods(f.pods.up(int64(len(t.ready))), t.crash)
	case rollout:
		t.roll()
	case silence:
		t.silent = true
		t.timer(f.until, timerAnswer, silence)
	case blindness:
		t.blind = true
		t.timer(f.until, timerAnswer, blindness)
	case unfiring:
		t.unfired = true
	}
	t.disturb()
}

// answers ends what Prometheus had no answer to.
func (t *trial) answers(kind uint32) {
	if kind == silence {
		t.silent = false
	} else {
		t.blind = false
	}
}

// loseZone takes the zone with the most pods that serve, and all that is in it.
func (t *trial) loseZone() {
	zone := t.fullest()
	for i := range t.pods {
		if p := &t.pods[i]; p.state != gone && p.state != lost && p.zone == zone {
			t.strand(int32(i))
		}
	}
	t.zone[zone] = none
}

// fullest is the zone with the most pods that serve, the first of equals.
func (t *trial) fullest() int16 {
	best, most := 0, int32(none)
	for z := range t.zone {
		n := int32(0)
		for _, id := range t.ready {
			if int(t.pods[id].zone) == z {
				n++
			}
		}
		if n > most && t.zone[z] != none {
			best, most = z, n
		}
	}
	return int16(best)
}

// losePods takes n of the pods that serve, whichever.
func (t *trial) losePods(n int64, take func(int32)) {
	for range min(n, int64(len(t.ready))) {
		take(t.ready[t.dice.below(int64(len(t.ready)))])
	}
}

// strand loses a pod with its node. Another takes its place when it is evicted.
func (t *trial) strand(id int32) {
	t.retire(id, lost)
	t.away++
	t.room--
	t.pods[id].readyAt = t.now + evictionDelay
	t.timer(t.now+evictionDelay, timerEvicted, uint32(id))
}

// crash ends a pod's container, which starts again at once.
func (t *trial) crash(id int32) {
	t.retire(id, down)
	t.readyIn(id, t.world.podReady)
}

func (t *trial) evict(id int32) {
	if p := &t.pods[id]; p.state == lost && p.readyAt == t.now {
		t.remove(id)
		t.reconcile()
	}
}

// roll replaces every pod.
func (t *trial) roll() {
	for i := range t.pods {
		t.pods[i].old = t.pods[i].state != gone
	}
	t.rolling = true
	t.reconcile()
}
