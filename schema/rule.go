package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue"
)

// rule judges a scalar as the CUE expression does that it was made from, without
// an evaluation: a profile may have as many values as it has bytes, and a CUE
// context keeps all that it has ever judged.
type rule func(*node) bool

// ruleOf makes a rule of a constraint; it fails on an expression that it does
// not know.
func ruleOf(v cue.Value) (rule, error) {
	v = cue.Dereference(v)
	op, operands := v.Expr()
	switch op {
	case cue.NoOp:
		return valueRule(v)
	case cue.AndOp, cue.OrOp:
		return jointRule(op, operands)
	case cue.RegexMatchOp:
		return patternRule(operands[0])
	case cue.CallOp:
		return lengthRule(operands)
	case cue.GreaterThanOp, cue.GreaterThanEqualOp, cue.LessThanOp, cue.LessThanEqualOp:
		return boundRule(op, operands[0])
	}
	return nil, fmt.Errorf("no rule is known for %v", v)
}

// refuse is the rule where no scalar may stand.
func refuse(*node) bool { return false }

// valueRule is of one value, or of all of a kind.
func valueRule(v cue.Value) (rule, error) {
	if choice, err := v.String(); err == nil {
		return func(n *node) bool { return n.kind == text && n.literal == choice }, nil
	}
	switch v.IncompleteKind() {
	case cue.TopKind:
		return func(*node) bool { return true }, nil
	case cue.StructKind, cue.ListKind:
		return refuse, nil
	case cue.BoolKind:
		return func(n *node) bool { return n.kind == boolean }, nil
	case cue.IntKind:
		return func(n *node) bool { return n.kind == number && !strings.ContainsAny(n.literal, ".eE") }, nil
	}
	return nil, fmt.Errorf("no rule is known for %v", v)
}

func jointRule(op cue.Op, operands []cue.Value) (rule, error) {
	var rules []rule
	for _, o := range operands {
		r, err := ruleOf(o)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	decisive := op == cue.OrOp
	return func(n *node) bool {
		// The last first: a text's length is the last, and the cheapest.
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i](n) == decisive {
				return decisive
			}
		}
		return !decisive
	}, nil
}

func patternRule(pattern cue.Value) (rule, error) {
	s, err := pattern.String()
	if err != nil {
		return nil, err
	}
	expression, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	return func(n *node) bool { return n.kind == text && expression.MatchString(n.literal) }, nil
}

func lengthRule(call []cue.Value) (rule, error) {
	if name := fmt.Sprint(call[0]); name != "strings.MaxRunes" {
		return nil, fmt.Errorf("no rule is known for %s", name)
	}
	limit, err := call[1].Int64()
	if err != nil {
		return nil, err
	}
	return func(n *node) bool { return n.kind == text && utf8.RuneCountInString(n.literal) <= int(limit) }, nil
}

func boundRule(op cue.Op, bound cue.Value) (rule, error) {
	literal := scalarOf(bound).literal
	limit, ok := new(big.Rat).SetString(literal)
	if !ok {
		return nil, fmt.Errorf("the bound %s is no number", literal)
	}
	accepts := map[cue.Op]func(int) bool{
		cue.GreaterThanOp:      func(sign int) bool { return sign > 0 },
		cue.GreaterThanEqualOp: func(sign int) bool { return sign >= 0 },
		cue.LessThanOp:         func(sign int) bool { return sign < 0 },
		cue.LessThanEqualOp:    func(sign int) bool { return sign <= 0 },
	}[op]
	return func(n *node) bool {
		if n.kind != number {
			return false
		}
		value, ok := new(big.Rat).SetString(n.literal)
		return ok && accepts(value.Cmp(limit))
	}, nil
}
