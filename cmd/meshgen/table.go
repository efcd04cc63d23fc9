package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is rows of text in columns.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

// print aligns the columns two spaces apart; no line ends in a space.
func (t table) print(s streams) error {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(cell)))
		}
		if _, err := fmt.Fprintln(s.out, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
