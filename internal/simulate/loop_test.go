package simulate

import (
	"math/rand/v2"
	"testing"

	"github.com/meshgen/meshgen/internal/sizing"
)

// laid is a trial with pods that serve so many connections each, as they were
// scraped a second ago.
func laid(s scaling, counts ...int32) *trial {
	w := flat(0, 0, minute, 1000*minute)
	w.scaling = s
	t := &trial{world: w, dice: dice{rand.NewPCG(1, 1)}}
	t.observed.begin(w)
	t.loop.begin(&w.scaling, len(counts))
	t.layPods(w)
	t.now = 100_000
	for _, n := range counts {
		id := t.newPod()
		t.serve(id)
		t.pods[id].count, t.pods[id].sample, t.pods[id].sampled = n, n, t.now-1000
	}
	t.desired = t.live
	return t
}

// What the triggers ask for: three pods with 100 connections each, threshold 100.
func TestTriggers(t *testing.T) {
	open := window{"sale", 0, 200_000, 12, true}
	cron := window{"lunch", 0, 200_000, 8, false}
	weight, heavy := &sizing.Weight{Peak: 100, Least: 30}, &sizing.Weight{Peak: 100, Least: 30, Own: 100}
	for name, c := range map[string]struct {
		scaling  scaling
		bend     func(*trial)
		wanted   int64
		complete bool
	}{
		"the connections":                          {scaling{threshold: 40}, func(*trial) {}, 8, true},
		"up to a multiple":                         {scaling{threshold: 40, multiple: 3}, func(*trial) {}, 9, true},
		"a pod that has gone counts for a while":   {scaling{threshold: 40}, func(t *trial) { t.remove(0) }, 8, true},
		"and then no longer":                       {scaling{threshold: 40}, func(t *trial) { t.remove(0); t.pods[0].sampled = 30_000 }, 5, true},
		"a pod that was not scraped does not yet":  {scaling{threshold: 40}, func(t *trial) { t.pods[0].sampled = none }, 5, true},
		"connections that weigh half":              {scaling{threshold: 40, weight: weight}, func(t *trial) { t.seen = 50 }, 4, true},
		"no fewer endpoints count than the least":  {scaling{threshold: 40, weight: weight}, func(t *trial) { t.seen = 10 }, 3, true},
		"more endpoints than ever planned":         {scaling{threshold: 40, weight: weight}, func(t *trial) { t.seen = 200 }, 15, true},
		"half, up to a multiple":                   {scaling{threshold: 40, weight: weight, multiple: 3}, func(t *trial) { t.seen = 50 }, 6, true},
		"what they weigh by themselves":            {scaling{threshold: 40, weight: heavy}, func(t *trial) { t.seen = 50 }, 6, true},
		"endpoints that were not scraped":          {scaling{threshold: 40, weight: weight}, func(*trial) {}, 8, true},
		"endpoints that nobody knows any more":     {scaling{threshold: 40, weight: weight}, func(t *trial) { t.seen, t.blind = 50, true }, 8, true},
		"an open window":                           {scaling{threshold: 40, windows: []window{open}}, func(*trial) {}, 12, true},
		"a window that is over":                    {scaling{threshold: 40, windows: []window{open}}, func(t *trial) { t.now = 200_000 }, 0, true},
		"triggers that do not fire":                {scaling{threshold: 40, windows: []window{open, cron}}, func(t *trial) { t.unfired = true }, 8, true},
		"no Prometheus, no fallback":               {scaling{threshold: 40, windows: []window{open}}, func(t *trial) { t.silent, t.failures = true, 99 }, 0, false},
		"no Prometheus, cron goes on":              {scaling{threshold: 40, windows: []window{open, cron}}, func(t *trial) { t.silent, t.failures = true, 99 }, 8, false},
		"no Prometheus three times":                {scaling{threshold: 40, fallback: 20}, func(t *trial) { t.silent, t.failures = true, 3 }, 0, false},
		"no Prometheus four times":                 {scaling{threshold: 40, fallback: 20}, func(t *trial) { t.silent, t.failures = true, 4 }, 20, true},
		"the fallback keeps those that run":        {scaling{threshold: 40, fallback: 2}, func(t *trial) { t.silent, t.failures = true, 4 }, 3, true},
		"CPU: 300 reconnects in 15 s at 0.2":       {scaling{cpuPerReconnect: 0.2, cpuTarget: 0.4}, func(t *trial) { t.pods[1].landed = 300 }, 10, true},
		"CPU: a tenth off is tolerated":            {scaling{cpuPerReconnect: 0.2, cpuTarget: 0.4}, func(t *trial) { t.pods[1].landed = 99 }, 3, true},
		"CPU: nothing to do":                       {scaling{cpuPerReconnect: 0.2, cpuTarget: 0.4}, func(*trial) {}, 0, true},
		"CPU: pods that start are counted as idle": {scaling{cpuPerReconnect: 0.2, cpuTarget: 0.4}, func(t *trial) { t.newPod(); t.newPod(); t.desired = 5; t.pods[1].landed = 120 }, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.scaling.lookback = 60_000
			c.scaling.min, c.scaling.max, c.scaling.scrape = 1, 100, 15_000
			played := laid(c.scaling, 100, 100, 100)
			c.bend(played)
			wanted, complete := played.asked()
			if wanted != c.wanted || complete != c.complete {
				t.Errorf("%d replicas, complete %v; want %d, %v", wanted, complete, c.wanted, c.complete)
			}
		})
	}
}

// A pod admits one connection and then waits; who would wait for more than a
// second is sent away, and comes back after a time that doubles.
func TestAdmission(t *testing.T) {
	played := laid(scaling{threshold: 1, lookback: 1}, 0)
	played.world.interval = 400_000
	for range 5 {
		played.connect(played.newAgent())
	}
	if p := played.pods[0]; p.count != 3 {
		t.Errorf("%d connections at once at one in 400 ms, want 3: the fourth would wait for 1.2 s", p.count)
	}
	for id, a := range played.agents {
		waits := int64(a.due) - played.now
		if a.pod == none && !(0 < waits && waits <= firstBackoff && a.tries == 1) {
			t.Errorf("agent %d waits for %d ms after %d refusals, want at most %d", id, waits, a.tries, firstBackoff)
		}
	}
	a := &played.agents[4]
	for range 9 {
		played.retry(4)
	}
	if waits := int64(a.due) - played.now; waits > lastBackoff {
		t.Errorf("after ten refusals it waits for %d ms, want at most %d", waits, lastBackoff)
	}
}

// The kubelet restarts after 10 s, then after twice as long each time up to 5
// minutes; ten quiet minutes forget it.
func TestRestarts(t *testing.T) {
	played := laid(scaling{threshold: 1, lookback: 1}, 0)
	played.world.podReady = 1000
	for i, want := range []int64{10, 20, 40, 80, 160, 300, 300} {
		played.kill(0)
		if got := played.pods[0].readyAt - played.now; got != want*1000+1000 {
			t.Errorf("restart %d: ready after %d ms, want %d s and the second that it takes", i+1, got, want)
		}
		played.now = played.pods[0].readyAt
		played.podIsReady(0)
	}
	played.now += restartForget
	played.kill(0)
	if got := played.pods[0].readyAt - played.now; got != 11_000 {
		t.Errorf("after ten quiet minutes it is ready after %d ms", got)
	}
}
