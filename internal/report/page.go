package report

import (
	"bytes"
	_ "embed" // the page's template and style
	"fmt"
	"html/template"
	"path"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/simulate"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// sheet is what the template shows.
type sheet struct {
	Report    *simulate.Report
	Title     string
	Event     string
	When      string
	Style     template.CSS
	Worlds    []outcome
	Results   []result
	Figures   []drawn
	Settings  []simulate.Comparison
	Decisions []derivation
	Findings  []finding
	Command   string
}

// outcome is the verdict on a world.
type outcome struct {
	Name, Word, Sentence string
	Safe                 bool
}

// drawn is a figure with its drawings.
type drawn struct {
	Title, Caption string
	Panels         []drawing
}

type drawing struct {
	Label string
	SVG   template.HTML
}

// derivation is a decision with the text that explains it.
type derivation struct{ Subject, Value, Text string }

// finding is one with its place, as the page says it.
type finding struct {
	Severity, ID, Place, Message, Hint string
	More                               int // of its kind, which are not on the page
}

// HTML is the report as one page that needs no script and no other file. The same
// report, plan and findings give the same bytes on every machine.
func HTML(r *simulate.Report, p *plan.Plan, findings diag.List) ([]byte, error) {
	s, err := newSheet(r, p, findings)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, s); err != nil {
		return nil, fmt.Errorf("report of %s as HTML: %w", r.Cluster, err)
	}
	return b.Bytes(), nil
}

func newSheet(r *simulate.Report, p *plan.Plan, findings diag.List) (sheet, error) {
	s := sheet{
		Report: r, Title: titleOf(r), Event: eventOf(r), When: when(r), Style: template.CSS(colours() + pageStyle),
		Results: results(r), Settings: r.Compared(), Findings: placed(findings), Command: command(r),
	}
	for _, w := range r.Worlds {
		s.Worlds = append(s.Worlds, outcomeOf(r, w))
	}
	var err error
	if s.Figures, err = drawAll(r); err != nil {
		return sheet{}, err
	}
	s.Decisions, err = derivations(p)
	return s, err
}

func outcomeOf(r *simulate.Report, w simulate.World) outcome {
	o := outcome{Name: w.Name, Word: "Unsafe", Sentence: w.Verdict(r.Trials) + ".", Safe: w.Safe}
	if w.Safe {
		o.Word = "Safe"
	}
	return o
}

func drawAll(r *simulate.Report) ([]drawn, error) {
	a := newArtist(newDay(r))
	var all []drawn
	for _, f := range figures(r) {
		d := drawn{Title: f.title, Caption: f.caption}
		for i, label := range f.labels {
			svg, err := a.alone(f, i)
			if err != nil {
				return nil, err
			}
			d.Panels = append(d.Panels, drawing{label, template.HTML(svg)})
		}
		all = append(all, d)
	}
	return all, nil
}

// derivations are the decisions about istiod with what explain prints of them.
func derivations(p *plan.Plan) ([]derivation, error) {
	var all []derivation
	for _, d := range p.Decisions {
		if !strings.HasPrefix(d.Subject, "istiod.") {
			continue
		}
		d.Pos = inFolder(d.Pos)
		text, err := plan.Explain(d)
		if err != nil {
			return nil, err
		}
		all = append(all, derivation{d.Subject, plan.ValueText(d.Value, d.Unit), text})
	}
	return all, nil
}

// inFolder is a place without the folder of its file, which depends on from where
// the command was run.
func inFolder(p diag.Pos) diag.Pos {
	if p.File != "" {
		p.File = path.Base(p.File)
	}
	return p
}

// shown is how many findings of a kind stand on the page; a large mesh has
// thousands, which meshgen validate lists.
const shown = 8

// placed are the first findings of each kind; the last of them counts the others.
func placed(findings diag.List) []finding {
	var all []finding
	last, count := map[string]int{}, map[string]int{}
	for _, f := range findings.Sorted() {
		if count[f.ID]++; count[f.ID] > shown {
			all[last[f.ID]].More++
			continue
		}
		last[f.ID] = len(all)
		all = append(all, finding{string(f.Severity), f.ID, inFolder(f.Pos).String(), f.Message, f.Hint, 0})
	}
	return all
}

// when is the day of minute 0 in words, or as the report has it.
func when(r *simulate.Report) string {
	start, err := time.Parse(time.RFC3339, r.Start)
	if err != nil {
		return r.Start
	}
	return start.UTC().Format("Monday 2 January 2006, from 15:04 UTC")
}

// command is what makes the same report again.
func command(r *simulate.Report) string {
	words := []string{"meshgen simulate PROFILE"}
	if r.Event != "" {
		words = append(words, "--event "+r.Event)
	}
	for _, f := range r.Faults {
		words = append(words, "--fault "+f)
	}
	return strings.Join(append(words, fmt.Sprintf("--trials %d --seed %d --tolerate %g -o html", r.Trials, r.Seed, r.Tolerate)), " ")
}
