package change

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// brief is how the decision moved, in one line.
func (d *Decision) brief() string {
	switch d.State {
	case New:
		return "is " + plan.ValueText(d.After, d.Unit)
	case Gone:
		return "was " + plan.ValueText(d.Before, d.Unit)
	}
	if b, a, ok := d.lists(); ok {
		return itemsMoved(b, a)
	}
	text := plan.ValueText(d.Before, "") + " → " + plan.ValueText(d.After, d.Unit)
	if d.By != "" {
		text += " (" + d.By + ")"
	}
	return text
}

// lists are the two values of a decision whose items alone moved.
func (d *Decision) lists() (before, after []string, ok bool) {
	before, okB := d.Before.([]string)
	after, okA := d.After.([]string)
	return before, after, okB && okA
}

func itemsMoved(before, after []string) string {
	gone, new := difference(before, after)
	var all []string
	for _, item := range gone {
		all = append(all, "− "+item)
	}
	for _, item := range new {
		all = append(all, "+ "+item)
	}
	if len(all) == 0 {
		return "in another order"
	}
	return strings.Join(all, ", ")
}

// cause is a cause under the name that it is shown by, with its effect where that is
// not the whole.
func (d *Decision) cause(c Cause, name string) string {
	if len(d.Causes) == 1 && d.explains(c) {
		return name
	}
	return name + ", " + clip(d.effect(c))
}

// effect is what a cause does to the decision.
func (d *Decision) effect(c Cause) string {
	switch {
	case !c.Alone:
		return "only together with the others"
	case c.State == Gone:
		return "alone takes it away"
	case d.State == Moved && c.By != "":
		return fmt.Sprintf("alone to %s (%s)", plan.ValueText(c.Value, d.Unit), c.By)
	}
	return "alone to " + plan.ValueText(c.Value, d.Unit)
}

// String is the danger in one sentence.
func (d Danger) String() string {
	return strings.TrimSuffix(clip(d.Subject)+" "+clip(d.Detail), " ") + ": " + d.What + "; " + d.Why
}

func (i Input) moved() string {
	switch {
	case i.items != "":
		return clip(i.items)
	case i.Before == "":
		return "new: " + clip(i.After)
	case i.After == "":
		return "gone: " + clip(i.Before)
	}
	return clip(i.Before) + " → " + clip(i.After)
}

func (r Restart) does() string {
	switch {
	case r.Later:
		return "may be another from its next start on: " + clip(strings.Join(r.Fields, ", "))
	case r.Istiod:
		return "rolls out, a quarter of the pods at a time: " + clip(strings.Join(r.Fields, ", "))
	case r.Perhaps:
		return "rolls out where its own manifest differs: " + clip(strings.Join(r.Fields, ", "))
	}
	return "rolls out: " + clip(strings.Join(r.Fields, ", "))
}

// summary is the cluster in one line, after its name.
func (c *Cluster) summary() string {
	switch c.State {
	case New:
		return "new, with " + strings.Join(kinds(c.Resources), ", ")
	case Gone:
		return "gone"
	}
	return fmt.Sprintf("%s risk; decisions that moved: %d, restarts: %d, findings: %d, resources that differ: %d",
		c.Risk, len(c.Decisions), len(c.Restarts), len(c.Findings.Appeared)+len(c.Findings.Went)+len(c.Findings.Changed), len(c.Resources))
}

// high are the dangers that are said first.
func (c *Cluster) high() []Danger {
	return slices.DeleteFunc(slices.Clone(c.Dangers), func(d Danger) bool { return d.Risk != High })
}

// mostCharacters is how much of one value is shown; a word that is longer than
// longWord may be cut.
const (
	mostCharacters = 240
	longWord       = 40
)

// clip is a text as one visible line, of which the end is left out where it is long,
// from the end of a word on if one is near.
func clip(text string) string {
	text = diag.Visible(text)
	runes := []rune(text)
	if len(runes) <= mostCharacters {
		return text
	}
	shown := mostCharacters
	for i := shown; i > mostCharacters-longWord; i-- {
		if runes[i] == ' ' {
			shown = i
			break
		}
	}
	return fmt.Sprintf("%s… and %d more characters", string(runes[:shown]), len(runes)-shown)
}

// lines are what differs in a field: lines that begin with "-", "+" or a blank.
func (f Field) lines() []string {
	if f.record {
		return []string{"  " + clip(f.Path) + ": the chart's own record of every value"}
	}
	if f.Moved {
		return []string{fmt.Sprintf("  %s: from index %v to %v", clip(f.Path), f.Before, f.After)}
	}
	b, okB := f.Before.(string)
	a, okA := f.After.(string)
	if okB && okA && strings.Contains(b+a, "\n") {
		return append([]string{"  " + clip(f.Path) + ":"}, textLines(b, a)...)
	}
	var all []string
	all = appendLeaves(all, "- "+f.Path, f.Before)
	return appendLeaves(all, "+ "+f.Path, f.After)
}

// textLines are the lines that differ of two texts, with those around them.
func textLines(before, after string) []string {
	unified := string(diff.Diff("a", []byte(before), "b", []byte(after)))
	all := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	all = all[min(3, len(all)):] // the header names files
	for i, line := range all {
		all[i] = clip(line)
	}
	return all
}

// appendLeaves adds a line for each value below one that comes or goes.
func appendLeaves(all []string, path string, value any) []string {
	switch v := value.(type) {
	case nil:
		return all
	case map[string]any:
		if len(v) == 0 {
			return append(all, clip(path+": {}"))
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = appendLeaves(all, path+"."+key, v[key])
		}
		return all
	case []any:
		if len(v) == 0 {
			return append(all, clip(path+": []"))
		}
		for i, item := range v {
			all = appendLeaves(all, fmt.Sprintf("%s[%d]", path, i), item)
		}
		return all
	case string:
		return append(all, clip(path)+": "+clip(v))
	}
	return append(all, clip(path)+": "+clip(encoded(value)))
}

func encoded(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(b.String())
}

// lines are what differs in the resource.
func (r Resource) lines() []string {
	var all []string
	for _, f := range r.Fields {
		all = append(all, f.lines()...)
	}
	return all
}

// title is the resource, and what becomes of it.
func (r Resource) title() string {
	switch {
	case r.State == New && r.Yours:
		return r.String() + ": patched from now on"
	case r.State == Gone && r.Yours:
		return r.String() + ": patched no more, your own manifest holds"
	case r.State == Moved:
		return r.String()
	}
	return r.String() + ": " + string(r.State)
}
