package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tableBelow are the lines of the table below a heading of the README.
func tableBelow(t *testing.T, heading string) string {
	t.Helper()
	_, below, ok := strings.Cut(readme(t), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no section %s", heading)
	}
	section, _, _ := strings.Cut(below, "\n## ")
	return strings.Join(regexp.MustCompile(`(?m)^\|.*\n`).FindAllString(section, -1), "")
}

// rows are the first cells of the table below a heading of the README, without
// back quotes.
func rows(t *testing.T, heading string) []string {
	t.Helper()
	var cells []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(tableBelow(t, heading), -1) {
		cells = append(cells, m[1])
	}
	slices.Sort(cells)
	return cells
}
