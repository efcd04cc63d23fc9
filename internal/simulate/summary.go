package simulate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// The bounds of what is played: memory follows the one, time both.
const (
	mostConnections = 1_000_000
	MostTrials      = 10_000
)

// Options say what is played.
type Options struct {
	Event    string   // empty for the one with most connections
	Faults   []string // as FaultHelp says
	Trials   int      // of each world, 1 to MostTrials
	Seed     uint64
	Tolerate float64            // share of the trials in which a pod may be killed
	Progress func(done, of int) // called after each trial, one at a time; may be nil
}

// Run plays the day with the values that run today and with those of a plan
// without errors; where its connections weigh by endpoints, with those of static
// scaling too. An error is of the options, or the context's.
func Run(ctx context.Context, p *profile.Profile, pl *plan.Plan, o Options) (*Report, error) {
	if o.Trials < 1 || o.Trials > MostTrials {
		return nil, fmt.Errorf("%d trials: 1 to %d are played", o.Trials, MostTrials)
	}
	d, err := dayOf(p, pl, o.Event)
	if err != nil {
		return nil, err
	}
	if err := d.disturb(o.Faults); err != nil {
		return nil, err
	}
	r := d.report(o)
	all, err := d.versions()
	if err != nil {
		return nil, err
	}
	done := 0
	for _, version := range all {
		v := version.values
		w, err := version.world(v)
		if err != nil {
			return nil, err
		}
		if most := w.mostConnections(); most > mostConnections {
			return nil, fmt.Errorf("the day has %d connections, more than the %d that are played", most, mostConnections)
		}
		records, pods, err := play(ctx, w, o.Trials, o.Seed, func() {
			done++
			if o.Progress != nil {
				o.Progress(done, len(all)*o.Trials)
			}
		})
		if err != nil {
			return nil, err
		}
		r.Worlds = append(r.Worlds, w.summary(v, records, pods, o.Tolerate))
		if n := broken(records); n > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %d of %d trials are broken off when every pod has been killed %d times: nothing recovers by itself", v.name, n, o.Trials, hopeless))
		}
	}
	if len(o.Faults) == 0 && r.Worlds[0].TrialsKilled == 0 {
		r.Notes = append(r.Notes, secondCause)
	}
	if len(r.Worlds) == 3 {
		r.Notes = append(r.Notes, saved(r.Worlds[1], r.Worlds[2]))
	}
	return r, nil
}

// secondCause is what the published restarts of incident B need: the surge alone
// leaves the fullest pod at 165 to 185 connections, and kills nothing.
const secondCause = "no pod of the running world is killed by the load alone; pods that are lost while it climbs are the second cause that kills: see --fault"

func (w *world) mostConnections() int64 {
	return slices.MaxFunc(w.steps, func(a, b step) int { return int(a.connections - b.connections) }).connections
}

// report is all but the worlds.
func (d *day) report(o Options) *Report {
	r := &Report{
		Cluster: d.plan.Cluster, Start: rfc3339(d.Start), Faults: append([]string{}, o.Faults...),
		Trials: o.Trials, Seed: o.Seed, Marks: d.marks(), Notes: d.allNotes(),
		Headroom: float(&d.profile.Spec.Istiod.Headroom.Rat), Tolerate: o.Tolerate,
	}
	if d.event != none {
		r.Event = d.plan.Events[d.event].When.Name
	}
	return r
}

// marks are the moments of the day in their order.
func (d *day) marks() []Mark {
	marks := []Mark{}
	add := func(at int64, name string) {
		if at >= 0 && at <= d.millis(d.End) {
			marks = append(marks, Mark{float64(at) / minute, name})
		}
	}
	if d.event != none {
		name := d.plan.Events[d.event].When.Name
		if windows, err := d.windows(); err == nil {
			for _, w := range windows {
				if w.event == name && w.from <= d.millis(d.start) && w.to > d.millis(d.start) {
					add(w.from, "pre-scale")
				}
			}
		}
		add(d.millis(d.start.Add(-d.early)), "start")
		if ramp := d.plan.Events[d.event].Ramp; ramp > 0 {
			add(d.millis(d.start.Add(ramp-d.early)), "full load")
		}
		add(d.millis(d.end), "end")
	}
	for _, f := range d.faults {
		if f.kind != unfiring {
			add(f.at, f.name)
		}
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return int(1000 * (a.Minute - b.Minute)) })
	return marks
}

// allNotes are what the model leaves out, and what a reader must know.
func (d *day) allNotes() []string {
	notes := []string{
		"connections of a pod or a zone that is lost come back at once: what calls from a lost zone calls from elsewhere",
		"memory follows the profile's model: what pushes and garbage collection take for a moment is in its residual alone",
		"pods beyond those that ran before wait nodeReady for a node; what goes first when pods go is the youngest",
		"KEDA asks Prometheus when the HPA asks KEDA, every 15s",
	}
	if nothingRuns(d.profile) {
		notes = append(notes, "the profile says nothing under spec.istiod.running: that world is the chart's defaults")
	}
	if d.profile.Spec.Istiod.Running.ConnectionThreshold == nil {
		notes = append(notes, "the running world scales on CPU, of which only reconnects are known: what pushes cost is left out")
	}
	return append(notes, d.notes...)
}

// summary is what a world came to.
func (w *world) summary(v values, records []record, pods spread, tolerate float64) World {
	of := func(number func(record) float64) Quantiles { return quantiles(records, number) }
	s := World{
		Name: v.name, Settings: v.settings,
		HottestConnections: of(func(r record) float64 { return float64(r.hottest) }),
		HottestShare:       of(record.fullest),
		PodsKilled:         of(func(r record) float64 { return float64(r.killed) }),
		MinutesToBalance:   of(func(r record) float64 { return rounded(float64(r.settled)/minute, 10) }),
		IdlePods:           of(func(r record) float64 { return float64(r.idle) }),
		ReconnectsPerSec:   of(func(r record) float64 { return float64(r.busiest) / 10 }),
		PodHours:           of(func(r record) float64 { return rounded(float64(r.pods)/3_600_000, 10) }),
	}
	s.Headroom = Quantiles{rounded(1-s.HottestShare.Median, 10_000), rounded(1-s.HottestShare.P99, 10_000), rounded(1-s.HottestShare.Worst, 10_000)}
	for _, r := range records {
		if r.killed > 0 {
			s.TrialsKilled++
		}
		if r.hot {
			s.TrialsHot++
		}
		if r.restless {
			s.Unbalanced++
		}
	}
	s.Safe = float64(s.TrialsKilled) <= float64(tolerate*float64(len(records)))
	s.Series = w.series(records, pods)
	return s
}

func broken(records []record) int {
	n := 0
	for _, r := range records {
		if r.broken {
			n++
		}
	}
	return n
}

func (r record) fullest() float64 { return float64(r.share) / 10_000 }

// rounded is x to so many parts of one.
func rounded(x, parts float64) float64 { return math.Round(float64(x*parts)) / parts }

// quantiles are of one number a trial, each the value of a trial.
func quantiles[T any](all []T, number func(T) float64) Quantiles {
	sorted := make([]float64, 0, len(all))
	for _, r := range all {
		sorted = append(sorted, number(r))
	}
	slices.Sort(sorted)
	return Quantiles{at(sorted, 50), at(sorted, 99), sorted[len(sorted)-1]}
}

// at is the least value that so many percent do not exceed.
func at(sorted []float64, percent int) float64 {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

// series is a sample a minute over all trials.
func (w *world) series(records []record, pods spread) []Sample {
	var all []Sample
	next := 0
	for m := range records[0].minutes {
		now := int64(m+1) * minute
		for next+1 < len(w.steps) && w.steps[next+1].at <= now {
			next++
		}
		all = append(all, w.sample(m, w.steps[next], records, pods))
	}
	return all
}

func (w *world) sample(m int, mesh step, records []record, pods spread) Sample {
	killed := 0.0
	values := func(number func(tally) int32) []float64 {
		sorted := make([]float64, 0, len(records))
		for _, r := range records {
			sorted = append(sorted, float64(number(r.minutes[m])))
		}
		slices.Sort(sorted)
		return sorted
	}
	for _, r := range records {
		killed += float64(r.minutes[m].killed)
	}
	ready := values(func(s tally) int32 { return s.ready })
	shares := values(func(s tally) int32 { return s.share })
	return Sample{
		Minute: float64(m + 1), Connections: float64(mesh.connections), Endpoints: float64(mesh.endpoints),
		Needed:  float64(w.needs.needed(mesh.connections, mesh.endpoints)),
		Desired: at(values(func(s tally) int32 { return s.desired }), 50),
		Ready:   at(ready, 50), ReadyLow: ready[0],
		Share:      Band{at(shares, 1) / 10_000, at(shares, 50) / 10_000, at(shares, 99) / 10_000, shares[len(shares)-1] / 10_000},
		PerPod:     pods.band(m),
		Reconnects: rounded(at(values(func(s tally) int32 { return s.landed }), 50)/60, 10),
		Killed:     rounded(killed/float64(len(records)), 100),
	}
}

// band is of the connections of a ready pod, over pods and trials.
func (s spread) band(at int) Band {
	total := uint64(0)
	for _, n := range s.bins[at] {
		total += uint64(n)
	}
	of := func(percent uint64) float64 {
		left := (total*percent + 99) / 100
		for bin, n := range s.bins[at] {
			if left <= uint64(n) {
				return float64(int32(bin) * s.width)
			}
			left -= uint64(n)
		}
		return 0
	}
	return Band{of(1), of(50), of(99), of(100)}
}
