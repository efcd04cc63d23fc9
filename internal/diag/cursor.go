package diag

import (
	"bytes"
	"path"
	"unicode/utf8"
)

// cursor goes forward over a file, from the place of one finding to the next: a
// file of eight megabytes may be one line with a finding at each item.
type cursor struct {
	file         string
	data         []byte
	at, start    int // offsets of the place and of its line
	line, column int
	step         func([]byte) (size int, ends bool)
}

// newCursor counts as the parser of the file has counted: CUE in bytes, YAML in
// characters and with its own ends of lines.
func newCursor(file string, data []byte) *cursor {
	c := &cursor{file: file, data: data, line: 1, column: 1, step: cueStep}
	if path.Ext(file) != ".cue" {
		c.step = yamlStep
		c.data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	return c
}

// cueStep is the size of the first byte, or of the line's end.
func cueStep(data []byte) (size int, ends bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\r\n")):
		return 2, true
	case len(data) == 0:
		return 0, false
	}
	return 1, data[0] == '\n'
}

// yamlStep is the size of the first character, or of the line's end: YAML 1.1
// has five (https://yaml.org/spec/1.1/#b-char).
func yamlStep(data []byte) (size int, ends bool) {
	if bytes.HasPrefix(data, []byte("\r\n")) {
		return 2, true
	}
	r, size := utf8.DecodeRune(data)
	switch r {
	case '\n', '\r', '\u0085', '\u2028', '\u2029':
		return size, true
	}
	return size, false
}

// to goes to a place at or behind the present one; a column behind the line's
// end is the end. It is false where the file has no such line.
func (c *cursor) to(p Pos) bool {
	for c.line < p.Line || c.line == p.Line && c.column < p.Column {
		size, ends := c.step(c.data[c.at:])
		if size == 0 || ends && c.line == p.Line {
			break
		}
		c.at += size
		c.column++
		if ends {
			c.line, c.column, c.start = c.line+1, 1, c.at
		}
	}
	return c.line == p.Line
}

// around is what the line has before and from the place on, of either at most so
// many characters.
func (c *cursor) around(most int) (before, after string, cutBefore, cutAfter bool) {
	from, end := c.at, c.at
	for n := 0; n < most && from > c.start; n++ {
		_, size := utf8.DecodeLastRune(c.data[c.start:from])
		from -= size
	}
	for n := 0; n < most; n++ {
		if _, ends := c.step(c.data[end:]); ends {
			break
		}
		_, size := utf8.DecodeRune(c.data[end:])
		end += size
	}
	size, ends := c.step(c.data[end:])
	return string(c.data[from:c.at]), string(c.data[c.at:end]), from > c.start, size > 0 && !ends
}
