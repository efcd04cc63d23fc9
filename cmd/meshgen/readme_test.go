package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// consoleBlock is a command line of the README and what it prints, both streams
// as they come.
var consoleBlock = regexp.MustCompile("(?s)```console\n\\$ bin/meshgen ([^\n]*)\n(.*?)```")

// Every command that the README shows prints what the README shows.
func TestREADMECommands(t *testing.T) {
	t.Chdir("../..")
	text := readme(t)
	blocks := consoleBlock.FindAllStringSubmatchIndex(text, -1)
	if len(blocks) < 3 {
		t.Fatalf("found %d commands", len(blocks))
	}
	var updated strings.Builder
	end := 0
	for _, at := range blocks {
		line, want := text[at[2]:at[3]], text[at[4]:at[5]]
		var got bytes.Buffer
		run(strings.Fields(line), streams{nil, &got, &got})
		updated.WriteString(text[end:at[4]] + got.String())
		end = at[5]
		if diff := cmp.Diff(want, got.String()); diff != "" && !*update {
			t.Errorf("bin/meshgen %s (-README +printed):\n%s", line, diff)
		}
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(updated.String()+text[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

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
