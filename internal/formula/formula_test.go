package formula

import (
	"fmt"
	"math/big"
	"testing"
)

func scope() Scope {
	names := map[string]*big.Rat{"h": big.NewRat(85, 100), "L": big.NewRat(1000, 1), "zero": new(big.Rat)}
	return Scope{
		Lookup: func(name string) (*big.Rat, bool) { value, ok := names[name]; return value, ok },
		Funcs: map[string]Func{"half": func(a ...*big.Rat) (*big.Rat, error) {
			if len(a) != 1 {
				return nil, fmt.Errorf("takes 1 number, has %d", len(a))
			}
			return new(big.Rat).Quo(a[0], big.NewRat(2, 1)), nil
		}},
	}
}

func TestEvalAndText(t *testing.T) {
	for name, c := range map[string]struct{ expression, value, text string }{
		"products bind before sums":    {"1 + h*L - 50", "801", "1 + h × L − 50"},
		"parentheses stay":             {"(h*L - 50) / 8", "100", "(h × L − 50) / 8"},
		"tenths are exact":             {"0.1 + 0.2", "3/10", "0.1 + 0.2"},
		"a function of an expression":  {"half(L + 1)", "1001/2", "half(L + 1)"},
		"division is from the left":    {"100 / 10 / 2", "5", "100 / 10 / 2"},
		"subtraction is from the left": {"10 - 3 - 2", "5", "10 − 3 − 2"},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := Eval(c.expression, scope())
			if err != nil || value.RatString() != c.value {
				t.Errorf("%s is %v (%v), want %s", c.expression, value, err, c.value)
			}
			if text, err := Text(c.expression, nil); err != nil || text != c.text {
				t.Errorf("text %q (%v), want %q", text, err, c.text)
			}
		})
	}
}

func TestTextWithNumbersInPlace(t *testing.T) {
	got, err := Text("half(h*L)", func(name string) string { return map[string]string{"h": "0.85", "L": "1000"}[name] })
	if err != nil || got != "half(0.85 × 1000)" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestEvalRefuses(t *testing.T) {
	for name, c := range map[string]struct{ expression, want string }{
		"what is not an expression": {"1 +", `formula "1 +": 1:4: expected operand, found 'EOF'`},
		"an unknown name":           {"h * M", `formula "h * M": unknown name M`},
		"an unknown function":       {"twice(h)", `formula "twice(h)": unknown function twice`},
		"a division by zero":        {"(h + L) / zero", `formula "(h + L) / zero": (h + L) is divided by zero`},
		"a comparison":              {"h < L", `formula "h < L": operator < is not arithmetic`},
		"a string":                  {`"h"`, `formula "\"h\"": "h" is not a number`},
		"an index":                  {"h[0]", `formula "h[0]": *ast.IndexExpr is not arithmetic`},
		"a wrong count of numbers":  {"half(h, L)", `formula "half(h, L)": half: takes 1 number, has 2`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Eval(c.expression, scope()); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
