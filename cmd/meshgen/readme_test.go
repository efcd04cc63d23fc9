package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/policies"
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

// rows are the first cells of the table below a heading of the README, without
// back quotes.
func rows(t *testing.T, heading string) []string {
	t.Helper()
	_, below, ok := strings.Cut(readme(t), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no section %s", heading)
	}
	section, _, _ := strings.Cut(below, "\n## ")
	var cells []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(section, -1) {
		cells = append(cells, m[1])
	}
	slices.Sort(cells)
	return cells
}

// Every finding that the code can make has a row, and every row a finding.
func TestREADMEFindings(t *testing.T) {
	t.Chdir("../..")
	id := regexp.MustCompile(`"((?:schema|plan|manifests)/[a-z-]+)"`)
	var ids []string
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range id.FindAllStringSubmatch(string(data), -1) {
			ids = append(ids, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	if diff := cmp.Diff(slices.Compact(ids), rows(t, "Findings")); diff != "" {
		t.Errorf("(-in the code +in README.md):\n%s", diff)
	}
}

func TestREADMECountsThePolicies(t *testing.T) {
	t.Chdir("../..")
	list, err := policies.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	if diff := cmp.Diff(ids, rows(t, "Policies")); diff != "" {
		t.Errorf("(-in the code +in README.md):\n%s", diff)
	}
}
