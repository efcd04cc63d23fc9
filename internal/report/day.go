package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/meshgen/meshgen/internal/simulate"
)

// day is the horizontal scale that all drawings of a report share: minutes from
// start, which is zero where the report does not say when its minute 0 is. A
// short one is told in seconds instead.
type day struct {
	start       time.Time
	seconds     bool
	first, last float64
	marks       []simulate.Mark // by minute
}

func newDay(r *simulate.Report) day {
	start, _ := time.Parse(time.RFC3339, r.Start)
	d := day{start: start.UTC(), first: math.Inf(1), last: math.Inf(-1)}
	for _, w := range r.Worlds {
		for _, s := range w.Series {
			d.first, d.last = min(d.first, s.Minute), max(d.last, s.Minute)
		}
	}
	if d.first >= d.last || !known(d.last-d.first) {
		d.first, d.last = 0, 1
	}
	for _, m := range r.Marks {
		if m.Minute >= d.first && m.Minute <= d.last {
			d.marks = append(d.marks, m)
		}
	}
	slices.SortStableFunc(d.marks, func(a, b simulate.Mark) int { return cmp.Compare(a.Minute, b.Minute) })
	return d
}

// tick is a value of a scale and what is written at it.
type tick struct {
	value float64
	label string
}

// steps are the distances of clock ticks in minutes, up to a day.
var steps = []int{1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440}

// mostTicks is how many clock ticks have room below a drawing.
const mostTicks = 7

// step is the smallest distance, or number of days, at which the ticks have room.
func (d day) step() int {
	span := d.last - d.first
	for _, s := range steps {
		if span <= float64(mostTicks*s) {
			return s
		}
	}
	return 1440 * int(math.Ceil(span/(mostTicks*1440)))
}

// ticks are whole hours and parts of them, as a clock in UTC shows them.
func (d day) ticks() []tick {
	offset, step := d.start.Hour()*60+d.start.Minute(), d.step()
	var all []tick
	at := (int(math.Ceil(d.first)) + offset + step - 1) / step * step
	for ; float64(at-offset) <= d.last; at += step {
		all = append(all, tick{float64(at - offset), d.clock(float64(at - offset))})
	}
	return all
}

// clock is the time of day at a minute, a date at midnight, or the minute itself
// where the day is not known.
func (d day) clock(minute float64) string {
	if d.seconds {
		return fmt.Sprintf("%.0f s", minute)
	}
	if d.start.IsZero() {
		return fmt.Sprintf("%.0f min", minute)
	}
	t := d.start.Add(time.Duration(math.Round(minute)) * time.Minute)
	if t.Hour() == 0 && t.Minute() == 0 {
		return t.Format("2 Jan")
	}
	return t.Format("15:04")
}

// rounds are the steps of a scale of values, times a power of ten.
var rounds = []float64{1, 2, 5}

// mostGaps is how many steps a scale of values has at the most.
const mostGaps = 4

// scale is the ticks from zero up to top, at multiples of 1, 2 or 5 times a power
// of ten of the smallest step.
func scale(top, smallest float64, label func(float64) string) []tick {
	step := stepOf(top, smallest)
	var all []tick
	for i := 0.0; i*step <= top; i++ {
		all = append(all, tick{i * step, label(i * step)})
	}
	return all
}

func stepOf(top, smallest float64) float64 {
	for power := smallest; ; power *= 10 {
		for _, r := range rounds {
			if top < (mostGaps+1)*r*power {
				return r * power
			}
		}
	}
}
