package change

import (
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// Concerns are the dangers as findings, each at the field that moved it, so that a
// reviewer sees it beside the changed line, and the findings that came. whole is
// where the profile begins: for what no field alone has moved.
func (c *Cluster) Concerns(whole diag.Pos) diag.List {
	all := append(diag.List{}, c.Findings.Appeared...)
	for _, d := range c.Dangers {
		all = append(all, diag.Finding{
			Severity: diag.Warning, ID: Concern(d.Rule), Pos: c.movedBy(d.Subject, whole), Subject: d.Subject,
			Message: string(d.Risk) + " risk: " + strings.TrimSuffix(d.Subject+" "+d.Detail, " ") + ": " + d.What, Hint: d.Why,
		})
	}
	return all
}

// Concern is the id of a rule's findings.
func Concern(rule string) string { return "change/" + rule }

// movedBy is where the first of the fields stands that moved a decision, or the
// first of all that moved.
func (c *Cluster) movedBy(subject string, whole diag.Pos) diag.Pos {
	at := whole
	if len(c.Inputs) > 0 {
		at = c.Inputs[0].Pos
	}
	for _, d := range c.Decisions {
		if d.Subject != subject || len(d.Causes) == 0 {
			continue
		}
		for _, i := range c.Inputs {
			if strings.HasPrefix(i.Path, d.Causes[0].Inputs) {
				return i.Pos
			}
		}
	}
	return at
}
