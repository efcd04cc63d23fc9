package report

import (
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/meshgen/meshgen/internal/simulate"
)

func labels(ticks []tick) []string {
	var all []string
	for _, t := range ticks {
		all = append(all, t.label)
	}
	return all
}

func TestTheClock(t *testing.T) {
	for name, c := range map[string]struct {
		start string
		last  float64
		want  []string
	}{
		"half a day shows every second hour":      {"2026-12-19T05:30:00Z", 450, []string{"06:00", "08:00", "10:00", "12:00"}},
		"an offset is told in UTC":                {"2026-12-19T14:30:00+09:00", 60, []string{"05:30", "05:40", "05:50", "06:00", "06:10", "06:20", "06:30"}},
		"midnight is the date":                    {"2026-12-19T22:00:00Z", 240, []string{"22:00", "23:00", "20 Dec", "01:00", "02:00"}},
		"minutes are seen one by one":             {"2026-12-19T05:30:00Z", 3, []string{"05:30", "05:31", "05:32", "05:33"}},
		"days are seen as halves":                 {"2026-12-19T05:30:00Z", 4320, []string{"12:00", "20 Dec", "12:00", "21 Dec", "12:00", "22 Dec"}},
		"weeks are seen as days":                  {"2026-12-19T00:00:00Z", 20160, []string{"19 Dec", "21 Dec", "23 Dec", "25 Dec", "27 Dec", "29 Dec", "31 Dec", "2 Jan"}},
		"a start that is none counts the minutes": {"", 120, []string{"0 min", "30 min", "60 min", "90 min", "120 min"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := simulate.Report{Start: c.start, Worlds: []simulate.World{{Series: []simulate.Sample{{}, {Minute: c.last}}}}}
			if diff := cmp.Diff(c.want, labels(newDay(&r).ticks())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScales(t *testing.T) {
	for name, c := range map[string]struct {
		top, smallest float64
		label         func(float64) string
		want          []string
	}{
		"thousands":                      {3888, 1, number, []string{"0", "1,000", "2,000", "3,000"}},
		"few pods, in whole steps":       {3, 1, number, []string{"0", "1", "2", "3"}},
		"shares in quarters":             {1.1, 0.25, percent, []string{"0\u00a0%", "25\u00a0%", "50\u00a0%", "75\u00a0%", "100\u00a0%"}},
		"shares of a limit far exceeded": {2.6, 0.25, percent, []string{"0\u00a0%", "125\u00a0%", "250\u00a0%"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, labels(scale(c.top, c.smallest, c.label))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"1,234,567":      number(1234567),
		"-1,234":         number(-1234),
		"2.5":            number(2.5),
		"0":              number(-0.01),
		"18.0":           tenth(18),
		"-0.3\u00a0%":    percentTenth(-0.003),
		"0.0\u00a0%":     percentTenth(-0.0003),
		"–":              tenth(math.NaN()),
		"1,240":          whole(1240.25),
		"82.5\u00a0%":    percentTenth(0.825),
		"100\u00a0%":     percent(1),
		"1,234.5\u00a0%": percentTenth(12.345),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The last bit of a coordinate, in which processors differ, must not move it, not
// even where it is meant to lie between two tenths.
func TestTheLastBitMovesNothing(t *testing.T) {
	for _, at := range []float64{0.05, 12.25, 100.35, 419.95, -7.15} {
		below, above := math.Nextafter(at, math.Inf(-1)), math.Nextafter(at, math.Inf(1))
		if a, b, c := snap(vg.Length(below)), snap(vg.Length(at)), snap(vg.Length(above)); a != b || b != c {
			t.Errorf("%g goes to %g, %g and %g", at, a, b, c)
		}
	}
}

func TestNamesStandApart(t *testing.T) {
	for title, c := range map[string]struct{ given, want []vg.Length }{
		"far from each other they stay":        {[]vg.Length{80, 20}, []vg.Length{80, 20}},
		"the lower gives way":                  {[]vg.Length{50, 49}, []vg.Length{50, 38}},
		"at the floor the upper does":          {[]vg.Length{2, 1, 0}, []vg.Length{24, 12, 0}},
		"no name stands above the frame":       {[]vg.Length{120, 99}, []vg.Length{100, 88}},
		"they are sorted from above":           {[]vg.Length{20, 80}, []vg.Length{80, 20}},
		"what does not fit goes over the roof": {[]vg.Length{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []vg.Length{108, 96, 84, 72, 60, 48, 36, 24, 12, 0}},
	} {
		t.Run(title, func(t *testing.T) {
			var names []name
			for _, y := range c.given {
				names = append(names, name{y: y})
			}
			var got []vg.Length
			for _, n := range apart(names, 0, 100) {
				got = append(got, n.y)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A name to the right of its line must not be crossed by the line of a later
// moment, which reaches up to its own name.
func TestNamesOfMomentsAreNotCrossed(t *testing.T) {
	for name, c := range map[string]struct {
		minutes []float64
		want    []int // rows, from the last moment
	}{
		"far apart they share a row":     {[]float64{0, 200, 400}, []int{0, 0, 0}},
		"close ones climb":               {[]float64{100, 110, 120}, []int{0, 1, 2}},
		"a free row is taken":            {[]float64{0, 10, 300}, []int{0, 0, 1}},
		"two at one moment do not cover": {[]float64{100, 100}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			d := day{last: 450}
			for _, m := range c.minutes {
				d.marks = append(d.marks, simulate.Mark{Minute: m, Name: "pre-scale"})
			}
			var got []int
			for _, p := range newArtist(d).placeMarks(draw.New(newCanvas(width, 200))) {
				got = append(got, p.row)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryColourIsARole(t *testing.T) {
	drawing := drawingOf(t, bigDay())
	_, body, _ := strings.Cut(drawing, "</style>")
	if bare := regexp.MustCompile(`(fill|stroke):#[0-9A-F]{6}[^;]`).FindString(body); bare != "" {
		t.Errorf("%s has no role", bare)
	}
}

// Words must have 4.5 : 1 of contrast with what they stand on, and lines 3 : 1
// (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	least := map[string]float64{"words": 4.5, "muted": 4.5, "danger": 4.5, "warn": 4.5, "good": 4.5, "line": 3}
	for _, i := range palette {
		for _, ground := range []ink{page, paper} {
			for scheme, pair := range map[string][2]color.RGBA{"light": {i.light, ground.light}, "dark": {i.dark, ground.dark}} {
				if got := contrast(pair[0], pair[1]); got < least[i.role] {
					t.Errorf("%s on %s in %s: %.2f", i.role, ground.role, scheme, got)
				}
			}
		}
	}
}

func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
