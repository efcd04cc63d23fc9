package diag

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Excerpts writes the findings as Text does, for people at a terminal of so many
// columns: below each comes the line that it is about, with a mark. A file that
// read refuses, or that has become shorter, has no lines to show.
func (l List) Excerpts(w io.Writer, columns int, read func(file string) ([]byte, error)) error {
	c := newCursor("", nil)
	for _, f := range l.Sorted() {
		if f.Line > 0 && f.File != c.file {
			data, err := read(f.File)
			if err != nil {
				data = nil
			}
			c = newCursor(f.File, data)
		}
		if _, err := fmt.Fprintln(w, f.headline()+c.excerpt(f.Pos, columns)+f.advice()); err != nil {
			return err
		}
	}
	return nil
}

const (
	gutter     = " | "
	leastWidth = 20 // of what is shown of a line, whatever the terminal
)

// excerpt is the line of a place and a mark below it, each after a line's end;
// empty where there is nothing to see.
func (c *cursor) excerpt(p Pos, columns int) string {
	if p.Line == 0 || !c.to(p) {
		return ""
	}
	number := fmt.Sprintf("%5d", p.Line)
	room := max(columns-len(number+gutter)-1, leastWidth)
	before, after, cutBefore, cutAfter := c.around(room + 1)
	if strings.TrimSpace(before+after) == "" {
		return ""
	}
	l := layOut(before, after)
	l.clip(room, cutBefore, cutAfter)
	return "\n" + number + gutter + l.text() + "\n" + strings.Repeat(" ", len(number)) + gutter + l.mark()
}

// cell is a character as it is shown, and the columns that it takes.
type cell struct {
	text  string
	width int
}

// line is the cells of a line, of which the mark begins at one.
type line struct {
	cells    []cell
	at, long int // the first that is marked, and how many are
}

// tab is how far apart tabs are: a terminal's own would be eight columns from
// the edge, and the line does not begin there.
const tab = 4

func layOut(before, after string) *line {
	if after == "" {
		after = " " // the mark is behind the line
	}
	cells := appendCells(nil, before)
	return &line{
		cells: appendCells(cells, after),
		at:    len(cells),
		long:  utf8.RuneCountInString(word(after)),
	}
}

func appendCells(cells []cell, text string) []cell {
	column := columnsOf(cells)
	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		c := cellOf(text[:size])
		if text[0] == '\t' {
			c.width = tab - column%tab
			c.text = strings.Repeat(" ", c.width)
		}
		cells = append(cells, c)
		column += c.width
		text = text[size:]
	}
	return cells
}

func cellOf(text string) cell {
	if text[0] >= ' ' && text[0] <= '~' {
		return cell{text, 1}
	}
	shown := visibleRune(text)
	if shown != text {
		return cell{shown, len(shown)}
	}
	r, _ := utf8.DecodeRuneInString(text)
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return cell{text, 0}
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return cell{text, 2}
	}
	return cell{text, 1}
}

// word is the key, the scalar or the string that a text begins with.
func word(text string) string {
	if quote := text[:min(1, len(text))]; quote == `"` || quote == "'" {
		if end := strings.Index(text[1:], quote); end >= 0 {
			return text[:end+2]
		}
	}
	for i, r := range text {
		colon := r == ':' && (i+1 == len(text) || text[i+1] == ' ')
		if colon || unicode.IsSpace(r) || strings.ContainsRune(",]}", r) {
			return text[:i]
		}
	}
	return text
}

// clip leaves the cells around the mark that fit, a third of them before it
// where both sides are long.
func (l *line) clip(room int, cutBefore, cutAfter bool) {
	if !cutBefore && !cutAfter && columnsOf(l.cells) <= room {
		return
	}
	room -= 2 * rest.width
	_, used := fitting(l.cells, l.at, -1, room/3)
	to, more := fitting(l.cells, l.at, 1, room-used)
	from, _ := fitting(l.cells, l.at, -1, room-more)
	cells := slices.Clone(l.cells[from:to])
	if to < len(l.cells) || cutAfter {
		cells = append(cells, rest)
	}
	l.at, l.long = l.at-from, min(l.long, to-l.at)
	if from > 0 || cutBefore {
		cells = slices.Insert(cells, 0, rest)
		l.at++
	}
	l.cells = cells
}

// fitting goes from a cell on, forward or backward, for as long as the cells fit
// into so many columns; used is how many they take.
func fitting(cells []cell, from, step, columns int) (end, used int) {
	for end = from; ; end += step {
		next := end
		if step < 0 {
			next--
		}
		if next < 0 || next == len(cells) || used+cells[next].width > columns {
			return end, used
		}
		used += cells[next].width
	}
}

// rest stands for what is cut off.
var rest = cell{"…", 1}

func columnsOf(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += c.width
	}
	return n
}

func (l *line) text() string {
	var b strings.Builder
	for _, c := range l.cells {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// mark is a caret below the first cell that is marked, and a line below the others.
func (l *line) mark() string {
	under := max(columnsOf(l.cells[l.at:l.at+l.long]), 1)
	return strings.Repeat(" ", columnsOf(l.cells[:l.at])) + "^" + strings.Repeat("~", under-1)
}
