package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FaultHelp says what can go wrong on a simulated day, and how it is written.
const FaultHelp = "zone, node, pods=N, pods=N%, rollout, prometheus[=DURATION], endpoints[=DURATION], each at the worst moment or with @WHEN, " +
	"early=DURATION, load=FACTOR, no-prescale"

// disturbed is what is given to go wrong: what changes the day itself, and what
// strikes at a moment.
type disturbed struct {
	early  time.Duration // by which the event's load comes before its time
	load   float64       // by which the event's excess is multiplied
	faults []fault       // at none: the worst moment
}

// faultError is a fault that cannot be.
func faultError(text, why string) error {
	return fmt.Errorf("fault %q: %s: faults are %s", text, why, FaultHelp)
}

// disturb reads the faults, and finds their moments.
func (d *day) disturb(texts []string) error {
	for _, text := range texts {
		if err := d.fault(text); err != nil {
			return err
		}
	}
	asks, err := d.demand(false)
	if err != nil {
		return err
	}
	moment := d.millis(d.start)
	if d.event != none {
		moment = worst(asks.steps(d.End.Sub(d.Start), d.memory), d.millis(d.start.Add(-d.early)), d.millis(d.end))
	}
	for i := range d.faults {
		f := &d.faults[i]
		if f.at == none {
			f.at = moment
		}
		f.until += f.at
		if (f.kind == silence || f.kind == blindness) && f.until == f.at {
			f.until = d.millis(d.End)
		}
	}
	return nil
}

// fault reads one, KIND[=ARG][@WHEN].
func (d *day) fault(text string) error {
	what, when, timed := strings.Cut(text, "@")
	kind, arg, given := strings.Cut(what, "=")
	at := int64(none)
	if timed {
		after, err := time.ParseDuration(when)
		if err != nil {
			return faultError(text, fmt.Sprintf("%q is no moment such as 19m or -10m from the start of the event", when))
		}
		at = d.from(after)
		if at < 0 || at >= d.millis(d.End) {
			return faultError(text, fmt.Sprintf("%s is not on the day that is played, %s to %s", when, rfc3339(d.Start), rfc3339(d.End)))
		}
	}
	switch kind {
	case "early", "load", "no-prescale":
		if timed {
			return faultError(text, kind+" is of the whole day")
		}
		return d.wholeDay(text, kind, arg, given)
	}
	return d.striking(text, kind, arg, given, at)
}

// from is a moment from the start of the event, or from minute 0 without one.
func (d *day) from(after time.Duration) int64 {
	if d.event == none {
		return after.Milliseconds()
	}
	return d.millis(d.start.Add(after))
}

// wholeDay reads a fault that changes the day.
func (d *day) wholeDay(text, kind, arg string, given bool) error {
	if kind == "no-prescale" {
		if given {
			return faultError(text, "no-prescale takes no argument")
		}
		d.faults = append(d.faults, fault{kind: unfiring, at: 0})
		return nil
	}
	if d.event == none {
		return faultError(text, "there is no event")
	}
	if kind == "early" {
		before, err := time.ParseDuration(arg)
		if err != nil || before <= 0 || d.start.Add(-before).Before(d.Start) {
			return faultError(text, "early takes a duration such as 20m, on the day that is played")
		}
		d.early = before
		return nil
	}
	factor, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(factor >= 0 && factor <= 100) {
		return faultError(text, "load takes a factor such as 2, up to 100")
	}
	d.load = factor
	return nil
}

// striking reads a fault that strikes at a moment.
func (d *day) striking(text, kind, arg string, given bool, at int64) error {
	name, _, _ := strings.Cut(text, "@")
	f := fault{name: name, at: at}
	switch kind {
	case "zone":
		f.kind = loseZone
		if d.plan.Istiod.Zones < 2 {
			return faultError(text, "istiod has one zone, and none would be left")
		}
	case "node":
		f.kind = loseNode
	case "rollout":
		f.kind = rollout
	case "prometheus", "endpoints":
		f.kind = silence
		if kind == "endpoints" {
			f.kind = blindness
			if d.plan.Istiod.Triggers[0].Weight == nil {
				return faultError(text, "connections do not weigh by endpoints (spec.istiod.scaling): none are asked for")
			}
		}
		if given {
			long, err := time.ParseDuration(arg)
			if err != nil || long <= 0 {
				return faultError(text, kind+" takes a duration such as 30m")
			}
			f.until, given = long.Milliseconds(), false
		}
	case "pods":
		f.kind, given = losePods, false
		pods, ok := podsOf(arg)
		if !ok {
			return faultError(text, "pods takes how many are lost, such as 8 or 50%")
		}
		f.pods = pods
	default:
		return faultError(text, "there is no "+strconv.Quote(kind))
	}
	if given {
		return faultError(text, kind+" takes no argument")
	}
	d.faults = append(d.faults, f)
	return nil
}

// podsOf reads "8", or "12.5%".
func podsOf(text string) (share, bool) {
	if percent, relative := strings.CutSuffix(text, "%"); relative {
		n, err := strconv.ParseFloat(percent, 64)
		return share{millionths: int64(math.Round(n * 10_000))}, err == nil && n > 0 && n <= 100
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return share{pods: n}, err == nil && n > 0 && n <= 100_000
}
