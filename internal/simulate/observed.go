package simulate

// How often a trial looks at the spread, and at everything, in milliseconds.
const (
	observePeriod = 10_000
	minute        = 60_000
)

// record is what one trial came to.
type record struct {
	hottest  int32 // connections
	share    int32 // of the limit, in ten-thousandths
	killed   int32
	idle     int32
	busiest  int32 // connections that were admitted in the busiest ten seconds
	settled  int64 // milliseconds from the last disturbance until it was balanced
	restless bool  // it was not when the event ended: since the first disturbance
	hot      bool
	broken   bool  // off, hopeless
	pods     int64 // milliseconds of pods
	minutes  []tally
}

// tally is one minute of a trial.
type tally struct{ desired, ready, share, landed, killed int32 }

// observed is what a trial sees of itself.
type observed struct {
	record   record
	nextStep int

	share           int32   // the fullest of this minute
	seconds         []int32 // connections that were admitted in each second
	upset           int64   // the first disturbance since it was balanced
	stirred, calmed int64   // the last one, and when it was balanced again; none for not yet
	spread          spread
}

func (o *observed) begin(w *world) {
	n := int(w.end/minute) + 1
	o.record = record{minutes: make([]tally, 0, n)}
	o.share, o.upset, o.stirred, o.calmed = 0, 0, 0, 0
	seconds := int(w.end/1000) + 2
	if cap(o.seconds) < seconds {
		o.seconds = make([]int32, seconds)
	}
	o.seconds = o.seconds[:seconds]
	clear(o.seconds)
	o.spread.grow(n)
}

// landed counts a connection that is admitted at a millisecond.
func (o *observed) landed(at int64) { o.seconds[min(int(at/1000), len(o.seconds)-1)]++ }

// look takes in how full a pod has been since it was last looked at.
func (t *trial) look(p *pod) {
	peak := max(p.peak, p.count)
	used := t.world.used(t.memory, peak, p.factor)
	t.observed.share = max(t.observed.share, used)
	t.record.share = max(t.record.share, used)
	t.record.hottest = max(t.record.hottest, peak)
	p.peak = p.count
}

// disturb is what may upset the spread. What happens after the event is not
// judged.
func (t *trial) disturb() {
	if t.now >= t.world.watch {
		return
	}
	if t.calmed != none {
		t.upset = t.now
	}
	t.stirred, t.calmed = t.now, none
}

// observe looks at the spread over the pods that serve.
func (t *trial) observe() {
	t.record.pods += t.live * observePeriod
	idle, balanced := t.even()
	t.record.idle = max(t.record.idle, idle)
	if t.calmed == none && balanced && t.now <= t.world.watch {
		t.calmed = t.now
	}
}

// even says how many pods have less than a tenth of their share, and whether the
// mesh is balanced: 99 % of the proxies connected, and the coefficient of variation
// within 1.25·√((1 − 1/m)/μ). With sum S and squares Q over m pods that is
// 16·(m·Q − S²) ≤ 25·(m − 1)·S.
func (t *trial) even() (idle int32, balanced bool) {
	m, sum, squares := int64(len(t.ready)), int64(0), int64(0)
	for _, id := range t.ready {
		n := int64(t.pods[id].count)
		sum += n
		squares += n * n
	}
	for _, id := range t.ready {
		if 10*m*int64(t.pods[id].count) < sum {
			idle++
		}
	}
	connected := 100*sum >= 99*int64(len(t.alive))
	return idle, connected && 16*(m*squares-sum*sum) <= 25*(m-1)*sum
}

// minute takes a sample.
func (t *trial) minute() {
	at := len(t.record.minutes)
	for _, id := range t.ready {
		p := &t.pods[id]
		t.look(p)
		t.spread.add(at, p.count)
	}
	landed := int32(0)
	for _, n := range t.seconds[60*at : 60*at+60] {
		landed += n
	}
	t.record.minutes = append(t.record.minutes, tally{int32(t.desired), int32(len(t.ready)), t.observed.share, landed, t.record.killed})
	t.observed.share = 0
}

// finish closes the record.
func (t *trial) finish() record {
	r := t.record
	r.settled = t.calmed - t.stirred
	if r.broken {
		t.fill(&r)
	}
	if t.calmed == none {
		r.restless, r.settled = true, min(t.world.watch, t.world.end)-t.upset
	}
	window := int32(0)
	for i, n := range t.seconds {
		window += n
		if i >= 10 {
			window -= t.seconds[i-10]
		}
		r.busiest = max(r.busiest, window)
	}
	return r
}

// fill takes the rest of the day to be as the minute in which the trial was broken
// off.
func (t *trial) fill(r *record) {
	if t.now < t.world.watch {
		t.calmed = none
	}
	r.pods += t.live * (t.world.end - t.now)
	all := int((t.world.end - 1) / minute)
	if len(r.minutes) < all {
		t.minute()
	}
	r.minutes = t.record.minutes
	for len(r.minutes) < all {
		r.minutes = append(r.minutes, r.minutes[len(r.minutes)-1])
	}
}

// spread counts pods by minute and by connections, in bins that are wide enough
// to stay few.
type spread struct {
	width int32 // connections
	bins  [][]uint32
}

// manyBins are those of a minute.
const manyBins = 1024

func (s *spread) grow(minutes int) {
	for len(s.bins) < minutes {
		s.bins = append(s.bins, nil)
	}
}

func (s *spread) add(at int, connections int32) {
	bin := int(connections / max(s.width, 1))
	for len(s.bins[at]) <= bin {
		s.bins[at] = append(s.bins[at], 0)
	}
	s.bins[at][bin]++
}

// merge adds another's counts.
func (s *spread) merge(other spread) {
	s.grow(len(other.bins))
	for at, bins := range other.bins {
		for len(s.bins[at]) < len(bins) {
			s.bins[at] = append(s.bins[at], 0)
		}
		for i, n := range bins {
			s.bins[at][i] += n
		}
	}
}
