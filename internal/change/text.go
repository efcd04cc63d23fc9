package change

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// Text writes the changes for a terminal, the clusters in their order.
func Text(w io.Writer, all []*Cluster) error {
	var p textPage
	for i, c := range all {
		if i > 0 {
			p.line("")
		}
		p.cluster(c)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// JSON writes {"clusters": [...]}, indented.
func JSON(w io.Writer, all []*Cluster) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"clusters": filled(all)})
}

// filled has empty lists where there would be null.
func filled(all []*Cluster) []Cluster {
	clusters := []Cluster{}
	for _, c := range all {
		f := *c
		f.Dangers, f.Inputs, f.Restarts, f.Freezes = some(c.Dangers), some(c.Inputs), some(c.Restarts), some(c.Freezes)
		f.Decisions, f.Resources = some(c.Decisions), some(c.Resources)
		f.Findings = Findings{some(c.Findings.Appeared), some(c.Findings.Went), some(c.Findings.Changed)}
		for i := range f.Decisions {
			f.Decisions[i].Causes, f.Decisions[i].Terms = some(f.Decisions[i].Causes), some(f.Decisions[i].Terms)
		}
		for i := range f.Resources {
			f.Resources[i].Fields = some(f.Resources[i].Fields)
		}
		for i := range f.Restarts {
			f.Restarts[i].Fields = some(f.Restarts[i].Fields)
		}
		clusters = append(clusters, f)
	}
	return clusters
}

// some is a copy that is not nil.
func some[S ~[]E, E any](items S) S { return append(S{}, items...) }

type textPage struct{ strings.Builder }

func (p *textPage) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *textPage) cluster(c *Cluster) {
	p.line("%s: %s", clip(c.Name), c.summary())
	for _, d := range c.high() {
		p.line("  HIGH %s", d)
	}
	if len(c.Inputs) > 0 {
		p.line("profile")
	}
	for _, i := range c.Inputs {
		p.line("  %s: %s: %s", i.Pos, clip(i.Path), i.moved())
	}
	if len(c.Decisions) > 0 {
		p.line("decisions")
	}
	for _, d := range c.Decisions {
		p.decision(&d)
	}
	p.restarts(c)
	p.findings(c.Findings)
	if len(c.Resources) > 0 {
		p.line("resources")
	}
	for _, r := range c.Resources {
		p.line("  %s (%s)", clip(r.title()), clip(r.File))
		for _, line := range r.lines() {
			p.line("    %s", line)
		}
	}
}

func (p *textPage) decision(d *Decision) {
	p.line("  %-6s %s %s", d.Risk, clip(d.Subject), clip(d.brief()))
	for _, c := range d.Causes {
		p.line("         by %s", d.cause(c, clip(c.Inputs)))
	}
}

func (p *textPage) restarts(c *Cluster) {
	if c.State != Moved {
		return
	}
	p.line("restarts")
	if len(c.Restarts) == 0 {
		p.line("  none")
	}
	for _, r := range c.Restarts {
		p.line("  %s %s", clip(r.Workload), r.does())
	}
	for _, f := range c.Freezes {
		p.line("  not within %s (event %s)", clip(f.Span), clip(f.Event))
	}
}

func (p *textPage) findings(f Findings) {
	if !f.empty() {
		p.line("findings")
	}
	p.signed("+", f.Appeared)
	p.signed("-", f.Went)
	for _, r := range f.Changed {
		r.Hint = "" // it was there before
		p.signed("~", diag.List{r.Finding})
		p.line("      was: %s", diag.Visible(r.Was))
	}
}

func (p *textPage) signed(sign string, found diag.List) {
	for _, f := range found {
		p.line("  %s %s", sign, strings.ReplaceAll(f.String(), "\n", "\n  "))
	}
}
