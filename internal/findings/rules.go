package findings

import (
	_ "embed"
	"strings"
)

// table is README.md's table of findings, row by row; a test holds the two
// together, and -update writes it.
//
//go:embed rules.md
var table string

// own are the rules of findings that are no policy's, by id.
func own() map[string]Rule {
	rules := map[string]Rule{}
	for _, row := range strings.Split(table, "\n") {
		id, advice, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(row, "| `"), " |"), "` | ")
		if !ok {
			continue
		}
		_, what, _ := strings.Cut(id, "/")
		advice = sentence(advice)
		rules[id] = Rule{ID: id, Title: sentence(strings.ReplaceAll(what, "-", " ")), Description: advice, Remedy: advice}
	}
	return rules
}

// Known reports whether findings that are no policy's have that id.
func Known(id string) bool {
	_, ok := own()[id]
	return ok
}

// sentence is a text that begins with a capital; what is quoted stays.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
