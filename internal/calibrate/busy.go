package calibrate

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// activity is what makes an hour busy.
type activity struct {
	changes     float64 // endpoints that came or went
	connections float64 // of the mesh, on average
}

// busy keeps the samples of busy hours, for the model is of these: at rest a
// connection costs little and hardly depends on endpoints; while endpoints change
// it is dear. An hour is busy when its endpoints change as much as in the busiest
// share of the hours, or its connections are as many as in the busiest share.
// Hours are chosen by what explains memory, never by memory itself, which would
// bend the fit.
func (f *fitter) busy(all []sample, counts drops) []sample {
	hours := activities(all)
	f.report.Hours = len(hours)
	chosen := busyHours(hours, f.options.Busy)
	f.report.BusyHours = spans(chosen)
	used := make([]sample, 0, len(all))
	for _, s := range all {
		if chosen[s.hour()] {
			used = append(used, s)
		}
	}
	if quiet := len(all) - len(used); quiet > 0 {
		counts[quietHour] = quiet
	}
	return used
}

// activities is what happened in each hour that has samples.
func activities(all []sample) map[int64]activity {
	type podHour struct {
		pod  string
		hour int64
	}
	sum, count := map[podHour]float64{}, map[podHour]float64{}
	var pods []podHour
	for _, s := range all {
		at := podHour{s.pod, s.hour()}
		if count[at] == 0 {
			pods = append(pods, at)
		}
		sum[at] += s.connections
		count[at]++
	}
	hours := map[int64]activity{}
	for _, at := range pods {
		a := hours[at.hour]
		a.connections += sum[at] / count[at]
		hours[at.hour] = a
	}
	for at, change := range changes(all) {
		a := hours[at]
		a.changes = change
		hours[at] = a
	}
	return hours
}

// changes is how many endpoints came or went in each hour, as far as their number
// tells.
func changes(all []sample) map[int64]float64 {
	byTime := make([]Point, 0, len(all))
	for _, s := range all {
		byTime = append(byTime, Point{s.at, s.endpoints})
	}
	slices.SortFunc(byTime, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	hours := map[int64]float64{}
	for i := 1; i < len(byTime); i++ {
		hours[int64(math.Floor(byTime[i].At/hour))] += math.Abs(byTime[i].Value - byTime[i-1].Value)
	}
	return hours
}

// busyHours are the hours in the busiest share by either measure.
func busyHours(hours map[int64]activity, share float64) map[int64]bool {
	var byChanges, byConnections []float64
	for _, a := range hours {
		byChanges = append(byChanges, a.changes)
		byConnections = append(byConnections, a.connections)
	}
	leastChanges, leastConnections := least(byChanges, share), least(byConnections, share)
	chosen := map[int64]bool{}
	for at, a := range hours {
		changing := a.changes > 0 && a.changes >= leastChanges
		if share >= 1 || changing || a.connections >= leastConnections {
			chosen[at] = true
		}
	}
	return chosen
}

// least is the smallest of the largest share of the values.
func least(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	n := min(len(values), max(1, int(math.Ceil(share*float64(len(values))))))
	return values[len(values)-n]
}

// spans are hours that follow one another, as one.
func spans(chosen map[int64]bool) []Hours {
	hours := make([]int64, 0, len(chosen))
	for at := range chosen {
		hours = append(hours, at)
	}
	slices.Sort(hours)
	all := []Hours{}
	for i := 0; i < len(hours); {
		from := i
		for i++; i < len(hours) && hours[i] == hours[i-1]+1; i++ {
		}
		all = append(all, Hours{minute(float64(hours[from]) * hour), minute(float64(hours[i-1]+1) * hour)})
	}
	return all
}

// minute prints a moment in UTC.
func minute(at float64) string {
	return time.Unix(int64(at), 0).UTC().Format(time.RFC3339)
}
