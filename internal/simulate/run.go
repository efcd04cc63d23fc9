package simulate

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// play plays a world's trials on every core. A trial has a stream of random
// numbers of its own, so that the records, in the order of the trials, are the
// same on any number of cores. done is called after each trial, one at a time; it
// may be nil.
func play(ctx context.Context, w *world, trials int, seed uint64, done func()) ([]record, spread, error) {
	records := make([]record, trials)
	var all spread
	var next atomic.Int64
	var lock sync.Mutex
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), trials) {
		group.Go(func() {
			t := &trial{world: w}
			t.spread.width = w.binWidth()
			for i := next.Add(1) - 1; i < int64(trials) && ctx.Err() == nil; i = next.Add(1) - 1 {
				records[i] = t.run(seed, uint64(i))
				if done != nil {
					lock.Lock()
					done()
					lock.Unlock()
				}
			}
			lock.Lock()
			all.width = t.spread.width
			all.merge(t.spread)
			lock.Unlock()
		})
	}
	group.Wait()
	return records, all, ctx.Err()
}

// binWidth keeps the bins of a minute few: a pod seldom has more than four times
// what all pods have on average.
func (w *world) binWidth() int32 {
	most := int64(0)
	for _, s := range w.steps {
		most = max(most, s.connections)
	}
	return int32(4*most/int64(max(1, w.pods))/manyBins + 1)
}
