package plan

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/meshgen/meshgen/internal/diag"
)

// document is the plan as machines read it.
type document struct {
	Cluster   string     `json:"cluster"`
	Decisions []decision `json:"decisions"`
	Findings  diag.List  `json:"findings"`
}

type decision struct {
	Subject string   `json:"subject"`
	Value   any      `json:"value"`
	Unit    string   `json:"unit"`
	Terms   terms    `json:"terms"`
	Reason  string   `json:"reason"`
	Source  string   `json:"source"`
	Running *running `json:"running"`
}

type running struct {
	Value   any     `json:"value"`
	Verdict Verdict `json:"verdict"`
	Terms   terms   `json:"terms"`
}

// terms print as one object, names in the order of the derivation and numbers
// with 4 significant digits.
type terms []Term

// MarshalJSON prints the object.
func (t terms) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, term := range t {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(term.Text)
		if err != nil {
			return nil, err
		}
		if term.Value != nil {
			value = []byte(significant(term.Value))
		}
		fmt.Fprintf(&b, "%q:%s", term.Name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON is the plan as indented JSON with a final newline, with the findings of
// every stage that has run.
func (p *Plan) JSON(findings diag.List) ([]byte, error) {
	doc := document{Cluster: p.Cluster, Decisions: []decision{}, Findings: append(diag.List{}, findings.Sorted()...)}
	for _, d := range p.Decisions {
		out := decision{d.Subject, d.Value, d.Unit, d.Terms, d.Reason, d.Source, nil}
		if r := d.Running; r != nil {
			out.Running = &running{r.Value, r.Verdict, r.Terms}
		}
		doc.Decisions = append(doc.Decisions, out)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("plan of %s as JSON: %w", p.Cluster, err)
	}
	return b.Bytes(), nil
}
