package plan

import (
	"fmt"
	"math/big"
	"time"

	"github.com/meshgen/meshgen/internal/formula"
	"github.com/meshgen/meshgen/internal/sizing"
)

// derivation computes a decision term by term. Every term is evaluated from its
// written formula, so that what explain prints is what was computed. The first
// failure stays; terms after it are zero.
type derivation struct {
	terms []Term
	err   error
}

func (d *derivation) input(t Term) { d.terms = append(d.terms, t) }

// set computes a term from its formula.
func (d *derivation) set(name, expression, unit string) *big.Rat {
	value, err := Evaluate(expression, d.terms)
	if err != nil {
		value = new(big.Rat)
		if d.err == nil {
			d.err = fmt.Errorf("%s: %w", name, err)
		}
	}
	d.terms = append(d.terms, Term{Name: name, Value: value, Unit: unit, Formula: expression})
	return value
}

// whole is set for a value that is a whole number.
func (d *derivation) whole(name, expression, unit string) int64 {
	return d.set(name, expression, unit).Num().Int64()
}

// found adds the result of a search, which no formula can say.
func (d *derivation) found(name string, value int64, unit, note string) {
	d.terms = append(d.terms, Term{Name: name, Value: big.NewRat(value, 1), Unit: unit, Note: note})
}

func (d *derivation) text(name, text string) {
	d.terms = append(d.terms, Term{Name: name, Text: text})
}

// Evaluate is the value of a formula over terms.
func Evaluate(expression string, terms []Term) (*big.Rat, error) {
	return formula.Eval(expression, formula.Scope{
		Lookup: func(name string) (*big.Rat, bool) {
			t, ok := find(terms, name)
			return t.Value, ok && t.Value != nil
		},
		Funcs: functions,
	})
}

func find(terms []Term, name string) (Term, bool) {
	for i := range terms {
		if terms[i].Name == name {
			return terms[i], true
		}
	}
	return Term{}, false
}

// functions are what formulas may call; package sizing says what each is.
var functions = map[string]formula.Func{
	"ceil":       exact(1, func(a []*big.Rat) *big.Rat { return new(big.Rat).SetInt(sizing.Ceil(a[0])) }),
	"floor":      exact(1, func(a []*big.Rat) *big.Rat { return new(big.Rat).SetInt(sizing.Floor(a[0])) }),
	"max":        extreme(1),
	"min":        extreme(-1),
	"upTo":       exact(2, func(a []*big.Rat) *big.Rat { return sizing.Multiple(a[0], a[1]) }),
	"step":       whole(1, func(n []int64) int64 { return sizing.Step(n[0]) }),
	"sendBuffer": exact(1, func(a []*big.Rat) *big.Rat { return sizing.SendBuffer(a[0]) }),
	"hot":        spread(sizing.Hot),
	"hot99":      spread(sizing.Hot99),
	"fewest": exact(2, func(a []*big.Rat) *big.Rat {
		return big.NewRat(sizing.Fewest(a[0].Num().Int64(), a[1]), 1)
	}),
	"beforeZoneLoss": whole(2, func(n []int64) int64 { return sizing.Loss{Mode: "zone", Zones: n[1]}.Before(n[0]) }),
	"beforePodLoss":  whole(1, func(n []int64) int64 { return sizing.Loss{Mode: "pod"}.Before(n[0]) }),
	"beforeShareLoss": exact(2, func(a []*big.Rat) *big.Rat {
		return big.NewRat(sizing.Loss{Mode: "share", Share: a[1]}.Before(a[0].Num().Int64()), 1)
	}),
	"overload":  byZone(2, func(q []*big.Rat, n [][]int64) *big.Rat { return sizing.Overload(q, n[0]) }),
	"stranded":  byZone(2, func(q []*big.Rat, n [][]int64) *big.Rat { return big.NewRat(sizing.Stranded(q, n[0]), 1) }),
	"crossZone": byZone(3, func(q []*big.Rat, n [][]int64) *big.Rat { return sizing.CrossZone(q, n[0], n[1]) }),
	"zoneLoss": byZone(2, func(q []*big.Rat, n [][]int64) *big.Rat {
		share, _, _ := sizing.ZoneLoss(q, n[0])
		return share
	}),
	"fewestInZone": whole(3, func(n []int64) int64 {
		fewest, _ := sizing.Reachable(n[0], n[1], n[2])
		return fewest
	}),
	"doublings": exact(1, func(a []*big.Rat) *big.Rat { return big.NewRat(doublings(a[0]), 1) }),
	"age":       exact(1, func(a []*big.Rat) *big.Rat { return big.NewRat(int64(connectionAge(a[0])/time.Second), 1) }),
}

func exact(args int, f func([]*big.Rat) *big.Rat) formula.Func {
	return func(a ...*big.Rat) (*big.Rat, error) {
		if len(a) != args {
			return nil, fmt.Errorf("takes %d numbers, has %d", args, len(a))
		}
		return f(a), nil
	}
}

func whole(args int, f func([]int64) int64) formula.Func {
	return exact(args, func(a []*big.Rat) *big.Rat {
		n := make([]int64, 0, len(a))
		for _, r := range a {
			n = append(n, r.Num().Int64())
		}
		return big.NewRat(f(n), 1)
	})
}

func spread(f func(mu float64, m int64) float64) formula.Func {
	return exact(2, func(a []*big.Rat) *big.Rat {
		mu, _ := a[0].Float64()
		return new(big.Rat).SetFloat64(f(mu, a[1].Num().Int64()))
	})
}

// byZone is a function over zones: for each of them a share and then whole
// numbers, width in all.
func byZone(width int, f func(q []*big.Rat, n [][]int64) *big.Rat) formula.Func {
	return func(a ...*big.Rat) (*big.Rat, error) {
		if len(a) == 0 || len(a)%width != 0 {
			return nil, fmt.Errorf("takes %d numbers for each zone, has %d", width, len(a))
		}
		var q []*big.Rat
		n := make([][]int64, width-1)
		for i := 0; i < len(a); i += width {
			q = append(q, a[i])
			for j := range n {
				n[j] = append(n[j], a[i+1+j].Num().Int64())
			}
		}
		return f(q, n), nil
	}
}

func extreme(sign int) formula.Func {
	return func(a ...*big.Rat) (*big.Rat, error) {
		if len(a) == 0 {
			return nil, fmt.Errorf("takes at least one number")
		}
		best := a[0]
		for _, r := range a[1:] {
			if r.Cmp(best)*sign > 0 {
				best = r
			}
		}
		return best, nil
	}
}

// doublings is max(0, ⌈log₂ x⌉): how often the HPA must double.
func doublings(x *big.Rat) int64 {
	n := int64(0)
	for power := big.NewRat(1, 1); power.Cmp(x) < 0; n++ {
		power.Mul(power, big.NewRat(2, 1))
	}
	return n
}

// connectionAges are the ages that may be chosen, ascending.
var connectionAges = [...]time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute}

// connectionAge is the largest age that is at most limit seconds; 0 when none is.
func connectionAge(limit *big.Rat) time.Duration {
	var age time.Duration
	for _, a := range connectionAges {
		if big.NewRat(int64(a/time.Second), 1).Cmp(limit) <= 0 {
			age = a
		}
	}
	return age
}
