package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// snapped is an SVG canvas whose coordinates are tenths of a point, so that the
// last bit of a product, in which processors differ, moves nothing.
type snapped struct{ *vgsvg.Canvas }

func newCanvas(width, height vg.Length) snapped {
	return snapped{vgsvg.New(width, height)}
}

// tie is added before rounding: coordinates that are meant to lie between two
// tenths all go the same way.
const tie = 1e-6

func snap(l vg.Length) vg.Length {
	return vg.Length(math.Floor(float64(l)*10+0.5+tie) / 10)
}

func snapPoint(p vg.Point) vg.Point { return vg.Point{X: snap(p.X), Y: snap(p.Y)} }

// snapPath rounds a path of straight lines and leaves out the points inside of a
// level stretch.
func snapPath(path vg.Path) vg.Path {
	var out vg.Path
	for _, c := range path {
		c.Pos = snapPoint(c.Pos)
		if n := len(out); n > 1 && level(out[n-2], out[n-1], c) {
			out = out[:n-1]
		}
		out = append(out, c)
	}
	return out
}

// level reports whether b lies on a level line from a to c.
func level(a, b, c vg.PathComp) bool {
	lines := b.Type == vg.LineComp && c.Type == vg.LineComp
	xs := []vg.Length{a.Pos.X, b.Pos.X, c.Pos.X}
	return lines && a.Pos.Y == b.Pos.Y && b.Pos.Y == c.Pos.Y && slices.IsSorted(xs)
}

// Stroke draws the rounded path.
func (s snapped) Stroke(path vg.Path) { s.Canvas.Stroke(snapPath(path)) }

// Fill fills the rounded path.
func (s snapped) Fill(path vg.Path) { s.Canvas.Fill(snapPath(path)) }

// FillString writes at the rounded place.
func (s snapped) FillString(face font.Face, at vg.Point, text string) {
	s.Canvas.FillString(face, snapPoint(at), text)
}

// family has the metrics that the drawing was laid out with on every system.
const family = "'Liberation Sans',Arimo,Helvetica,Arial,sans-serif"

var (
	prolog = regexp.MustCompile(`(?s)^.*?<svg[^>]*>\s*`)
	plain  = strings.NewReplacer("font-family:Liberation Sans;", "", "font-variant:none;", "", "font-weight:normal;", "", "font-style:normal;", "", "\n\t", " ")
)

// document is the canvas as an SVG file of its own, called by a title.
func (s snapped) document(title string) ([]byte, error) {
	svg, err := s.drawing(fmt.Sprintf(`xmlns="http://www.w3.org/2000/svg" aria-label="%s"`, html.EscapeString(title)),
		"<style>\n"+colours()+"</style>")
	return []byte(svg), err
}

// drawing is the canvas's SVG element with the given attributes and style sheet,
// colours by their role.
func (s snapped) drawing(attributes, style string) (string, error) {
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return "", fmt.Errorf("draw as SVG: %w", err)
	}
	width, height := s.Size()
	body := roles.Replace(plain.Replace(prolog.ReplaceAllString(b.String(), "")))
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" font-family="%s" role="img" %s>%s`+"\n%s",
		width.Points(), height.Points(), family, attributes, style, body), nil
}
