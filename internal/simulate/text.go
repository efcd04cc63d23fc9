package simulate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is the report for a terminal: what both worlds run with and what became of
// them, side by side, and a verdict on each.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d trials of each world, seed %d\n", r.Cluster, r.title(), r.Trials, r.Seed)
	for _, m := range r.Marks {
		fmt.Fprintf(&b, "  minute %-5s %s\n", number(m.Minute), m.Name)
	}
	fmt.Fprintf(&b, "\n%s", columns(r.settings()))
	for _, w := range r.Worlds {
		for _, line := range w.defaults() {
			fmt.Fprintf(&b, "%s has the %s\n", w.Name, line)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", columns(r.results()))
	for _, w := range r.Worlds {
		fmt.Fprintf(&b, "%s: %s%s\n", w.Name, w.alarm(), w.Verdict(r.Trials))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

func (r *Report) title() string {
	day := "a day without an event"
	if r.Event != "" {
		day = "the day of " + r.Event
	}
	if len(r.Faults) > 0 {
		day += ", with " + strings.Join(r.Faults, ", ")
	}
	return day + ", from " + r.Start
}

// Verdict is what became of the world in one sentence, without its end.
func (w World) Verdict(trials int) string {
	return w.kills(trials) + w.outage()
}

// outage says for how many minutes some trial has no pod that serves.
func (w World) outage() string {
	minutes := 0
	for _, s := range w.Series {
		if s.ReadyLow == 0 {
			minutes++
		}
	}
	if minutes == 0 {
		return ""
	}
	return fmt.Sprintf("; in %d minutes of the day there is a trial without an istiod that serves", minutes)
}

func (w World) kills(trials int) string {
	hottest := fmt.Sprintf("the fullest pod reaches %s of its memory (worst %s)", percent(w.HottestShare.Median), percent(w.HottestShare.Worst))
	switch {
	case w.TrialsKilled == 0:
		return "no pod is killed; " + hottest
	case w.Safe:
		return fmt.Sprintf("pods are killed in %d of %d trials, which is tolerated; %s", w.TrialsKilled, trials, hottest)
	}
	return fmt.Sprintf("pods are killed in %d of %d trials, %s at the median and %s at worst", w.TrialsKilled, trials, number(w.PodsKilled.Median), number(w.PodsKilled.Worst))
}

// alarm stands before the verdict on a world that is not safe.
func (w World) alarm() string {
	if w.Safe {
		return ""
	}
	return "UNSAFE: "
}

// results are the rows of what became of the worlds: median, P99, worst.
func (r *Report) results() [][]string {
	rows := [][]string{r.head("came to: median · P99 · worst")}
	row := func(name string, show func(World) string) {
		cells := []string{name}
		for _, w := range r.Worlds {
			cells = append(cells, show(w))
		}
		rows = append(rows, cells)
	}
	quantiles := func(name string, of func(World) Quantiles, show func(float64) string) {
		row(name, func(w World) string {
			q := of(w)
			return show(q.Median) + " · " + show(q.P99) + " · " + show(q.Worst)
		})
	}
	quantiles("connections of the fullest pod", func(w World) Quantiles { return w.HottestConnections }, number)
	quantiles("its memory, of the limit", func(w World) Quantiles { return w.HottestShare }, percent)
	quantiles("headroom left", func(w World) Quantiles { return w.Headroom }, percent)
	quantiles("pods killed", func(w World) Quantiles { return w.PodsKilled }, number)
	row("trials with a pod killed", func(w World) string { return strconv.Itoa(w.TrialsKilled) })
	row("trials above the headroom", func(w World) string { return strconv.Itoa(w.TrialsHot) })
	quantiles("minutes until balanced", func(w World) Quantiles { return w.MinutesToBalance }, number)
	row("trials never balanced", func(w World) string { return strconv.Itoa(w.Unbalanced) })
	quantiles("idle pods", func(w World) Quantiles { return w.IdlePods }, number)
	quantiles("reconnects a second", func(w World) Quantiles { return w.ReconnectsPerSec }, number)
	quantiles("pod-hours", func(w World) Quantiles { return w.PodHours }, number)
	row("most pods", func(w World) string { return number(w.most()) })
	return rows
}

// most is the most pods that were ready, in the median trial.
func (w World) most() float64 {
	most := 0.0
	for _, s := range w.Series {
		most = max(most, s.Ready)
	}
	return most
}

func (r *Report) head(first string) []string {
	cells := []string{first}
	for _, w := range r.Worlds {
		cells = append(cells, w.Name)
	}
	return cells
}

// settings are the rows of what the worlds run with.
func (r *Report) settings() [][]string {
	rows := [][]string{r.head("runs with")}
	for _, c := range r.Compared() {
		row := []string{c.Name}
		for _, s := range c.Worlds {
			row = append(row, cmp.Or(s.Value, "–"))
		}
		rows = append(rows, row)
	}
	return rows
}

// defaults are the settings that nobody has chosen, after whose defaults they are.
func (w World) defaults() []string {
	var froms []string
	names := map[string][]string{}
	for _, s := range w.Settings {
		if !strings.HasPrefix(s.From, defaultsOf) {
			continue
		}
		if names[s.From] == nil {
			froms = append(froms, s.From)
		}
		names[s.From] = append(names[s.From], s.Name)
	}
	for i, from := range froms {
		froms[i] = from + ": " + strings.Join(names[from], ", ")
	}
	return froms
}

// columns aligns rows two spaces apart; no line ends in a space.
func columns(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(cell))
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}

// number is a number to a tenth, without a zero behind the point.
func number(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") }

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }
