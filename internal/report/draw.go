package report

import (
	"cmp"
	"math"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The margins of a panel in points: tick labels stand on the left and below,
// names of curves on the right, names of moments above.
const (
	left      vg.Length = 42
	right     vg.Length = 56
	bottom    vg.Length = 17
	lineSpace vg.Length = 12 // between the baselines of two labels
	gap       vg.Length = 4  // between a line and its name
)

// artist draws one panel after another, all on the same day.
type artist struct {
	day  day
	hand text.Handler
}

func newArtist(d day) artist {
	return artist{day: d, hand: text.Plain{Fonts: font.NewCache(liberation.Collection())}}
}

// frame is the area of a panel in which curves are drawn, with its two scales.
type frame struct {
	draw.Canvas
	day day
	top float64
}

func (f frame) x(minute float64) vg.Length {
	return f.X((minute - f.day.first) / (f.day.last - f.day.first))
}

func (f frame) y(value float64) vg.Length { return f.Y(value / f.top) }

// draw puts a panel onto a canvas.
func (a artist) draw(c draw.Canvas, p panel) {
	var places []place
	if p.names {
		places = a.placeMarks(c)
	}
	above := lineSpace * vg.Length(rowsOf(places))
	f := frame{draw.Crop(c, left, -right, bottom, -above-gap), a.day, p.top}
	for _, area := range p.areas {
		f.fill(area, p.minutes)
	}
	a.scales(f, p.ticks)
	f.moments()
	a.marks(f, places)
	for _, r := range p.rules {
		f.level(r)
	}
	for _, c := range p.curves {
		f.stroke(c, p.minutes)
	}
	f.crosses(p)
	a.names(f, p)
}

func (a artist) style(i ink, size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: i.light, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: x, YAlign: y, Handler: a.hand,
	}
}

// bold is the style of headings.
func (a artist) bold(size vg.Length) text.Style {
	style := a.style(words, size, text.XLeft, text.YTop)
	style.Font.Weight = xfont.WeightBold
	return style
}

// values draws the scale on the left.
func (a artist) values(f frame, ticks []tick) {
	style := a.style(muted, 10, text.XRight, text.YCenter)
	for _, t := range ticks {
		y := f.y(t.value)
		f.StrokeLine2(pen(grid, 0.8), f.Min.X, y, f.Max.X, y)
		f.FillText(style, vg.Point{X: f.Min.X - 6, Y: y}, t.label)
	}
}

func (a artist) scales(f frame, ticks []tick) {
	a.values(f, ticks)
	style := a.style(muted, 10, text.XCenter, text.YTop)
	for _, t := range a.day.ticks() {
		x := f.x(t.value)
		f.StrokeLine2(pen(mark, 0.8), x, f.Min.Y, x, f.Min.Y-3)
		f.FillText(style, vg.Point{X: x, Y: f.Min.Y - 5}, t.label)
	}
}

// place is where the name of a moment stands: its left end, and its row above
// the frame, from below.
type place struct {
	name string
	at   float64
	left vg.Length
	row  int
}

// markSize is the size of the names of moments in points.
const markSize vg.Length = 9.5

// placeMarks gives each moment the lowest row in which its name, right of its line,
// crosses no line and no name of a later moment.
func (a artist) placeMarks(c draw.Canvas) []place {
	f := frame{draw.Crop(c, left, -right, 0, 0), a.day, 1}
	style := a.style(muted, markSize, text.XLeft, text.YBottom)
	var all []place
	for _, m := range slices.Backward(a.day.marks) {
		p := place{name: m.Name, at: m.Minute, left: f.x(m.Minute) + gap}
		p.left = min(p.left, c.Max.X-style.Width(m.Name))
		for _, later := range all {
			if f.x(later.at) < p.left+style.Width(m.Name)+gap {
				p.row = max(p.row, later.row+1)
			}
		}
		all = append(all, p)
	}
	return all
}

func rowsOf(places []place) int {
	rows := 0
	for _, p := range places {
		rows = max(rows, p.row+1)
	}
	return rows
}

// moments are thin lines through the panel.
func (f frame) moments() {
	for _, m := range f.day.marks {
		f.StrokeLine2(pen(mark, 0.8), f.x(m.Minute), f.Min.Y, f.x(m.Minute), f.Max.Y)
	}
}

// marks leads the lines of the moments up to their names.
func (a artist) marks(f frame, places []place) {
	style := a.style(muted, markSize, text.XLeft, text.YBottom)
	for _, p := range places {
		y := f.Max.Y + gap + lineSpace*vg.Length(p.row)
		f.StrokeLine2(pen(mark, 0.8), f.x(p.at), f.Max.Y, f.x(p.at), y+lineSpace-gap)
		f.FillText(style, vg.Point{X: p.left, Y: y}, p.name)
	}
}

func pen(i ink, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: i.light, Width: width, Dashes: dashes}
}

var strokes = map[stroke]func(ink) draw.LineStyle{
	solid:  func(i ink) draw.LineStyle { return pen(i, 1.8) },
	thin:   func(i ink) draw.LineStyle { return pen(i, 1) },
	dashed: func(i ink) draw.LineStyle { return pen(i, 1.3, 5, 3) },
	dotted: func(i ink) draw.LineStyle { return pen(i, 1.3, 1.3, 2.2) },
}

func (f frame) level(r rule) {
	if known(r.at) && r.at > 0 {
		f.StrokeLine2(pen(r.ink, 1.3), f.Min.X, f.y(r.at), f.Max.X, f.y(r.at))
	}
}

func (f frame) stroke(c curve, minutes []float64) {
	for _, run := range runs(minutes, c.values) {
		f.StrokeLines(strokes[c.stroke](c.ink), f.points(run, minutes, c.values))
	}
}

func (f frame) fill(a area, minutes []float64) {
	for _, run := range runs(minutes, a.low, a.high) {
		under := f.points(run, minutes, a.low)
		slices.Reverse(under)
		f.FillPolygon(a.ink.light, append(f.points(run, minutes, a.high), under...))
	}
}

func (f frame) points(run span, minutes, values []float64) []vg.Point {
	var all []vg.Point
	for i := run.from; i < run.to; i++ {
		all = append(all, vg.Point{X: f.x(minutes[i]), Y: f.y(values[i])})
	}
	return all
}

// span is a half-open range of samples.
type span struct{ from, to int }

// runs are the longest spans in which every value is finite.
func runs(columns ...[]float64) []span {
	var all []span
	for i := range columns[0] {
		gap := slices.ContainsFunc(columns, func(values []float64) bool { return !known(values[i]) })
		switch n := len(all); {
		case gap:
		case n > 0 && all[n-1].to == i:
			all[n-1].to++
		default:
			all = append(all, span{i, i + 1})
		}
	}
	return all
}

// crossGap is how close two crosses may stand, in points.
const crossGap vg.Length = 7

// crosses marks where pods were killed on the line of the limit.
func (f frame) crosses(p panel) {
	last := vg.Length(math.Inf(-1))
	for _, minute := range p.deaths {
		if x := f.x(minute); x-last >= crossGap {
			f.cross(vg.Point{X: x, Y: f.y(p.rules[0].at)})
			last = x
		}
	}
}

func (f frame) cross(at vg.Point) {
	const arm vg.Length = 3.4
	for _, slope := range []vg.Length{1, -1} {
		f.StrokeLine2(pen(danger, 1.8), at.X-arm, at.Y-slope*arm, at.X+arm, at.Y+slope*arm)
	}
}

// name is what is written at the end of a line.
type name struct {
	text string
	ink  ink
	y    vg.Length
}

func (a artist) names(f frame, p panel) {
	var all []name
	for _, r := range p.rules {
		all = append(all, name{r.name, r.ink, f.y(r.at)})
	}
	for _, c := range p.curves {
		all = append(all, f.nameAtEnd(c.name, c.ink, c.values)...)
	}
	for _, area := range p.areas {
		all = append(all, f.nameAtEnd(area.name, muted, area.middle())...)
	}
	for _, n := range apart(all, f.Min.Y, f.Max.Y) {
		f.FillText(a.style(n.ink, 10, text.XLeft, text.YCenter), vg.Point{X: f.Max.X + gap, Y: n.y}, n.text)
	}
}

// nameAtEnd is the name at the height of the last value that is known.
func (f frame) nameAtEnd(text string, i ink, values []float64) []name {
	for _, v := range slices.Backward(values) {
		if known(v) {
			return []name{{text, i, f.y(v)}}
		}
	}
	return nil
}

// apart moves names so that none covers another, from above, then from below
// where they would leave the frame.
func apart(names []name, lowest, highest vg.Length) []name {
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(b.y, a.y) })
	ceiling := highest
	for i := range names {
		names[i].y = min(names[i].y, ceiling)
		ceiling = names[i].y - lineSpace
	}
	floor := lowest
	for i := len(names) - 1; i >= 0; i-- {
		names[i].y = max(names[i].y, floor)
		floor = names[i].y + lineSpace
	}
	return names
}
