package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Redistribution is how connections spread over istiods that come and go while
// the mesh stays as large as it is. Nothing scales and nothing is killed: it is
// the model of connections alone, at any age, to be held against real ones.
type Redistribution struct {
	Connections int64
	Istiods     []Presence
	Age         time.Duration // of a connection, above 0; the grace comes on top
	Admitted    int64         // connections a second that an istiod admits, at the most
	Every, End  time.Duration // moments that are looked at: 0, Every, 2·Every … up to End
}

// Presence is the time that an istiod serves, from a moment up to another, which
// is 0 where it serves to the end. There must be one that serves from 0 on: the
// connections lie over those at random, their ages uniform.
type Presence struct{ From, To time.Duration }

// Course is the connections of each istiod at each moment.
type Course [][]int32

// Play plays it so many times. A run is the same whatever others are played.
func (r Redistribution) Play(runs int, seed uint64) []Course {
	t := &trial{world: r.world()}
	all := make([]Course, runs)
	for i := range all {
		t.begin(rand.NewPCG(seed, uint64(i)))
		all[i] = r.follow(t)
	}
	return all
}

// world has as many pods as there are at first, and an autoscaler that wants no
// others.
func (r Redistribution) world() *world {
	w := &world{
		age: r.Age.Milliseconds(), interval: 1_000_000 / r.Admitted, end: r.End.Milliseconds() + 1,
		limit: 1, headroom: 1, zones: 1, nodes: 1,
		steps: []step{{connections: r.Connections, memory: linear(0, 1/float64(r.Connections+1))}},
	}
	for _, i := range r.Istiods {
		if i.From == 0 {
			w.pods++
		}
	}
	w.scaling = scaling{min: int64(w.pods), max: int64(w.pods), threshold: 1, scrape: syncPeriod}
	return w
}

// change is an istiod that comes or goes at a millisecond.
type change struct {
	at     int64
	istiod int
	comes  bool
}

func (r Redistribution) changes() []change {
	var all []change
	for i, p := range r.Istiods {
		if p.From > 0 {
			all = append(all, change{p.From.Milliseconds(), i, true})
		}
		if p.To > 0 {
			all = append(all, change{p.To.Milliseconds(), i, false})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all
}

// follow lets one run happen, and looks at it.
func (r Redistribution) follow(t *trial) Course {
	course := make(Course, len(r.Istiods))
	pods := make([]int32, len(r.Istiods))
	next := int32(0)
	for i, p := range r.Istiods {
		pods[i] = none
		if p.From == 0 {
			pods[i], next = next, next+1
		}
	}
	changes := r.changes()
	for at := int64(0); at <= r.End.Milliseconds(); at += r.Every.Milliseconds() {
		for len(changes) > 0 && changes[0].at <= at {
			t.change(changes[0], pods)
			changes = changes[1:]
		}
		t.until(at)
		for i, pod := range pods {
			n := int32(0)
			if pod != none {
				n = t.pods[pod].count
			}
			course[i] = append(course[i], n)
		}
	}
	return course
}

// change makes an istiod serve that did not, or ends one with its connections.
func (t *trial) change(c change, pods []int32) {
	t.until(c.at - 1)
	t.now = c.at
	if !c.comes {
		t.retire(pods[c.istiod], down)
		return
	}
	pods[c.istiod] = t.newPod()
	t.serve(pods[c.istiod])
}

// Corridor is the least and the most connections of each istiod at each moment,
// between which so large a share of the runs stays from the first moment to the
// last, with every istiod: from the k-th least to the k-th most at each moment,
// k as large as it may be. Runs are of one Redistribution, and many: of 10,000,
// the corridor of 99 % holds 98 % of others.
func Corridor(runs []Course, share float64) (low, high Course) {
	sorted := make([][][]int32, len(runs[0]))
	for i := range sorted {
		sorted[i] = make([][]int32, len(runs[0][i]))
		for at := range sorted[i] {
			for _, run := range runs {
				sorted[i][at] = append(sorted[i][at], run[i][at])
			}
			slices.Sort(sorted[i][at])
		}
	}
	low, high = between(sorted, 0)
	for k := 1; 2*k < len(runs); k++ {
		narrowLow, narrowHigh := between(sorted, k)
		within := 0
		for _, run := range runs {
			if Within(run, narrowLow, narrowHigh) == 1 {
				within++
			}
		}
		if float64(within) < math.Ceil(share*float64(len(runs))) {
			break
		}
		low, high = narrowLow, narrowHigh
	}
	return low, high
}

// between is what is left at each moment without the k least and the k most.
func between(sorted [][][]int32, k int) (low, high Course) {
	low, high = make(Course, len(sorted)), make(Course, len(sorted))
	for i := range sorted {
		for _, all := range sorted[i] {
			low[i] = append(low[i], all[k])
			high[i] = append(high[i], all[len(all)-1-k])
		}
	}
	return low, high
}

// Within is the share of a run's values that lie between two courses, 1 for all.
func Within(run, low, high Course) float64 {
	in, all := 0, 0
	for i := range run {
		for at, n := range run[i] {
			all++
			if low[i][at] <= n && n <= high[i][at] {
				in++
			}
		}
	}
	return float64(in) / float64(all)
}
