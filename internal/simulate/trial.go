package simulate

import "math/rand/v2"

// What istiod and Envoy do, in milliseconds.
const (
	grace        = 10_000 // gRPC's MaxConnectionAgeGrace as Istio sets it (pkg/keepalive)
	longestWait  = 1_000  // for istiod's admission (pilot/pkg/xds/discovery.go WaitForRequestLimit)
	firstBackoff = 500    // Envoy's for the management server, doubled each time
	lastBackoff  = 30_000
)

// agent is a proxy with its one connection.
type agent struct {
	due        int32 // when it acts next
	pod        int32 // none while it connects
	next, prev int32 // others on that pod
	tries      int32 // refused so far
}

const none = -1

// trial is one run of a world. Its memory is used again by the next.
type trial struct {
	world *world
	dice  dice
	now   int64
	over  bool

	agents []agent
	alive  []int32 // agents of proxies that are there
	free   []int32 // agents for proxies to come
	due    queue   // of agents; one that acts at another time by now is passed over

	fleet
	loop
	observed
	timers queue
}

// run plays the world once. The same seed and number give the same record.
func (t *trial) run(seed, number uint64) record {
	t.begin(rand.NewPCG(seed, number))
	t.until(t.world.end)
	return t.finish()
}

// until lets everything happen up to a moment, and what happens at it.
func (t *trial) until(end int64) {
	for !t.over {
		act, timer := t.due.first(), t.timers.first()
		switch {
		case min(act, timer) > end:
			return
		case timer <= act:
			t.now = timer
			t.fire(t.timers.pop())
		default:
			t.now = act
			t.act(int32(t.due.pop()))
		}
	}
}

// begin lays the mesh out as it is after a long rest: agents at random over the
// pods, their ages uniform.
func (t *trial) begin(source *rand.PCG) {
	w := t.world
	t.dice, t.now, t.over = dice{source}, 0, false
	t.agents, t.alive, t.free = t.agents[:0], t.alive[:0], t.free[:0]
	t.due, t.timers = t.due[:0], t.timers[:0]
	t.observed.begin(w)
	t.loop.begin(&w.scaling, w.pods)
	t.layPods(w)
	t.schedule()
	for range w.steps[0].connections {
		id := t.newAgent()
		p := t.ready[t.dice.below(int64(len(t.ready)))]
		t.hold(id, p)
		t.agents[id].due = never
		if life := t.life(); life != never {
			t.set(id, t.dice.below(life))
		}
	}
	t.weigh(w.steps[0])
}

// act is an agent's: its connection has come to its age, or its wait is over.
func (t *trial) act(id int32) {
	a := &t.agents[id]
	if int64(a.due) != t.now {
		return
	}
	if a.pod != none {
		t.release(id)
	}
	t.connect(id)
}

// connect lets the Service choose a ready pod, which admits the agent within a
// second or sends it away. It counts on the pod at once.
func (t *trial) connect(id int32) {
	if len(t.ready) == 0 {
		t.retry(id)
		return
	}
	chosen := t.ready[t.dice.below(int64(len(t.ready)))]
	p := &t.pods[chosen]
	now := t.now * 1000
	at := max(p.admits, now)
	if at > now+longestWait*1000 {
		t.retry(id)
		return
	}
	p.admits = at + t.world.interval
	t.landed(at / 1000)
	p.landed++
	t.hold(id, chosen)
	a := &t.agents[id]
	a.tries = 0
	a.due = never
	if life := t.life(); life != never {
		t.set(id, at/1000+life)
	}
	p.peak = max(p.peak, p.count)
	if p.count > p.warm {
		t.strain(chosen)
	}
}

// retry waits as Envoy does: at random up to a limit that doubles.
func (t *trial) retry(id int32) {
	a := &t.agents[id]
	limit := min(int64(firstBackoff)<<a.tries, lastBackoff)
	a.tries = min(a.tries+1, 6)
	t.set(id, t.now+1+t.dice.below(limit))
}

// set makes an agent act at a moment, and at no other.
func (t *trial) set(id int32, at int64) {
	if at >= t.world.end {
		t.agents[id].due = never
		return
	}
	t.agents[id].due = int32(at)
	t.due.push(moment(at, uint32(id)))
}

// life is how long a connection lives: its age ± 10 %, and the grace.
func (t *trial) life() int64 {
	age := t.world.age
	if age == 0 {
		return never
	}
	return age - age/10 + t.dice.below(age/5+1) + grace
}

// hold puts an agent on a pod.
func (t *trial) hold(id, pod int32) {
	p, a := &t.pods[pod], &t.agents[id]
	a.pod, a.prev, a.next = pod, none, p.agents
	if p.agents != none {
		t.agents[p.agents].prev = id
	}
	p.agents = id
	p.count++
}

// release takes an agent off its pod.
func (t *trial) release(id int32) {
	a := &t.agents[id]
	p := &t.pods[a.pod]
	if a.prev == none {
		p.agents = a.next
	} else {
		t.agents[a.prev].next = a.next
	}
	if a.next != none {
		t.agents[a.next].prev = a.prev
	}
	a.pod = none
	p.count--
}

// drop takes all agents off a pod at one instant; they connect anew at once.
func (t *trial) drop(pod int32) {
	p := &t.pods[pod]
	for id := p.agents; id != none; id = t.agents[id].next {
		t.agents[id].pod = none
		t.set(id, t.now)
	}
	p.agents, p.count = none, 0
}

// newAgent is an agent for a proxy that was not there.
func (t *trial) newAgent() int32 {
	id := int32(len(t.agents))
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.agents = append(t.agents, agent{})
	}
	t.agents[id] = agent{due: never, pod: none, next: none, prev: none}
	t.alive = append(t.alive, id)
	return id
}

// leave takes a proxy away, whichever.
func (t *trial) leave() {
	i, last := t.dice.below(int64(len(t.alive))), len(t.alive)-1
	id := t.alive[i]
	t.alive[i], t.alive = t.alive[last], t.alive[:last]
	if t.agents[id].pod != none {
		t.release(id)
	}
	t.agents[id].due = never
	t.free = append(t.free, id)
}

// step makes the mesh what it is from now on.
func (t *trial) step(s step) {
	grows := s.connections > int64(len(t.alive))
	for int64(len(t.alive)) > s.connections {
		t.leave()
	}
	t.weigh(s)
	for int64(len(t.alive)) < s.connections {
		t.connect(t.newAgent())
	}
	if grows {
		t.disturb()
	}
}
