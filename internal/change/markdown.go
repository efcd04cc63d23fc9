package change

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// MostBytes is what a page of Markdown may have: GitHub refuses a comment of more than
// 65,536 characters.
const MostBytes = 64_900

// Marker begins every page, so that whoever posts it finds the comment of the last run.
const Marker = "<!-- meshgen diff -->"

// Markdown writes the changes as a page for a pull request, of at most MostBytes. Where
// all of it would be longer, each list is cut to what fits, and says how much more there
// is; at last clusters are, those of the least risk first.
func Markdown(w io.Writer, all []*Cluster) error {
	_, err := io.WriteString(w, page(all, MostBytes))
	return err
}

// cuts are how many items of a list are shown, from all to as few as may be.
var cuts = []int{math.MaxInt, 200, 100, 50, 20, 10, 5, 2}

func page(all []*Cluster, most int) string {
	text := ""
	for _, cut := range cuts {
		if text = pageCut(all, len(all), cut); len(text) <= most {
			return text
		}
	}
	fewest := cuts[len(cuts)-1]
	for n := len(all) / 2; len(text) > most; n /= 2 {
		text = pageCut(all, n, fewest)
		if n == 0 {
			break
		}
	}
	return text
}

// pageCut is the page with the first clusters and so many items of each list.
func pageCut(all []*Cluster, clusters, cut int) string {
	m := &markdown{cut: cut}
	m.line("%s", Marker)
	m.line("## meshgen: %s", headline(all))
	m.first(all)
	for _, c := range all[:clusters] {
		m.cluster(c, len(all) == 1)
	}
	m.more(len(all)-clusters, "clusters, of no higher risk; `meshgen diff` shows all")
	return m.String()
}

func headline(all []*Cluster) string {
	count := map[Risk]int{}
	for _, c := range all {
		count[c.Risk]++
	}
	if len(all) == 1 {
		return fmt.Sprintf("%s, %s risk", code(all[0].Name), all[0].Risk)
	}
	var parts []string
	for _, r := range []Risk{High, Medium, Low} {
		if count[r] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s risk", count[r], r))
		}
	}
	return fmt.Sprintf("%d clusters change, %s", len(all), strings.Join(parts, ", "))
}

type markdown struct {
	strings.Builder
	cut int
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// more is the line below a list that was cut.
func (m *markdown) more(n int, what string) {
	if n > 0 {
		m.line("\n*and %d more %s*", n, what)
	}
}

// shown are the first of a list, and how many are left out.
func shown[T any](all []T, cut int) (some []T, more int) {
	n := min(len(all), cut)
	return all[:n], len(all) - n
}

// first are the high risks of all clusters.
func (m *markdown) first(all []*Cluster) {
	var lines []string
	for _, c := range all {
		for _, d := range c.high() {
			where := ""
			if len(all) > 1 && d.Subject != c.Name {
				where = code(c.Name) + ": "
			}
			lines = append(lines, fmt.Sprintf("- %s**%s** %s: %s; %s", where, code(d.Subject), prose(d.Detail), prose(d.What), prose(d.Why)))
		}
	}
	if len(lines) == 0 {
		return
	}
	m.line("\n**High risk**\n")
	some, more := shown(lines, max(m.cut, 20))
	m.line("%s", strings.Join(some, "\n"))
	m.more(more, "of high risk")
}

// cluster is one cluster; folded among others.
func (m *markdown) cluster(c *Cluster, alone bool) {
	if !alone {
		m.line("\n<details><summary>%s: %s</summary>", html(c.Name), html(c.summary()))
	}
	m.inputs(c.Inputs)
	m.decisions(c)
	m.restarts(c)
	m.findings(c.Findings)
	m.resources(c)
	if !alone {
		m.line("\n</details>")
	}
}

func (m *markdown) decisions(c *Cluster) {
	if len(c.Decisions) == 0 {
		return
	}
	m.line("\n**Decisions**\n")
	m.line("| risk | decision | moved | by |\n| --- | --- | --- | --- |")
	some, more := shown(c.Decisions, m.cut)
	for _, d := range some {
		var causes []string
		for _, cause := range d.Causes {
			causes = append(causes, d.cause(cause, code(cause.Inputs)))
		}
		few, rest := shown(causes, 3)
		if rest > 0 {
			few = append(slices.Clone(few), fmt.Sprintf("and %d more", rest))
		}
		m.line("| %s | %s | %s | %s |", d.Risk, cell(code(d.Subject)), cell(prose(d.brief())), cell(strings.Join(few, "<br>")))
	}
	m.more(more, "decisions")
	m.reasons(some)
}

// reasons are why the values are what they are now, with the terms that moved.
func (m *markdown) reasons(some []Decision) {
	m.line("\n<details><summary>why</summary>\n")
	for _, d := range some {
		m.line("- %s: %s", code(d.Subject), prose(d.Reason))
		var terms []string
		for _, t := range d.Terms {
			terms = append(terms, fmt.Sprintf("%s %s → %s", code(t.Name), prose(t.Before), prose(t.After)))
		}
		if few, rest := shown(terms, 8); len(few) > 0 {
			text := strings.Join(few, ", ")
			if rest > 0 {
				text += fmt.Sprintf(" and %d more", rest)
			}
			m.line("  - %s", text)
		}
	}
	m.line("\n</details>")
}

func (m *markdown) restarts(c *Cluster) {
	if c.State != Moved {
		return
	}
	m.line("\n**Restarts**\n")
	if len(c.Restarts) == 0 {
		m.line("- none")
	}
	some, more := shown(c.Restarts, m.cut)
	for _, r := range some {
		m.line("- %s %s", code(r.Workload), prose(r.does()))
	}
	for _, f := range c.Freezes {
		m.line("- **not within %s** (event %s)", prose(f.Span), code(f.Event))
	}
	m.more(more, "restarts")
}

func (m *markdown) findings(f Findings) {
	if f.empty() {
		return
	}
	m.line("\n**Findings**\n")
	var lines []string
	add := func(what string, f diag.Finding) {
		lines = append(lines, fmt.Sprintf("- %s: %s %s: %s", what, f.Severity, code(f.ID), prose(f.Message)))
	}
	for _, one := range f.Appeared {
		add("new", one)
	}
	for _, one := range f.Changed {
		add("now", one.Finding)
		lines[len(lines)-1] += "<br>was: " + prose(one.Was)
	}
	for _, one := range f.Went {
		add("gone", one)
	}
	some, more := shown(lines, m.cut)
	m.line("%s", strings.Join(some, "\n"))
	m.more(more, "findings")
}

func (m *markdown) inputs(all []Input) {
	if len(all) == 0 {
		return
	}
	folded := len(all) > unfolded
	if folded {
		m.line("\n<details><summary>fields of the profile that moved: %d</summary>\n", len(all))
	} else {
		m.line("\n**Profile**\n")
	}
	some, more := shown(all, m.cut)
	for _, i := range some {
		m.line("- %s: %s (%s)", code(i.Path), prose(i.moved()), prose(i.Pos.String()))
	}
	m.more(more, "fields")
	if folded {
		m.line("\n</details>")
	}
}

// unfolded is how many fields of the profile stand there at once.
const unfolded = 5

func (m *markdown) resources(c *Cluster) {
	if len(c.Resources) == 0 {
		return
	}
	m.line("\n<details><summary>resources that differ: %d</summary>", len(c.Resources))
	some, more := shown(c.Resources, m.cut)
	for _, r := range some {
		m.line("\n%s (%s)", code(r.title()), code(r.File))
		lines, rest := shown(r.lines(), m.cut)
		if rest > 0 {
			lines = append(slices.Clone(lines), fmt.Sprintf("  and %d more lines", rest))
		}
		if len(lines) > 0 {
			text := strings.Join(lines, "\n")
			m.line("\n%[1]sdiff\n%[2]s\n%[1]s", fence(text, 3), text)
		}
	}
	m.more(more, "resources")
	m.line("\n</details>")
}

// fence is more back quotes than a text has anywhere in a row, and at least so many.
func fence(text string, least int) string {
	longest, run := 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest >= least {
		least = longest + 1
	}
	return strings.Repeat("`", least)
}

// code is a text as it is, on one line.
func code(text string) string {
	text = clip(text)
	ticks := fence(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || text == "" {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// prose is a text in which nothing is markup, and nobody and no issue is mentioned.
func prose(text string) string {
	var b strings.Builder
	for _, r := range clip(text) {
		switch {
		case strings.ContainsRune("\\`*_{}[]|~", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@' || r == '#':
			b.WriteRune(r)
			b.WriteString("&#8203;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// html is a text inside of a tag, where Markdown is not read everywhere.
func html(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@&#8203;", "#", "#&#8203;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "~", "&#126;").Replace(clip(text))
}

// cell is what stands in a table: a bar would end it, in code as well.
func cell(markup string) string {
	return strings.ReplaceAll(strings.ReplaceAll(markup, `\|`, "|"), "|", `\|`)
}
