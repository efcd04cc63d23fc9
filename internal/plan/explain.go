package plan

import (
	"fmt"
	"math/big"
	"strings"
	"text/tabwriter"

	"github.com/meshgen/meshgen/internal/formula"
)

// Explain is a decision's derivation as text: its inputs with where they come
// from, and every formula with its numbers in place, computed anew from the
// terms. A formula that no longer comes to its term's value is our failure.
func Explain(d Decision) (string, error) {
	var s strings.Builder
	fmt.Fprintf(&s, "%s = %s\n", d.Subject, ValueText(d.Value, d.Unit))
	fmt.Fprintf(&s, "  %s\n", d.Reason)
	explainInputs(&s, d.Terms)
	if err := explainTerms(&s, d.Terms); err != nil {
		return "", fmt.Errorf("explain %s: %w", d.Subject, err)
	}
	if d.Running != nil {
		fmt.Fprintf(&s, "\n  runs today: %s, %s\n", ValueText(d.Running.Value, d.Unit), d.Running.Verdict)
		if err := explainRunning(&s, d); err != nil {
			return "", fmt.Errorf("explain %s as it runs: %w", d.Subject, err)
		}
	}
	fmt.Fprintf(&s, "\n  source: %s\n  answers to: %s\n", d.Source, d.Pos)
	return s.String(), nil
}

// ValueText is a decision's value with its unit, or what it means to have none.
func ValueText(value any, unit string) string {
	switch v := value.(type) {
	case nil:
		return "nothing is written"
	case []string:
		return strings.Join(v, "; ")
	case string:
		return v
	case int64:
		return measured(grouped(v), unit)
	}
	return fmt.Sprint(value)
}

func explainInputs(s *strings.Builder, terms []Term) {
	rows := tabwriter.NewWriter(s, 0, 0, 2, ' ', 0)
	header := "\n  inputs\n"
	for _, t := range terms {
		if t.From == "" {
			continue
		}
		fmt.Fprint(rows, header)
		header = ""
		from := t.From
		if t.Default {
			from += " (default)"
		}
		fmt.Fprintf(rows, "    %s\t%s\t%s\n", t.Name, measured(t.text(), t.Unit), from)
	}
	rows.Flush()
}

// text is a term's value in full, as far as it has a short decimal.
func (t Term) text() string {
	if t.Value == nil {
		return t.Text
	}
	if t.Value.IsInt() {
		return t.Value.RatString()
	}
	if n, exact := t.Value.FloatPrec(); exact && n <= 6 {
		return t.Value.FloatString(n)
	}
	return number(t.Value, 7)
}

func explainTerms(s *strings.Builder, terms []Term) error {
	header := "\n  arithmetic\n"
	for i, t := range terms {
		if t.From != "" {
			continue
		}
		s.WriteString(header)
		header = ""
		if t.Formula == "" {
			fmt.Fprintf(s, "    %s = %s\n", t.Name, measured(t.text(), t.Unit))
			if t.Note != "" {
				fmt.Fprintf(s, "      %s\n", t.Note)
			}
			continue
		}
		if err := explainFormula(s, t, terms[:i]); err != nil {
			return err
		}
	}
	return nil
}

// explainFormula prints a formula with its names, then with its numbers, then
// what these come to.
func explainFormula(s *strings.Builder, t Term, before []Term) error {
	value, err := Evaluate(t.Formula, before)
	if err != nil {
		return err
	}
	if value.Cmp(t.Value) != 0 {
		return fmt.Errorf("%s comes to %s, the plan has %s", t.Name, value.RatString(), t.Value.RatString())
	}
	names, err := formula.Text(t.Formula, nil)
	if err != nil {
		return err
	}
	numbers, err := formula.Text(t.Formula, func(name string) string {
		known, _ := find(before, name)
		return known.text()
	})
	if err != nil {
		return err
	}
	indent := "\n    " + strings.Repeat(" ", len(t.Name)) + " = "
	fmt.Fprintf(s, "    %s = %s%s%s%s%s\n", t.Name, names, indent, numbers, indent,
		measured(Term{Value: value}.text(), t.Unit))
	return nil
}

func explainRunning(s *strings.Builder, d Decision) error {
	terms := d.Terms
	for _, t := range d.Running.Terms {
		terms = without(terms, t.Name)
	}
	for _, t := range d.Running.Terms {
		if t.Formula == "" {
			fmt.Fprintf(s, "    %s = %s\n", t.Name, measured(t.text(), t.Unit))
		} else if err := explainFormula(s, t, terms); err != nil {
			return err
		}
		terms = append(terms, t)
	}
	return nil
}

// significant is a number with 4 significant digits, as a JSON number.
func significant(r *big.Rat) string { return number(r, 4) }
