package report

import (
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/meshgen/meshgen/internal/calibrate"
)

const (
	fitWidth  vg.Length = 680
	fitHeight vg.Length = 400
	// mostDots is how many samples are drawn; of more, every so many.
	mostDots = 1500
	dotSize  = 1.6 // half of a dot's width, points
)

// Fit is how istiod's memory follows connections and endpoints: the samples, the
// fitted line, and twice the residual on either side of it. The abscissa is what
// the model multiplies: connections × endpoints, plus what a connection costs by
// itself in endpoints' worth.
func Fit(r *calibrate.Report) ([]byte, error) {
	dots := thinned(r.Plot)
	c := newCanvas(fitWidth, fitHeight)
	a := newArtist(day{last: 1})
	area := draw.New(c)
	area.FillPolygon(paper.light, corners(area.Rectangle))
	area.FillText(a.bold(17), vg.Point{X: margin, Y: area.Max.Y - margin}, "Memory of istiod's pods")
	f := frame{draw.Crop(area, margin+left, -margin-right, margin+bottom+lineSpace, -margin-heading), a.day, 1}
	p := newFitPanel(r, dots)
	f.day.last, f.top = room*p.largestX(), room*p.largestY()
	p.draw(a, f)
	return c.document("Memory of istiod's pods against connections and endpoints")
}

// thinned is every so many dots.
func thinned(dots []calibrate.Dot) []calibrate.Dot {
	every := len(dots)/mostDots + 1
	var all []calibrate.Dot
	for i := 0; i < len(dots); i += every {
		all = append(all, dots[i])
	}
	return all
}

// fitPanel is the samples with their abscissa in millions and MB, and the line by
// its two ends.
type fitPanel struct {
	label                 string
	x, y                  []float64
	base, slope, residual float64
}

func newFitPanel(r *calibrate.Report, dots []calibrate.Dot) fitPanel {
	p := fitPanel{label: "connections × endpoints, millions", residual: r.Residual}
	own := 0.0
	for _, e := range r.Estimates {
		switch e.Name {
		case "base":
			p.base = e.Value / 1e6
		case "bytesPerConnection":
			own = e.Value
		case "bytesPerConnectionEndpoint":
			p.slope = e.Value
		}
	}
	if r.Push() {
		return p.againstFitted(dots)
	}
	if own > 0 && p.slope > 0 {
		own /= p.slope
		p.label = fmt.Sprintf("connections × (endpoints + %s), millions", whole(own))
	}
	for _, d := range dots {
		p.x = append(p.x, d.Connections*(d.Endpoints+own)/1e6)
		p.y = append(p.y, d.Memory/1e6)
	}
	return p
}

// againstFitted is memory against what a law says that is no line over connections
// and endpoints.
func (p fitPanel) againstFitted(dots []calibrate.Dot) fitPanel {
	p.label, p.base, p.slope = "memory by the model, MB", 0, 1
	for _, d := range dots {
		p.x = append(p.x, d.Fitted/1e6)
		p.y = append(p.y, d.Memory/1e6)
	}
	return p
}

// at is the fitted memory in MB.
func (p fitPanel) at(x float64) float64 { return p.base + p.slope*x }

func (p fitPanel) largestX() float64 { return most(p.x, 1e-3) }

func (p fitPanel) largestY() float64 {
	return max(most(p.y, 1), p.at(p.largestX())*(1+2*p.residual))
}

func most(values []float64, least float64) float64 {
	for _, v := range values {
		if known(v) {
			least = max(least, v)
		}
	}
	return least
}

func (p fitPanel) draw(a artist, f frame) {
	ends := []float64{0, p.largestX()}
	fitted := []float64{p.at(0), p.at(ends[1])}
	low, high := make([]float64, 2), make([]float64, 2)
	for i, v := range fitted {
		low[i], high[i] = v*(1-2*p.residual), v*(1+2*p.residual)
	}
	f.fill(area{ink: band, low: low, high: high}, ends)
	p.scales(a, f)
	for i := range p.x {
		f.dot(p.x[i], p.y[i])
	}
	f.stroke(curve{ink: line, values: fitted}, ends)
	names := []name{{"fit", line, f.y(fitted[1])}, {"± 2 residuals", muted, f.y(high[1])}}
	for _, n := range apart(names, f.Min.Y, f.Max.Y) {
		f.FillText(a.style(n.ink, 10, text.XLeft, text.YCenter), vg.Point{X: f.x(ends[1]) + gap, Y: n.y}, n.text)
	}
}

func (p fitPanel) scales(a artist, f frame) {
	a.values(f, scale(f.top, 1, whole))
	style := a.style(muted, 10, text.XCenter, text.YTop)
	for _, t := range scale(f.day.last, 0.001, number) {
		x := f.x(t.value)
		f.StrokeLine2(pen(mark, 0.8), x, f.Min.Y, x, f.Min.Y-3)
		f.FillText(style, vg.Point{X: x, Y: f.Min.Y - 5}, t.label)
	}
	f.FillText(style, vg.Point{X: (f.Min.X + f.Max.X) / 2, Y: f.Min.Y - 5 - 1.5*lineSpace}, p.label)
	f.FillText(a.style(muted, 10, text.XLeft, text.YBottom), vg.Point{X: f.Min.X, Y: f.Max.Y + gap}, "MB")
}

// dot is a sample, a diamond.
func (f frame) dot(x, y float64) {
	if !known(x) || !known(y) {
		return
	}
	at := vg.Point{X: f.x(x), Y: f.y(y)}
	f.FillPolygon(muted.light, []vg.Point{
		{X: at.X - dotSize, Y: at.Y}, {X: at.X, Y: at.Y + dotSize}, {X: at.X + dotSize, Y: at.Y}, {X: at.X, Y: at.Y - dotSize},
	})
}
