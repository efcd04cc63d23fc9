package simulate

// The states of a pod.
const (
	starting = iota
	serving
	down // its container restarts in place
	lost // with its node; the Deployment counts it until it is evicted
	gone // only its last sample may still count
)

// pod is one istiod.
type pod struct {
	state  uint8
	old    bool // a rollout replaces it
	zone   int16
	at     int32 // among the ready, or none
	agents int32 // the first of its agents
	count  int32 // of them
	warm   int32 // connections above which it is beyond the headroom
	most   int32 // connections above which it is killed
	peak   int32 // most connections since it was last looked at
	landed int32 // connections since the last sync
	admits int64 // microsecond from which it admits another

	factor  float64 // of the memory model: 1 + residual × its deviation
	born    int64
	readyAt int64
	backoff int64 // of the kubelet, after the last kill

	sample  int32 // connections at the last scrape
	sampled int64 // when that was, or none
}

// The kubelet's back-off between restarts of a container, in milliseconds.
const (
	firstRestart  = 10_000
	lastRestart   = 300_000
	restartForget = 600_000
)

// hopeless is how often each pod is killed, on average, when a trial is broken off:
// every pod that comes back takes more than it can hold, and nothing but a hand
// ends that. To play it to the end takes long and says no more.
const hopeless = 10

// fleet is the pods, and the Deployment that keeps them.
type fleet struct {
	pods    []pod
	ready   []int32
	live    int64 // pods that the Deployment counts
	desired int64
	room    int64   // pods for which there are nodes
	zone    []int32 // live pods by zone; none for one that is lost
	away    int64   // of the live pods, those that are lost
	rolling bool

	endpoints int64  // that there are
	memory    memory // of one pod, at so many
}

// layPods lets the pods of minute 0 stand ready.
func (t *trial) layPods(w *world) {
	f := &t.fleet
	f.pods, f.ready, f.live, f.away, f.rolling = f.pods[:0], f.ready[:0], 0, 0, false
	f.desired, f.room = int64(w.pods), int64(w.pods)
	f.endpoints, f.memory = w.steps[0].endpoints, w.steps[0].memory
	f.zone = append(f.zone[:0], make([]int32, w.zones)...)
	for range w.pods {
		t.serve(t.newPod())
	}
}

// create starts a pod; it waits for a node where there is no room.
func (t *trial) create() {
	wait := t.world.podReady
	if t.live-t.away >= t.room {
		wait += t.world.nodeReady
	}
	id := t.newPod()
	t.room = max(t.room, t.live-t.away)
	t.readyIn(id, wait)
}

func (t *trial) readyIn(id int32, wait int64) {
	t.pods[id].readyAt = t.now + wait
	t.timer(t.now+wait, timerReady, uint32(id))
}

// newPod is a pod in the emptiest zone, with a memory of its own.
func (t *trial) newPod() int32 {
	id := t.slot()
	t.pods[id] = pod{
		state: starting, zone: int16(t.emptiest()), at: none, agents: none,
		factor: max(0.01, 1+float64(t.world.residual*t.dice.deviation())),
		born:   t.now, sampled: none,
	}
	t.zone[t.pods[id].zone]++
	t.live++
	t.limits(&t.pods[id])
	return id
}

// slot is the place of a pod that has gone and whose samples have too, or a new one.
func (t *trial) slot() int32 {
	for id := range t.pods {
		if p := &t.pods[id]; p.state == gone && (p.sampled == none || p.sampled <= t.now-t.lookback) {
			return int32(id)
		}
	}
	t.pods = append(t.pods, pod{})
	return int32(len(t.pods) - 1)
}

func (t *trial) emptiest() int {
	best := none
	for z, n := range t.zone {
		if n != none && (best == none || n < t.zone[best]) {
			best = z
		}
	}
	return max(best, 0)
}

// serve makes a pod ready.
func (t *trial) serve(id int32) {
	p := &t.pods[id]
	p.state, p.at, p.readyAt = serving, int32(len(t.ready)), t.now
	p.admits = t.now * 1000
	t.ready = append(t.ready, id)
	if p.count > p.most {
		t.kill(id)
	}
}

// podIsReady is the timer of a pod that started or restarted.
func (t *trial) podIsReady(id int32) {
	p := &t.pods[id]
	if p.readyAt != t.now || p.state != starting && p.state != down {
		return
	}
	t.serve(id)
	t.disturb()
	if t.rolling {
		t.reconcile()
	}
}

// retire takes a pod from the Service; its connections end at that instant.
func (t *trial) retire(id int32, state uint8) {
	p := &t.pods[id]
	if p.state == serving {
		t.look(p)
		last := len(t.ready) - 1
		t.ready[p.at] = t.ready[last]
		t.pods[t.ready[p.at]].at = p.at
		t.ready = t.ready[:last]
	}
	p.state, p.at = state, none
	t.drop(id)
	p.peak, p.landed = 0, 0
}

// kill is what the kernel does to a pod that passes its limit. The container
// comes back in its place.
func (t *trial) kill(id int32) {
	p := &t.pods[id]
	if t.now-p.readyAt >= restartForget {
		p.backoff = 0
	}
	p.backoff = min(max(2*p.backoff, firstRestart), lastRestart)
	t.retire(id, down)
	t.record.killed++
	t.record.broken = int64(t.record.killed) >= hopeless*t.live
	t.over = t.over || t.record.broken
	t.disturb()
	t.readyIn(id, p.backoff+t.world.podReady)
}

// remove takes a pod out of the Deployment.
func (t *trial) remove(id int32) {
	if t.pods[id].state == lost {
		t.away--
	}
	t.retire(id, gone)
	t.live--
	if z := t.pods[id].zone; t.zone[z] != none {
		t.zone[z]--
	}
}

// reconcile is the Deployment: so many pods as are desired, old ones replaced
// within the bounds of the rollout.
func (t *trial) reconcile() {
	old, young, starts := t.census()
	if !t.rolling {
		t.resize(t.desired)
		return
	}
	surge, unavailable := t.world.surge.up(t.desired), t.world.unavailable.down(t.desired)
	for n := min(old, t.live-(t.desired-unavailable)-starts); n > 0; n-- {
		t.remove(t.leastWorth(true))
		old--
	}
	for ; t.live < t.desired+surge && young < t.desired; young++ {
		t.create()
	}
	if t.rolling = old > 0 || young < t.desired; !t.rolling {
		t.resize(t.desired)
	}
}

// census counts old and young pods, and young ones that are not ready.
func (t *trial) census() (old, young, starts int64) {
	for i := range t.pods {
		p := &t.pods[i]
		switch {
		case p.state == gone:
		case p.old:
			old++
		default:
			young++
			if p.state != serving {
				starts++
			}
		}
	}
	return old, young, starts
}

func (t *trial) resize(n int64) {
	for t.live > n {
		t.remove(t.leastWorth(false))
	}
	for t.live < n {
		t.create()
	}
}

// leastWorth is the pod that a Deployment lets go first, among the old ones where
// a rollout asks: one that does not serve, else the youngest. Kubernetes takes ages
// by powers of two, and pods of the fuller nodes first.
func (t *trial) leastWorth(old bool) int32 {
	best := int32(none)
	for i := range t.pods {
		p := &t.pods[i]
		if p.state == gone || old && !p.old {
			continue
		}
		if best == none || t.pods[best].worthMore(p) {
			best = int32(i)
		}
	}
	return best
}

func (p *pod) worthMore(than *pod) bool {
	if serves := p.state == serving; serves != (than.state == serving) {
		return serves
	}
	return p.born < than.born
}

// weigh makes a connection as heavy as the step says, for every pod.
func (t *trial) weigh(s step) {
	for _, id := range t.ready {
		t.look(&t.pods[id])
	}
	t.endpoints, t.memory = s.endpoints, s.memory
	for i := range t.pods {
		t.limits(&t.pods[i])
	}
	for i := range t.pods {
		if p := &t.pods[i]; p.state == serving && p.count > p.warm {
			t.strain(int32(i))
		}
	}
}

// limits are the connections up to which a pod is within the headroom, and within
// its memory.
func (t *trial) limits(p *pod) {
	w := t.world
	p.warm = int32(min(t.memory.most(w.headroom*w.limit, p.factor), never))
	p.most = int32(min(t.memory.most(w.limit, p.factor), never))
}

// strain is a pod's beyond the headroom, or beyond its limit.
func (t *trial) strain(id int32) {
	t.record.hot = true
	if p := &t.pods[id]; p.count > p.most {
		t.kill(id)
	}
}
