package keda_test

import (
	"sync"
	"testing"
	"time"
)

// speedUp is how many times faster than the wall clock a script runs. The HPA
// controller reads the wall clock, and the durations of an HPA are whole
// seconds, so the ScaledObject's are divided by it: 15 is the largest number
// that divides the sync period of 15 s and each duration that meshgen writes.
const speedUp = 15

// scriptClock shows the time of a script, which may skip what nothing happens in.
type scriptClock struct {
	mu    sync.Mutex
	wall  time.Time // when it was set
	shown time.Time // to what
}

func newScriptClock(at time.Time) *scriptClock {
	return &scriptClock{wall: time.Now(), shown: at}
}

func (c *scriptClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.Add(speedUp * time.Since(c.wall))
}

func (c *scriptClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.shown = time.Now(), at
}

// onWall is how long the wall clock takes for a duration of a script.
func onWall(d time.Duration) time.Duration { return d / speedUp }

// meshLoad is how many proxies are connected: as many as at rest, but for an
// event, through whose ramp they climb linearly from its start, and at whose end
// they fall.
type meshLoad struct {
	rest, peak int
	start, end time.Time
	ramp       time.Duration
}

func (l meshLoad) at(t time.Time) int {
	since := t.Sub(l.start)
	switch {
	case since < 0 || !t.Before(l.end):
		return l.rest
	case since >= l.ramp:
		return l.peak
	}
	climbed := (int64(l.peak-l.rest)*int64(since) + int64(l.ramp) - 1) / int64(l.ramp)
	return l.rest + int(climbed)
}

func TestMeshLoad(t *testing.T) {
	start := time.Date(2026, 12, 19, 8, 0, 0, 0, time.UTC)
	l := meshLoad{rest: 1000, peak: 3600, start: start, end: start.Add(4 * time.Hour), ramp: 20 * time.Minute}
	for name, c := range map[string]struct {
		after time.Duration
		want  int
	}{
		"before the start it is at rest":                 {-time.Nanosecond, 1000},
		"at the start it is at rest":                     {0, 1000},
		"after 5 of 20 minutes it has a quarter more":    {5 * time.Minute, 1650},
		"a started proxy counts whole":                   {time.Second, 1003},
		"after the ramp it is at its peak":               {20 * time.Minute, 3600},
		"the last instant before the end is at the peak": {4*time.Hour - time.Nanosecond, 3600},
		"at the end it is at rest":                       {4 * time.Hour, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			if got := l.at(start.Add(c.after)); got != c.want {
				t.Errorf("%d connections, want %d", got, c.want)
			}
		})
	}
}
