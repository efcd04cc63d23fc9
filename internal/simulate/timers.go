package simulate

// The timers, in the order in which they fire at one moment. All of them fire
// before an agent acts.
const (
	timerStep = iota
	timerFault
	timerAnswer // Prometheus is back, or its series of endpoints
	timerEvicted
	timerReady
	timerScrape
	timerSync
	timerObserve
	timerMinute
	timerEnd
)

// A timer's id is its kind, and what it is about.
const timerBits = 20

func (t *trial) timer(at int64, kind, about uint32) {
	if at < t.world.end || kind == timerEnd {
		t.timers.push(moment(at, kind<<timerBits|about))
	}
}

// schedule sets the first timer of each kind. Scrapes and syncs begin anywhere in
// their interval.
func (t *trial) schedule() {
	w := t.world
	t.nextStep = 0
	t.timerOfStep()
	for i, f := range w.faults {
		t.timer(f.at, timerFault, uint32(i))
	}
	t.timer(t.dice.below(w.scaling.scrape), timerScrape, 0)
	t.timer(t.dice.below(syncPeriod), timerSync, 0)
	t.timer(observePeriod, timerObserve, 0)
	t.timer(minute, timerMinute, 0)
	t.timer(w.end, timerEnd, 0)
}

// timerOfStep is for the step that follows.
func (t *trial) timerOfStep() {
	t.nextStep++
	if t.nextStep < len(t.world.steps) {
		t.timer(t.world.steps[t.nextStep].at, timerStep, 0)
	}
}

// fire does what a timer is for.
func (t *trial) fire(id uint32) {
	about := id & (1<<timerBits - 1)
	switch id >> timerBits {
	case timerStep:
		t.step(t.world.steps[t.nextStep])
		t.timerOfStep()
	case timerFault:
		t.strike(t.world.faults[about])
	case timerAnswer:
		t.answers(about)
	case timerEvicted:
		t.evict(int32(about))
	case timerReady:
		t.podIsReady(int32(about))
	case timerScrape:
		t.scrapeAll()
		t.timer(t.now+t.scrape, timerScrape, 0)
	case timerSync:
		t.sync()
		t.timer(t.now+syncPeriod, timerSync, 0)
	case timerObserve:
		t.observe()
		t.timer(t.now+observePeriod, timerObserve, 0)
	case timerMinute:
		t.minute()
		t.timer(t.now+minute, timerMinute, 0)
	case timerEnd:
		t.over = true
	}
}
