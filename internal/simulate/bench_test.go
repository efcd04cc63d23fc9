package simulate

import (
	"context"
	"testing"
)

// flat is a world at rest: so many connections on so many pods, whose memory is
// never in the way.
func flat(connections int64, pods int, age, end int64) *world {
	return &world{
		age: age, interval: 1_000_000 / 25,
		limit: 1e12, headroom: 0.85, zones: 2, nodes: 80, podReady: 60_000, nodeReady: 120_000,
		pods: pods,
		scaling: scaling{
			min: int64(pods), max: int64(pods), threshold: 1, scrape: 15_000, lookback: 60_000,
		},
		steps: []step{{connections: connections, endpoints: 1, memory: linear(0, 1)}},
		watch: end, end: end,
	}
}

// BenchmarkTrial is one trial of a world of 10,000 connections that live 15
// minutes, over six hours.
func BenchmarkTrial(b *testing.B) {
	w := flat(10_000, 125, 15*minute, 6*60*minute)
	t := &trial{world: w}
	n := uint64(0)
	for b.Loop() {
		t.run(1, n)
		n++
	}
}

// BenchmarkWorld is a hundred of them on every core.
func BenchmarkWorld(b *testing.B) {
	w := flat(10_000, 125, 15*minute, 6*60*minute)
	for b.Loop() {
		if _, _, err := play(context.Background(), w, 100, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
}
