package keda_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
)

// moment is a change of a workload: how many replicas it shall have from then
// on, and how many of them are ready.
type moment struct {
	at            time.Time
	wanted, ready int
}

// The behavior that every ScaledObject of istiod has: after its last reason to
// stay it rests for stabilization, and then gives up a tenth in each window.
const (
	stabilization  = 600 * time.Second
	scaleInWindow  = 60 * time.Second
	scaleInPercent = 10
)

// promise is what the plan promises of a workload's replicas around an event.
type promise struct {
	start, end      time.Time
	min, event, max int
}

// broken are the ways in which what happened breaks the promise, none where it
// is kept. The moments are in order, the first before the event; lastAsked is
// when a trigger last asked for the event's replicas.
func (p promise) broken(log []moment, lastAsked time.Time) []string {
	return slices.Concat(
		p.late(log), p.outOfBounds(log), p.shortInside(log),
		p.impatient(log, lastAsked), hasty(log), p.unfinished(log),
	)
}

// late is when the event begins on too few ready pods.
func (p promise) late(log []moment) []string {
	if m := inEffect(log, p.start); m.ready < p.event {
		return []string{fmt.Sprintf("at the start %d of %d pods are ready", m.ready, p.event)}
	}
	return nil
}

// outOfBounds is when there are fewer than the minimum or more than the maximum.
func (p promise) outOfBounds(log []moment) []string {
	var all []string
	for _, m := range log {
		if m.wanted < p.min || m.ready < p.min {
			all = append(all, fmt.Sprintf("%s: %d wanted, %d ready, below the minimum of %d", clockTime(m.at), m.wanted, m.ready, p.min))
		}
		if m.wanted > p.max {
			all = append(all, fmt.Sprintf("%s: %d wanted, above the maximum of %d", clockTime(m.at), m.wanted, p.max))
		}
	}
	return all
}

// shortInside is when the event has too few for a while after its start.
func (p promise) shortInside(log []moment) []string {
	var all []string
	for _, m := range log {
		if m.at.After(p.start) && m.at.Before(p.end) && min(m.wanted, m.ready) < p.event {
			all = append(all, fmt.Sprintf("%s: %d wanted, %d ready in the event, which needs %d", clockTime(m.at), m.wanted, m.ready, p.event))
		}
	}
	return all
}

// impatient is when pods go before the stabilization is over.
func (p promise) impatient(log []moment, lastAsked time.Time) []string {
	for i, m := range log[1:] {
		rested := m.at.Sub(lastAsked)
		if m.wanted < log[i].wanted && !m.at.Before(p.end) {
			if rested < stabilization {
				return []string{fmt.Sprintf("%s: the first pods go %s after the last that asked for them, want %s", clockTime(m.at), rested.Round(time.Second), stabilization)}
			}
			return nil
		}
	}
	return nil
}

// hasty is when more than a tenth goes in a window, up to a whole pod: the HPA
// rounds what stays down.
func hasty(log []moment) []string {
	var all []string
	for i, m := range log[1:] {
		before := inEffect(log, m.at.Add(-scaleInWindow)).wanted
		allowed := (before*scaleInPercent + 99) / 100
		if m.wanted < log[i].wanted && before-m.wanted > allowed {
			all = append(all, fmt.Sprintf("%s: from %d to %d within %s, where %d may go", clockTime(m.at), before, m.wanted, scaleInWindow, allowed))
		}
	}
	return all
}

// unfinished is when the last moment is not at the minimum.
func (p promise) unfinished(log []moment) []string {
	if m := log[len(log)-1]; m.wanted != p.min || m.ready != p.min {
		return []string{fmt.Sprintf("in the end %d are wanted and %d ready, not %d", m.wanted, m.ready, p.min)}
	}
	return nil
}

// inEffect is the last moment at or before a time, or the first of all.
func inEffect(log []moment, at time.Time) moment {
	found := log[0]
	for _, m := range log {
		if !m.at.After(at) {
			found = m
		}
	}
	return found
}

// replicaTable are the moments at which another number is wanted, or all that are
// wanted are ready.
func replicaTable(log []moment, load meshLoad) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "time\tconnections\twanted\tready\t")
	for i, m := range log {
		if i == 0 || m.wanted != log[i-1].wanted || m.ready == m.wanted || i == len(log)-1 {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", clockTime(m.at), load.at(m.at), m.wanted, m.ready)
		}
	}
	table.Flush()
	return text.String()
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05Z") }

// TestPromise breaks a promise that is kept in one way after the other.
func TestPromise(t *testing.T) {
	day := time.Date(2026, 12, 19, 0, 0, 0, 0, time.UTC)
	p := promise{start: day.Add(8 * time.Hour), end: day.Add(12 * time.Hour), min: 24, event: 46, max: 92}
	kept := func() []moment {
		var log []moment
		for _, m := range []struct {
			after         string
			wanted, ready int
		}{
			{"7h", 24, 24},
			{"7h32m45s", 46, 24},
			{"7h35m45s", 46, 46},
			{"12h10m5s", 41, 41},
			{"12h11m20s", 36, 36},
			{"12h12m35s", 32, 32},
			{"12h13m50s", 28, 28},
			{"12h15m5s", 25, 25},
			{"12h16m20s", 24, 24},
		} {
			after, err := time.ParseDuration(m.after)
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, moment{day.Add(after), m.wanted, m.ready})
		}
		return log
	}
	for name, c := range map[string]struct {
		change    func([]moment) []moment
		lastAsked time.Duration // before the end
		want      []string
	}{
		"a promise that is kept": {
			change: func(log []moment) []moment { return log },
		},
		"one pod is not ready at the start": {
			change: func(log []moment) []moment { log[2].ready = 45; return log },
			want:   []string{"at the start 45 of 46 pods are ready"},
		},
		"a pod fewer than the minimum in the end": {
			change: func(log []moment) []moment {
				return append(log, moment{day.Add(12*time.Hour + 20*time.Minute), 23, 23}, moment{day.Add(12*time.Hour + 25*time.Minute), 24, 24})
			},
			want: []string{"12:20:00Z: 23 wanted, 23 ready, below the minimum of 24"},
		},
		"a pod more than the maximum": {
			change: func(log []moment) []moment {
				return slices.Insert(log, 3, moment{day.Add(9 * time.Hour), 93, 93}, moment{day.Add(12*time.Hour + time.Minute), 46, 46})
			},
			want: []string{
				"09:00:00Z: 93 wanted, above the maximum of 92",
				"12:01:00Z: the first pods go 1m0s after the last that asked for them, want 10m0s",
				"12:01:00Z: from 93 to 46 within 1m0s, where 10 may go",
			},
		},
		"a pod is lost in the event": {
			change: func(log []moment) []moment {
				return slices.Insert(log, 3, moment{day.Add(9 * time.Hour), 46, 45}, moment{day.Add(9*time.Hour + time.Minute), 46, 46})
			},
			want: []string{"09:00:00Z: 46 wanted, 45 ready in the event, which needs 46"},
		},
		"the first pods go a second too early": {
			change:    func(log []moment) []moment { return log },
			lastAsked: -6 * time.Second,
			want:      []string{"12:10:05Z: the first pods go 9m59s after the last that asked for them, want 10m0s"},
		},
		"two steps within 59 seconds": {
			change: func(log []moment) []moment { log[3].at = log[4].at.Add(-59 * time.Second); return log },
			want:   []string{"12:11:20Z: from 46 to 36 within 1m0s, where 5 may go"},
		},
		"one step of a pod too many": {
			change: func(log []moment) []moment { log[3].wanted, log[3].ready = 40, 40; return log },
			want:   []string{"12:10:05Z: from 46 to 40 within 1m0s, where 5 may go"},
		},
		"one that does not come down": {
			change: func(log []moment) []moment { return log[:8] },
			want:   []string{"in the end 25 are wanted and 25 ready, not 24"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, p.broken(c.change(kept()), p.end.Add(-c.lastAsked))); diff != "" {
				t.Errorf("broken (-want +got):\n%s", diff)
			}
		})
	}
}
