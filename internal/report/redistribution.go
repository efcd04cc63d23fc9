package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/meshgen/meshgen/internal/simulate"
)

// Course is the connections of one istiod each second: what was measured, and
// the corridor of a simulation. The three are of one length.
type Course struct {
	Name                string
	Measured, Low, High []float64
}

const (
	courseWidth  vg.Length = 680
	courseHeight vg.Length = 120
)

// Redistribution is how connections spread anew over istiods, one panel each on
// one scale. The moments of the marks are seconds, in order; the corridor has a
// name of its own.
func Redistribution(title, corridor string, courses []Course, marks []simulate.Mark) ([]byte, error) {
	figure := coursesOf(corridor, courses)
	each := caption + courseHeight + between
	c := newCanvas(courseWidth, 2*margin+heading+vg.Length(len(courses))*each)
	a := newArtist(day{seconds: true, last: lastOf(courses), marks: marks})
	area := draw.New(c)
	area.FillPolygon(paper.light, corners(area.Rectangle))
	y := area.Max.Y - margin
	area.FillText(a.bold(17), vg.Point{X: margin, Y: y}, title)
	y -= heading
	for i, p := range figure {
		area.FillText(a.bold(12), vg.Point{X: margin, Y: y}, courses[i].Name)
		place := vg.Rectangle{Min: vg.Point{X: margin, Y: y - caption - courseHeight}, Max: vg.Point{X: area.Max.X - margin, Y: y - caption}}
		a.draw(draw.Canvas{Canvas: area.Canvas, Rectangle: place}, p)
		y -= each
	}
	return c.document(title)
}

// coursesOf are the panels; the moments are named over the first.
func coursesOf(corridor string, courses []Course) []panel {
	all := make([]panel, len(courses))
	top := 0.0
	for i, c := range courses {
		seconds := make([]float64, len(c.Measured))
		for s := range seconds {
			seconds[s] = float64(s)
		}
		all[i] = panel{
			minutes: seconds, names: i == 0,
			areas:  []area{{corridor, band, c.Low, c.High}},
			curves: []curve{{"measured", line, solid, c.Measured}},
		}
		top = max(top, all[i].largest())
	}
	for i := range all {
		all[i].setScale(top, 1, number)
	}
	return all
}

// lastOf is the last second, 1 where there is none.
func lastOf(courses []Course) float64 {
	last := 1
	for _, c := range courses {
		last = max(last, len(c.Measured)-1)
	}
	return float64(last)
}
