package report

import (
	"fmt"
	"html"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/meshgen/meshgen/internal/simulate"
)

// figure is one question, answered by panels side by side.
type figure struct {
	title, caption string
	height         vg.Length
	labels         []string // of the panels
	panels         []panel
}

// width is that of a panel in points; a column of the page is about as wide.
const width vg.Length = 420

// question is what a figure asks of every world.
type question struct {
	title, caption string
	height         vg.Length
	names          bool // the moments of the day are named
	smallest       float64
	label          func(float64) string
	of             func(*simulate.Report, simulate.World) panel
}

var questions = []question{
	{
		"Memory of the fullest pod", "As a share of its limit, each minute over all trials. A cross on the limit: pods were killed.",
		240, true, 0.25, percent, memory,
	},
	{
		"Connections of a pod", "Over ready pods and trials. New pods begin empty; old ones keep what they have until connections age.",
		150, false, 1, number, connections,
	},
	{
		"Pods against demand", "Needed is what the connections ask for at the world's threshold, or the planned one where it has none; fewest is over trials.",
		150, false, 1, number, replicas,
	},
	{
		"Reconnects a second", "Median over the trials.",
		100, false, 0.1, number, reconnects,
	},
}

// figures are the drawings of a report in the order in which they are read.
func figures(r *simulate.Report) []figure {
	if len(r.Worlds) == 0 {
		return nil
	}
	all := []figure{asked(r.Worlds[0])}
	for _, q := range questions {
		all = append(all, q.figure(r))
	}
	return all
}

// asked is what the day brings, which is the same in every world.
func asked(w simulate.World) figure {
	f := figure{
		"What the day asks for", "Proxies connected to istiod, and the endpoints that each of them is told of.",
		150,
		[]string{"connections", "endpoints"},
		demand(w),
	}
	for i := range f.panels {
		f.panels[i].names = true
		f.panels[i].setScale(f.panels[i].largest(), 1, number)
	}
	return f
}

// figure draws the same for every world on one scale.
func (q question) figure(r *simulate.Report) figure {
	f := figure{title: q.title, caption: q.caption, height: q.height}
	top := 0.0
	for _, w := range r.Worlds {
		p := q.of(r, w)
		p.names = q.names
		f.labels, f.panels = append(f.labels, w.Name), append(f.panels, p)
		top = max(top, p.largest())
	}
	for i := range f.panels {
		f.panels[i].setScale(top, q.smallest, q.label)
	}
	return f
}

func (p *panel) setScale(largest, smallest float64, label func(float64) string) {
	p.top = max(room*largest, smallest)
	p.ticks, p.label = scale(p.top, smallest, label), label
}

// alone is a panel as an SVG element with a sentence for those who cannot see it.
func (a artist) alone(f figure, i int) (string, error) {
	c := newCanvas(width, f.height)
	a.draw(draw.New(c), f.panels[i])
	return c.drawing(fmt.Sprintf(`aria-label="%s"`, html.EscapeString(a.sentence(f, i))), "")
}

// sentence says when the panel's greatest value was, and how great.
func (a artist) sentence(f figure, i int) string {
	p := f.panels[i]
	most, at := 0.0, 0.0
	for _, c := range p.curves {
		for k, v := range c.values {
			if known(v) && v > most {
				most, at = v, p.minutes[k]
			}
		}
	}
	return fmt.Sprintf("%s, %s: at most %s, at %s.", f.title, f.labels[i], p.label(most), a.day.clock(at))
}
