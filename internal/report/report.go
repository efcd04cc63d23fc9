// Package report shows to people what was computed: a simulated day, its curves as
// one SVG drawing and everything that is known of it as one HTML page that needs
// nothing else, the fit of istiod's memory, and connections that spread anew.
// It computes nothing that the report does not hold.
package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/meshgen/meshgen/internal/simulate"
)

// SVG is the curves of every world side by side, on one scale each, as a document
// of its own. The same report gives the same bytes on every machine.
func SVG(r *simulate.Report) ([]byte, error) {
	all := figures(r)
	columns := max(len(r.Worlds), 2)
	c := newCanvas(vg.Length(columns)*(width+gutter)-gutter+2*margin, heightOf(all))
	a := newArtist(newDay(r))
	a.sheet(draw.New(c), r, all)
	return c.document(titleOf(r))
}

// The spaces of the sheet in points.
const (
	margin  vg.Length = 24
	gutter  vg.Length = 28
	heading vg.Length = 40 // of the sheet
	caption vg.Length = 24 // above each panel
	between vg.Length = 18 // below each panel
)

func heightOf(all []figure) vg.Length {
	height := 2*margin + heading
	for _, f := range all {
		height += caption + f.height + between
	}
	return height
}

// sheet lays out all figures, one below the other, panels side by side.
func (a artist) sheet(c draw.Canvas, r *simulate.Report, all []figure) {
	c.FillPolygon(paper.light, corners(c.Rectangle))
	y := c.Max.Y - margin
	c.FillText(a.bold(17), vg.Point{X: margin, Y: y}, titleOf(r))
	y -= heading
	for _, f := range all {
		for i, p := range f.panels {
			x := margin + vg.Length(i)*(width+gutter)
			c.FillText(a.bold(12), vg.Point{X: x, Y: y}, f.title+": "+f.labels[i])
			area := vg.Rectangle{Min: vg.Point{X: x, Y: y - caption - f.height}, Max: vg.Point{X: x + width, Y: y - caption}}
			a.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: area}, p)
		}
		y -= caption + f.height + between
	}
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// titleOf names the cluster and the event.
func titleOf(r *simulate.Report) string {
	return fmt.Sprintf("%s: %s, simulated", r.Cluster, eventOf(r))
}

// eventOf is the event, or what the day is without one.
func eventOf(r *simulate.Report) string {
	if r.Event == "" {
		return "a day without an event"
	}
	return r.Event
}
