package calibrate

import (
	"fmt"
	"math"
	"slices"
)

const (
	// notable is the least share of the mean memory that another driver must move
	// to be found: the residual that a profile has by default.
	notable = 0.05
	// sure is the quantile of Student's t beyond which a driver is real, and surest
	// that of one which was looked for in many places (steps, phases).
	sure   = 0.995
	surest = 0.9995
	// edge is the least share of the samples on either side of a step.
	edge = 0.1
	day  = 24 * hour
)

// driver is something besides connections and endpoints that moves memory, as a
// further term of the fit.
type driver struct {
	id     string
	term   []float64
	sure   float64 // quantile
	amount float64 // what a coefficient of 1 moves, from least to most
	text   func(coefficient float64) (message, hint string)
}

// drivers refuses what the residuals show to have another driver: a time trend, a
// step, a daily wave. Each is a term beside the model's own, so that what
// connections and endpoints explain is not blamed on it. Of several that are
// found the one that explains most is said: a leak also looks like a step.
func (f *fitter) drivers(used []sample) {
	base := f.regression(used)
	mean := 0.0
	for _, s := range used {
		mean += s.memory / float64(len(used))
	}
	var best driver
	var found fit
	for _, d := range candidates(used, base) {
		with := base
		with.terms = append(slices.Clone(base.terms), d.term)
		g, ok := with.solve()
		if !ok || !d.moves(g, mean) {
			continue
		}
		if best.id == "" || g.squares < found.squares {
			best, found = d, g
		}
	}
	if best.id != "" {
		message, hint := best.text(found.coefficients[3])
		f.reject(best.id, "memoryModel", message, hint)
	}
}

// moves reports whether the last term of a fit, the driver's, is real, and moves
// memory notably.
func (d driver) moves(g fit, mean float64) bool {
	last := len(g.coefficients) - 1
	b := math.Abs(g.coefficients[last])
	return b/g.errors[last] > quantile(g.freedom, d.sure) && b*d.amount > notable*mean
}

func candidates(used []sample, base regression) []driver {
	all := []driver{trend(used)}
	if d, ok := stepAt(used, base); ok {
		all = append(all, d)
	}
	if d, ok := wave(used, base); ok {
		all = append(all, d)
	}
	return all
}

// trend is a pod's memory over time, whatever its level: hours from the middle of
// its samples. What it moves is that over the median pod's life.
func trend(used []sample) driver {
	sum, count, first, last := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, s := range used {
		if count[s.pod] == 0 {
			first[s.pod], last[s.pod] = s.at, s.at
		}
		sum[s.pod] += s.at
		count[s.pod]++
		first[s.pod], last[s.pod] = min(first[s.pod], s.at), max(last[s.pod], s.at)
	}
	d := driver{id: "calibrate/leak", sure: sure, text: leakText}
	for _, s := range used {
		d.term = append(d.term, (s.at-sum[s.pod]/count[s.pod])/hour)
	}
	var lives []float64
	for pod := range count {
		lives = append(lives, (last[pod]-first[pod])/hour)
	}
	slices.Sort(lives)
	d.amount = percentile(lives, 0.5)
	return d
}

func leakText(coefficient float64) (message, hint string) {
	if coefficient < 0 {
		return fmt.Sprintf("each pod's memory falls by %s an hour whatever its connections and endpoints: something else drives it", bytes(-coefficient)),
			"fit a period after that has settled, by --from"
	}
	return fmt.Sprintf("each pod's memory grows by %s an hour whatever its connections and endpoints: a leak", bytes(coefficient)),
		"find the leak (istiod's heap profile, its release notes), or fit the hours after a restart by --from and --to"
}

// stepAt is the hour from which on all memory is higher or lower, where that
// explains most.
func stepAt(used []sample, base regression) (driver, bool) {
	best, least := int64(0), math.Inf(1)
	for _, at := range stepHours(used) {
		with := base
		with.terms = append(slices.Clone(base.terms), since(used, at))
		b, ok := with.coefficients()
		if !ok {
			continue
		}
		if _, squares := with.predict(b); squares < least {
			best, least = at, squares
		}
	}
	text := func(coefficient float64) (string, string) {
		at := minute(float64(best) * hour)
		word := "higher"
		if coefficient < 0 {
			word = "lower"
		}
		return fmt.Sprintf("from %s on each pod's memory is %s by %s whatever its connections and endpoints: a step, as a change of version makes one", at, word, bytes(math.Abs(coefficient))),
			fmt.Sprintf("fit one side of it: --from %s, or --to %s", at, at)
	}
	return driver{"calibrate/step", since(used, best), surest, 1, text}, !math.IsInf(least, 1)
}

// stepHours are up to 48 hours with enough samples on either side.
func stepHours(used []sample) []int64 {
	hours := make([]int64, 0, len(used))
	for _, s := range used {
		hours = append(hours, s.hour())
	}
	slices.Sort(hours)
	inner := slices.Compact(slices.Clone(hours[int(edge*float64(len(hours))):int((1-edge)*float64(len(hours)))]))
	var all []int64
	for i, every := 1, max(1, len(inner)/48); i < len(inner); i += every {
		all = append(all, inner[i])
	}
	return all
}

func since(used []sample, at int64) []float64 {
	term := make([]float64, len(used))
	for i, s := range used {
		if s.hour() >= at {
			term[i] = 1
		}
	}
	return term
}

// wave is a cosine of 24 hours in the phase that fits. It is looked for where two
// days and a third of the hours of a day are seen.
func wave(used []sample, base regression) (driver, bool) {
	first, last := used[0].at, used[0].at
	for _, s := range used {
		first, last = min(first, s.at), max(last, s.at)
	}
	hours := distinct(used, func(s sample) int64 { return s.hour() % 24 })
	if last-first < 2*day || len(hours) < 8 {
		return driver{}, false
	}
	with := base
	with.terms = append(slices.Clone(base.terms), daily(used, 0), daily(used, day/4))
	b, ok := with.coefficients()
	if !ok {
		return driver{}, false
	}
	peak := math.Mod(math.Atan2(b[4], b[3])/(2*math.Pi)*day+day, day)
	text := func(coefficient float64) (string, string) {
		return fmt.Sprintf("memory rises and falls with the day by %s, most at %02d:00 UTC, whatever connections and endpoints: something else drives it", bytes(2*coefficient), int(peak/hour+0.5)%24),
			"find what else istiod does at that time (certificates, webhooks, configuration), or fit the hours of an event by --from and --to"
	}
	return driver{"calibrate/daily-wave", daily(used, peak), surest, 2, text}, true
}

// daily is a cosine of the time of day with its peak at that second.
func daily(used []sample, peak float64) []float64 {
	term := make([]float64, len(used))
	for i, s := range used {
		term[i] = math.Cos(2 * math.Pi * (s.at - peak) / day)
	}
	return term
}
