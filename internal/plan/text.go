package plan

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// number prints a rational with at most the given significant digits, without
// an exponent and without trailing zeros.
func number(r *big.Rat, digits int) string {
	f, _ := r.Float64()
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', digits, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// grouped prints a whole number with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// durationText prints a duration in the largest unit in which it is whole, at
// least a second: "15m", "90s".
func durationText(d time.Duration) string {
	switch {
	case d%time.Hour == 0 && d != 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	default:
		return d.String()
	}
}

// upToMinute is a number of seconds up to the whole minute.
func upToMinute(seconds *big.Rat) time.Duration {
	minutes := new(big.Rat).Quo(seconds, big.NewRat(60, 1))
	whole, rest := new(big.Int).DivMod(minutes.Num(), minutes.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return time.Duration(whole.Int64()) * time.Minute
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// measured is a number with its unit, of which one is one: "1 pod".
func measured(number, unit string) string {
	word, rest, _ := strings.Cut(unit, " ")
	if number == "1" && len(word) > 2 {
		if stem, ok := strings.CutSuffix(word, "ies"); ok {
			word = stem + "y"
		}
		unit = strings.TrimSpace(strings.TrimSuffix(word, "s") + " " + rest)
	}
	return strings.TrimSpace(number + " " + unit)
}

// identifier is a name as KEDA's formulas accept it.
func identifier(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Short is a term's value with 4 significant digits and its unit.
func (t Term) Short() string {
	if t.Value == nil {
		return t.Text
	}
	if t.Value.IsInt() {
		return measured(grouped(t.Value.Num().Int64()), t.Unit)
	}
	return measured(number(t.Value, 4), t.Unit)
}
