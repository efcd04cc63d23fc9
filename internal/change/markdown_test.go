package change

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/diag"
)

// crowd is clusters with a lot of everything, and names that want out.
func crowd(clusters, each int) []*Cluster {
	var all []*Cluster
	for i := range clusters {
		c := &Cluster{Name: fmt.Sprintf("cluster-%d", i), State: Moved, Risk: Low}
		for j := range each {
			subject := fmt.Sprintf("workload/shop/s%d.replicas.min", j)
			c.Inputs = append(c.Inputs, Input{Path: subject, Before: "1", After: strings.Repeat("x", 300)})
			c.Decisions = append(c.Decisions, Decision{Subject: subject, State: Moved, Before: int64(2), After: int64(1), Risk: High, Reason: strings.Repeat("r", 100)})
			c.Restarts = append(c.Restarts, Restart{Workload: subject})
			c.Findings.Appeared = append(c.Findings.Appeared, diag.Finding{ID: "plan/x", Message: strings.Repeat("m", 100)})
			c.Resources = append(c.Resources, Resource{Kind: "ConfigMap", Name: subject, State: Moved, Fields: []Field{{Path: "data.x", Before: "a\nb", After: strings.Repeat("line\n", 100)}}})
			c.danger(rule("floor-falls"), subject, "2 → 1")
		}
		c.settle()
		all = append(all, c)
	}
	return all
}

func TestAPageIsNeverTooLong(t *testing.T) {
	for name, c := range map[string]struct{ clusters, each int }{
		"nothing much":                      {1, 1},
		"one cluster with a lot":            {1, 800},
		"many clusters with little":         {400, 1},
		"many clusters with a lot":          {30, 40},
		"one cluster that just fits or not": {1, 40},
	} {
		t.Run(name, func(t *testing.T) {
			var page strings.Builder
			if err := Markdown(&page, crowd(c.clusters, c.each)); err != nil {
				t.Fatal(err)
			}
			text := page.String()
			if len(text) >= 65_000 || !strings.HasPrefix(text, Marker+"\n") {
				t.Errorf("%d bytes, beginning with %.40q", len(text), text)
			}
			if open, shut := strings.Count(text, "<details>"), strings.Count(text, "</details>"); open != shut {
				t.Errorf("%d folds open, %d close", open, shut)
			}
			if fences := strings.Count(text, "```"); fences%2 != 0 {
				t.Errorf("%d fences", fences)
			}
			more := regexp.MustCompile(`\*and (\d+) more `).MatchString(text)
			if want := c.clusters*c.each > 40; more != want {
				t.Errorf("says that there is more: %v, want %v", more, want)
			}
		})
	}
}

// A page that fits has all, and one byte less is cut.
func TestAPageHasAllThatFits(t *testing.T) {
	all := crowd(3, 5)
	whole := page(all, 1<<30)
	if fits := page(all, len(whole)); fits != whole {
		t.Error("it fits, and is cut")
	}
	if cut := page(all, len(whole)-1); len(cut) >= len(whole) || !strings.Contains(cut, " more ") {
		t.Errorf("%d bytes of %d", len(cut), len(whole))
	}
}

// Nothing of a name or a message is markup, ends a fold or mentions anybody.
func TestTextsOfThePageAreTexts(t *testing.T) {
	hostile := "a`b``c</details><script>|@everyone #1 [x](y) *z* \n# title \u202e"
	c := &Cluster{
		Name: "x", State: Moved, Risk: High,
		Inputs:    []Input{{Path: hostile, Before: hostile, After: hostile}},
		Decisions: []Decision{{Subject: hostile, State: Moved, Before: []string{hostile}, After: []string{"b"}, Reason: hostile, Causes: []Cause{{Inputs: hostile}}, Terms: []Term{{hostile, hostile, hostile}}}},
		Restarts:  []Restart{{Workload: hostile, Fields: []string{hostile}}},
		Freezes:   []Freeze{{hostile, hostile}},
		Findings:  Findings{Appeared: diag.List{{ID: "plan/x", Message: hostile}}, Changed: []Reworded{{diag.Finding{Message: hostile}, hostile}}},
		Resources: []Resource{{Kind: "ConfigMap", Name: hostile, File: hostile, State: Moved, Fields: []Field{
			{Path: hostile, Before: hostile, After: "````\nx"}, {Path: hostile, Before: nil, After: map[string]any{hostile: hostile}},
		}}},
	}
	c.danger(rule("floor-falls"), hostile, hostile)
	other := *c
	other.Name = hostile
	text := pageCut([]*Cluster{c, &other}, 2, 100)
	outside := withoutCode(text)
	for _, bad := range []string{"<script", "@everyone", "#1", "[x](", "*z*", "\u202e"} {
		if strings.Contains(outside, bad) {
			t.Errorf("%q is markup", bad)
		}
	}
	if open, shut := strings.Count(outside, "<details>"), strings.Count(outside, "</details>"); open != shut || open < 4 {
		t.Errorf("%d folds open, %d close", open, shut)
	}
	for line := range strings.Lines(outside) {
		if strings.HasPrefix(line, "# ") {
			t.Errorf("a title: %q", line)
		}
		if bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && bars != 5 {
			t.Errorf("%d bars: %q", bars, line)
		}
	}
}

// withoutCode is a page without what stands between back quotes of one length, as
// CommonMark finds it; backslashes before a quote do not count in code.
func withoutCode(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			break
		}
		if at > 0 && text[at-1] == '\\' {
			out.WriteString(text[:at+1])
			text = text[at+1:]
			continue
		}
		out.WriteString(text[:at])
		ticks := text[at : at+len(text[at:])-len(strings.TrimLeft(text[at:], "`"))]
		rest := text[at+len(ticks):]
		end := endOf(rest, ticks)
		if end < 0 {
			out.WriteString(ticks)
			text = rest
			continue
		}
		text = rest[end+len(ticks):]
	}
	return out.String() + text
}

// endOf is where a run of just these ticks begins.
func endOf(text, ticks string) int {
	for at := 0; at < len(text); {
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == len(ticks) {
			return at
		}
		at += max(run, 1)
	}
	return -1
}
