package report

import (
	"fmt"
	"image/color"
	"strings"
)

// ink is a colour by its role. Drawings name the role, and a style sheet says what
// it looks like in light and in dark, so that one drawing serves both.
type ink struct {
	role        string
	light, dark color.RGBA
}

// The palette keeps its distances for the three common kinds of colour blindness;
// what it says is always said in words or by a shape too.
var (
	words  = ink{"words", rgb(0x1B1F24), rgb(0xE6E9ED)}
	muted  = ink{"muted", rgb(0x58626D), rgb(0x9AA4AF)}
	grid   = ink{"grid", rgb(0xE3E6EA), rgb(0x2B323A)}
	mark   = ink{"mark", rgb(0xA3ACB6), rgb(0x5D6772)}
	line   = ink{"line", rgb(0x1A66AD), rgb(0x6FB5F3)}
	band   = ink{"band", rgb(0xCADEF1), rgb(0x1E3C58)}
	danger = ink{"danger", rgb(0xB3261E), rgb(0xFF8C7F)}
	warn   = ink{"warn", rgb(0x96590A), rgb(0xEBB35E)}
	good   = ink{"good", rgb(0x0B6E5F), rgb(0x56C7B4)}
	page   = ink{"page", rgb(0xF7F8FA), rgb(0x101418)}
	paper  = ink{"paper", rgb(0xFFFFFF), rgb(0x181D23)}
)

var palette = []ink{words, muted, grid, mark, line, band, danger, warn, good, page, paper}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xFF}
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// colours is the style sheet that gives every role its colour: light, and dark
// on a screen that asks for it; paper is always light.
func colours() string {
	var light, dark strings.Builder
	for _, i := range palette {
		fmt.Fprintf(&light, "--%s:%s;", i.role, hex(i.light))
		fmt.Fprintf(&dark, "--%s:%s;", i.role, hex(i.dark))
	}
	return fmt.Sprintf(":root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n", light.String(), dark.String())
}

// roles replaces the light colours in style attributes by their roles. The plain
// colour stays before the variable for viewers that do not know variables.
var roles = func() *strings.Replacer {
	var pairs []string
	for _, i := range palette {
		for _, property := range []string{"fill", "stroke"} {
			plain := property + ":" + hex(i.light)
			pairs = append(pairs, plain, fmt.Sprintf("%s;%s:var(--%s,%s)", plain, property, i.role, hex(i.light)))
		}
	}
	return strings.NewReplacer(pairs...)
}()
