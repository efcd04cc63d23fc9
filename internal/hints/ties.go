package hints

import "math"

// overload is how much more than its share an endpoint may be given, as
// topologycache has it (overloadThreshold). The arithmetic below is float64
// because that of Kubernetes is: exact numbers decide otherwise at common
// ratios, such as 12 endpoints on 8, 8 and 4 cores.
const overload float64 = 0.2

// allocations are every result of topologycache's getGivingAndReceivingZones:
// the zone with the most to give gives to the zone that lacks the most, until
// one of them is within half an endpoint of what it should have. Where several
// zones have equally much, the order of a map chooses.
func allocations(milli, ready []int64) []Outcome {
	surplus, deficit := differences(milli, ready)
	gives, takes := newLedger(surplus), newLedger(deficit)
	for {
		give, from := largest(surplus)
		take, to := largest(deficit)
		if give < 1 && take < 1 || give < 0.5 || take < 0.5 {
			break
		}
		gives.move(from, give)
		takes.move(to, take)
	}
	var all []Outcome
	for _, lent := range gives.endings() {
		for _, borrowed := range takes.endings() {
			all = append(all, outcome(ready, lent, borrowed))
		}
	}
	return all
}

// differences are how many endpoints each zone has above or below the share
// that its CPU asks for. A zone without CPU neither gives nor takes.
func differences(milli, ready []int64) (surplus, deficit []float64) {
	total, endpoints := int64(0), int64(0)
	for i := range milli {
		total += milli[i]
		endpoints += ready[i]
	}
	surplus, deficit = make([]float64, len(milli)), make([]float64, len(milli))
	for i, cpu := range milli {
		if cpu == 0 {
			continue
		}
		ratio := float64(cpu) / float64(total)
		desired := ratio * float64(endpoints)
		minimum := math.Ceil(desired * (1 / (1 + overload)))
		target := math.Max(desired, minimum)
		surplus[i] = max(0, float64(ready[i])-target)
		deficit[i] = max(0, target-float64(ready[i]))
	}
	return surplus, deficit
}

func largest(values []float64) (most float64, at int) {
	for i, v := range values {
		if v > most {
			most, at = v, i
		}
	}
	return most, at
}

func outcome(ready, lent, borrowed []int64) Outcome {
	o := Outcome{Hints: make([]int64, len(ready)), Lent: lent, Borrowed: borrowed}
	for i := range ready {
		o.Hints[i] = ready[i] - lent[i] + borrowed[i]
	}
	return o
}

// ledger counts the endpoints that one side has moved. The largest value never
// rises, so every zone that held a value has moved once before a smaller value
// is the largest: only the zones of the last value are open to choice.
type ledger struct {
	left  []float64
	moved []int64
	level float64 // the last value that was the largest
	at    []int   // the zones that have moved at that level
}

func newLedger(left []float64) *ledger {
	return &ledger{left: left, moved: make([]int64, len(left))}
}

// move takes one endpoint of the zone that has the largest value.
func (l *ledger) move(zone int, value float64) {
	if value != l.level {
		l.level, l.at = value, nil
	}
	l.at = append(l.at, zone)
	l.moved[zone]++
	l.left[zone]--
}

// endings are the counts that are possible: any choice, of as many as have
// moved, among the zones that held the last value.
func (l *ledger) endings() [][]int64 {
	certain := append([]int64{}, l.moved...)
	tied := append([]int{}, l.at...)
	for _, zone := range l.at {
		certain[zone]--
	}
	for zone, v := range l.left {
		if len(l.at) > 0 && v == l.level {
			tied = append(tied, zone)
		}
	}
	return choices(certain, tied, len(l.at))
}

// choices are the counts with one more in each of so many of the tied zones.
func choices(counts []int64, tied []int, moves int) [][]int64 {
	if moves == 0 {
		return [][]int64{counts}
	}
	if moves > len(tied) {
		return nil
	}
	with := append([]int64{}, counts...)
	with[tied[0]]++
	return append(choices(with, tied[1:], moves-1), choices(counts, tied[1:], moves)...)
}
