package report

import (
	"encoding/json"
	"fmt"

	"github.com/meshgen/meshgen/internal/simulate"
)

// value is a number of the report as the page shows it.
type value struct {
	Path string // in the JSON of the report
	JSON string // the number there
	Text string // rounded, with its unit
	judgement
}

// judgement is what is wrong with a number, and how wrong; empty where nothing is.
type judgement struct{ Word, Level string }

func unsafe(word string) judgement { return judgement{word, "danger"} }

func dubious(word string) judgement { return judgement{word, "warn"} }

// result is one row of the table: a number of each world, thrice where it has a
// spread over trials.
type result struct {
	Name, Note string
	Single     bool
	Worlds     [][]value
}

// measure says how a number of a world is named, read, written and judged.
type measure struct {
	name, note, field string
	of                func(simulate.World) []float64
	text              func(float64) string
	judge             func(simulate.World, float64) judgement
}

// spreads are the quantiles as their JSON names them.
var spreads = []string{"median", "p99", "worst"}

func quantiles(of func(simulate.World) simulate.Quantiles) func(simulate.World) []float64 {
	return func(w simulate.World) []float64 {
		q := of(w)
		return []float64{q.Median, q.P99, q.Worst}
	}
}

func single(of func(simulate.World) int) func(simulate.World) []float64 {
	return func(w simulate.World) []float64 { return []float64{float64(of(w))} }
}

func measures(r *simulate.Report) []measure {
	of := fmt.Sprintf("of %d", r.Trials)
	hot := func(_ simulate.World, v float64) judgement { return full(v, r.Headroom) }
	none := func(simulate.World, float64) judgement { return judgement{} }
	return []measure{
		{"Trials with a killed pod", of, "trialsKilled", single(func(w simulate.World) int { return w.TrialsKilled }), number, killed},
		{"Trials above the headroom", fmt.Sprintf("%s, headroom %s", of, percent(r.Headroom)), "trialsHot", single(func(w simulate.World) int { return w.TrialsHot }), number, above},
		{"Memory of the fullest pod", "of its limit", "hottestShare", quantiles(func(w simulate.World) simulate.Quantiles { return w.HottestShare }), percentTenth, hot},
		{"Headroom left", "of the limit", "headroom", quantiles(func(w simulate.World) simulate.Quantiles { return w.Headroom }), percentTenth, spent},
		{"Connections of the fullest pod", "", "hottestConnections", quantiles(func(w simulate.World) simulate.Quantiles { return w.HottestConnections }), number, none},
		{"Pods killed", "a trial", "podsKilled", quantiles(func(w simulate.World) simulate.Quantiles { return w.PodsKilled }), number, killed},
		{"Minutes until balanced", "after the last disturbance", "minutesToBalance", quantiles(func(w simulate.World) simulate.Quantiles { return w.MinutesToBalance }), tenth, none},
		{"Trials that ended unbalanced", of, "unbalanced", single(func(w simulate.World) int { return w.Unbalanced }), number, uneven},
		{"Idle pods", "at once, at most", "idlePods", quantiles(func(w simulate.World) simulate.Quantiles { return w.IdlePods }), number, none},
		{"Reconnects a second", "in the busiest ten seconds", "reconnectsPerSecond", quantiles(func(w simulate.World) simulate.Quantiles { return w.ReconnectsPerSec }), tenth, none},
		{"Pod-hours", "over the simulated span", "podHours", quantiles(func(w simulate.World) simulate.Quantiles { return w.PodHours }), whole, none},
	}
}

// full judges a share of the limit.
func full(share, headroom float64) judgement {
	switch {
	case share > 1:
		return unsafe("over limit")
	case share > headroom:
		return dubious("hot")
	}
	return judgement{}
}

func spent(_ simulate.World, headroom float64) judgement {
	if headroom < 0 {
		return unsafe("none")
	}
	return judgement{}
}

// killed judges a count of killed pods, or of trials in which there were some.
func killed(w simulate.World, n float64) judgement {
	switch {
	case n > 0 && w.Safe:
		return dubious("tolerated")
	case n > 0:
		return unsafe("unsafe")
	}
	return judgement{}
}

func above(_ simulate.World, n float64) judgement {
	if n > 0 {
		return dubious("hot")
	}
	return judgement{}
}

func uneven(_ simulate.World, n float64) judgement {
	if n > 0 {
		return dubious("uneven")
	}
	return judgement{}
}

func results(r *simulate.Report) []result {
	var all []result
	for _, m := range measures(r) {
		row := result{Name: m.name, Note: m.note}
		for i, w := range r.Worlds {
			values := m.values(i, w)
			row.Single = len(values) == 1
			row.Worlds = append(row.Worlds, values)
		}
		all = append(all, row)
	}
	return all
}

func (m measure) values(world int, w simulate.World) []value {
	var all []value
	numbers := m.of(w)
	for i, v := range numbers {
		path := fmt.Sprintf("worlds.%d.%s", world, m.field)
		if len(numbers) > 1 {
			path += "." + spreads[i]
		}
		all = append(all, value{path, jsonNumber(v), m.text(v), m.judge(w, v)})
	}
	return all
}

// jsonNumber is a number as the JSON of the report has it, null for what JSON
// cannot say.
func jsonNumber(v float64) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}
