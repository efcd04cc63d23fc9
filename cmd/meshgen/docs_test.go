package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/policies"
	"github.com/meshgen/meshgen/schema"
)

// fence is a block of a page that shows commands: with what they print (console),
// or without (sh).
var fence = regexp.MustCompile("(?ms)^```(console|sh)\n(.*?)^```$")

// Every command that a page shows runs, in the order of the page and in one clone,
// and prints what the page shows. What they write beside the project's files is
// ignored there.
func TestPagesShowWhatCommandsPrint(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	hub := published(t, root, "examples", "golden", "docs")
	for _, page := range pages(t, root) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(root, page))
			if err != nil {
				t.Fatal(err)
			}
			clone := cloneOf(t, root, hub)
			got := fence.ReplaceAllStringFunc(string(data), func(block string) string {
				m := fence.FindStringSubmatch(block)
				if m[1] == "sh" {
					for _, line := range commandLines(m[2]) {
						runShown(t, root, clone, line, true)
					}
					return block
				}
				return "```console\n" + played(t, root, clone, m[2]) + "```"
			})
			if *update {
				put(t, filepath.Join(root, page), []byte(got))
			} else if diff := cmp.Diff(string(data), got); diff != "" {
				t.Errorf("(-shown +printed):\n%s", diff)
			}
			if left := runShown(t, root, clone, "git ls-files --others --exclude-standard", true); left != "" {
				t.Errorf("what the page writes would be committed by git add:\n%s", left)
			}
		})
	}
}

func pages(t *testing.T, root string) []string {
	t.Helper()
	all := []string{"README.md"}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) < 6 {
		t.Fatalf("%d pages, %v", len(docs), err)
	}
	for _, page := range docs {
		all = append(all, "docs/"+filepath.Base(page))
	}
	return all
}

// gitConfig stands beside the repository and its clones: who commits, and that the
// project's address is the folder of this machine.
const gitConfig = `[user]
	name = a
	email = a@example.com
[url %q]
	insteadOf = https://github.com/meshgen/meshgen
`

// published is a repository with these folders of this one, in one commit.
func published(t *testing.T, root string, folders ...string) string {
	t.Helper()
	hub := filepath.Join(t.TempDir(), "hub")
	for _, folder := range folders {
		if err := os.CopyFS(filepath.Join(hub, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(hub, ".gitignore"), []byte(text(t, filepath.Join(root, ".gitignore"))))
	put(t, filepath.Join(hub, "..", "gitconfig"), fmt.Appendf(nil, gitConfig, hub))
	runShown(t, root, hub, "git init -q -b main && git add . && git commit -q -m one", true)
	return hub
}

// cloneOf is a clone that stands beside the repository, with bin/meshgen as make
// builds it.
func cloneOf(t *testing.T, root, hub string) string {
	t.Helper()
	clone, err := os.MkdirTemp(filepath.Dir(hub), "clone-")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("meshgen")
	if err != nil {
		t.Fatal(err)
	}
	runShown(t, root, clone, "git clone -q "+hub+" . && mkdir bin && ln -s "+program+" bin/meshgen", true)
	return clone
}

// commandLines are the commands of a sh block, continued lines joined.
func commandLines(block string) []string {
	var lines []string
	for _, line := range strings.Split(strings.ReplaceAll(block, "\\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// played is a console block with what its commands print now.
func played(t *testing.T, root, clone, block string) string {
	t.Helper()
	var text strings.Builder
	for _, line := range strings.Split(block, "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			text.WriteString(line + "\n" + runShown(t, root, clone, command, false))
		}
	}
	return text.String()
}

var makeTarget = regexp.MustCompile(`^make ([a-z-]+)( && )?`)

// runShown runs a command as a shell does; make is held to the Makefile alone, for
// its targets run these tests.
func runShown(t *testing.T, root, clone, command string, mustSucceed bool) string {
	t.Helper()
	if m := makeTarget.FindStringSubmatch(command); m != nil {
		makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
		if err != nil || !bytes.Contains(makefile, []byte("\n"+m[1]+":")) {
			t.Errorf("%s: the Makefile has no target %s (%v)", command, m[1], err)
		}
		if command = strings.TrimPrefix(command, m[0]); command == "" {
			return ""
		}
	}
	shell := exec.Command("sh", "-c", command)
	shell.Dir, shell.Env = clone, append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(clone, "..", "gitconfig"))
	printed, err := shell.CombinedOutput()
	if mustSucceed && err != nil {
		t.Errorf("%s: %v\n%s", command, err, printed)
	}
	return string(printed)
}

// The pages that are made of what the code says of itself.
func TestGeneratedPages(t *testing.T) {
	t.Chdir("../..")
	for page, write := range map[string]func(*testing.T) string{
		"docs/profile.md": profilePage, "docs/policies.md": policiesPage, "docs/decisions.md": decisionsPage,
	} {
		t.Run(page, func(t *testing.T) {
			want := write(t)
			if *update {
				put(t, page, []byte(want))
				return
			}
			got, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), want); diff != "" {
				t.Errorf("make golden writes it anew (-page +code):\n%s", diff)
			}
		})
	}
}

// field is a node of the profile's JSON Schema.
type field struct {
	Ref         string            `json:"$ref"`
	Type        string            `json:"type"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Description string            `json:"description"`
	Default     any               `json:"default"`
	Properties  map[string]*field `json:"properties"`
	Required    []string          `json:"required"`
	Items       *field            `json:"items"`
	Each        any               `json:"additionalProperties"`
	AnyOf       []*field          `json:"anyOf"`
	Defs        map[string]*field `json:"$defs"`
}

func profilePage(t *testing.T) string {
	data, err := schema.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var root field
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(`# The profile, field by field

Generated from the schema by ` + "`make golden`" + `. A field in **bold** is required where its parent is there. ` + "`[]`" + ` is an item
of a list, ` + "`{}`" + ` a value of a map. ` + "`validate`" + ` knows the rules between fields too.
`)
	p := fieldPage{t: t, defs: root.Defs, out: &page}
	p.section("metadata", p.resolve(root.Properties["metadata"]))
	spec := p.resolve(root.Properties["spec"])
	for _, name := range slices.Sorted(maps.Keys(spec.Properties)) {
		p.section("spec."+name, spec.Properties[name])
	}
	return page.String()
}

type fieldPage struct {
	t    *testing.T
	defs map[string]*field
	out  *strings.Builder
}

func (p fieldPage) resolve(f *field) *field {
	if f.Ref == "" {
		return f
	}
	return p.resolve(p.defs[strings.TrimPrefix(f.Ref, "#/$defs/")])
}

func (p fieldPage) section(path string, f *field) {
	fmt.Fprintf(p.out, "\n## %s\n\n%s\n\n", path, f.Description)
	p.out.WriteString("| field | what it is | what it accepts | left out |\n| --- | --- | --- | --- |\n")
	p.rows("", f)
}

func (p fieldPage) rows(path string, f *field) {
	shape := p.resolve(f)
	switch {
	case shape.Items != nil:
		p.rows(path+"[]", shape.Items)
	case shape.Properties != nil:
		for _, name := range slices.Sorted(maps.Keys(shape.Properties)) {
			child := shape.Properties[name]
			below := strings.TrimPrefix(path+"."+name, ".")
			p.row(below, child, slices.Contains(shape.Required, name))
			p.rows(below, child)
		}
	default:
		if each, ok := shape.Each.(map[string]any); ok {
			data, _ := json.Marshal(each)
			var child field
			if json.Unmarshal(data, &child) == nil {
				p.rows(path+"{}", &child)
			}
		}
	}
	for _, variant := range shape.AnyOf {
		if v := p.resolve(variant); v.Properties != nil {
			p.rows(path, v)
		}
	}
}

func (p fieldPage) row(path string, f *field, required bool) {
	what, accepts, _ := strings.Cut(f.Description, " Expected: ")
	if accepts == "" {
		accepts = p.kind(f)
	}
	if accepts == "" || what == "" {
		p.t.Errorf("the schema does not say what %s is (%q), or what it accepts (%q)", path, what, accepts)
	}
	name := "`" + path + "`"
	if required {
		name = "**" + name + "**"
	}
	fallback := ""
	if f.Default != nil {
		data, _ := json.Marshal(f.Default)
		fallback = "`" + string(data) + "`"
	}
	fmt.Fprintf(p.out, "| %s | %s | %s | %s |\n", name, cell(what), cell(strings.TrimSuffix(accepts, ".")), fallback)
}

// kind is what a field without words of its own is.
func (p fieldPage) kind(f *field) string {
	shape := p.resolve(f)
	switch {
	case shape.Const != nil:
		return quoted(shape.Const)
	case shape.Enum != nil:
		last := len(shape.Enum) - 1
		return quoted(shape.Enum[:last]...) + " or " + quoted(shape.Enum[last])
	case shape.Items != nil:
		return "a list"
	case shape.Properties != nil || shape.Each != nil && shape.Type == "object":
		return "fields"
	case shape.Type == "boolean":
		return "true or false"
	}
	return shape.Type
}

// quoted are values as a profile has them.
func quoted(values ...any) string {
	var all []string
	for _, value := range values {
		all = append(all, fmt.Sprintf("`%v`", value))
	}
	return strings.Join(all, ", ")
}

// cell is a text that a table can hold.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", "\\|"), "\n", " ")
}

func policiesPage(t *testing.T) string {
	all, err := policies.List()
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(`# Policies

Generated from the METADATA of ` + "`policies/*/*.rego`" + ` by ` + "`make golden`" + `. What one denies stops the cluster's line: nothing is written,
and the exit status is 3. Those that need a plan are left out by ` + "`meshgen policy test`" + `, which judges manifests by anyone.
`)
	for _, p := range all {
		fmt.Fprintf(&page, "\n## %s\n\n**%s.** %s\n\n- What to do: %s\n- Earned by: %s\n- Severity: %s", p.ID, p.Title, oneLine(p.Description), oneLine(p.Remedy), oneLine(p.Source), p.Severity)
		if len(p.Needs) > 0 {
			fmt.Fprintf(&page, "; needs a %s", strings.Join(p.Needs, " and a "))
		}
		page.WriteString("\n")
	}
	return page.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// kindOfDecision is a subject without the names in it.
func kindOfDecision(subject string) string {
	for _, r := range []struct{ pattern, with string }{
		{`^workload/[^/]+/[^.]+\.`, "workload/<namespace>/<name>."},
		{`^service/[^/]+/[^.]+\.`, "service/<namespace>/<name>."},
		{`^sidecar/[^/.]+/[^.]+\.`, "sidecar/<namespace>/<name>."},
		{`^sidecar/[^/.]+\.`, "sidecar/<namespace>."},
		{`(\.event|\.lead|\.window|\.freeze)\..*$`, "$1.<event>"},
	} {
		subject = regexp.MustCompile(r.pattern).ReplaceAllString(subject, r.with)
	}
	return subject
}

// decisionsPage has one of each kind of decision of the examples: the one with the
// most terms, for formulas leave out what a profile does not ask for.
func decisionsPage(t *testing.T) string {
	kinds := map[string]plan.Decision{}
	from := map[string]string{}
	var order []string
	for _, path := range exampleProfiles(t) {
		o, err := newWorker(nil).decide(path)
		if err != nil || o.plan == nil {
			t.Fatalf("%s: %v, %v", path, o.findings, err)
		}
		for _, d := range o.plan.Decisions {
			kind := kindOfDecision(d.Subject)
			had, ok := kinds[kind]
			if !ok {
				order = append(order, kind)
			}
			if !ok || len(d.Terms) > len(had.Terms) {
				kinds[kind], from[kind] = d, path
			}
		}
	}
	var page strings.Builder
	page.WriteString(`# Decisions and their formulas

Generated from the plans of the examples by ` + "`make golden`" + `: of each kind of decision the one with the most terms. The formulas are
the text that is evaluated, over the terms above them, in exact arithmetic. ` + "`meshgen explain PROFILE SUBJECT`" + ` prints them with the
numbers of a profile in place. The law of a push, which istiod's memory may follow, is in [law.md](law.md).

| function | what it is |
| --- | --- |
`)
	for _, name := range slices.Sorted(maps.Keys(formulaFunctions)) {
		fmt.Fprintf(&page, "| `%s` | %s |\n", name, formulaFunctions[name])
	}
	for _, kind := range order {
		writeDecision(&page, kind, kinds[kind], from[kind])
		for _, term := range kinds[kind].Terms {
			for _, m := range regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9]*)\(`).FindAllStringSubmatch(term.Formula, -1) {
				if formulaFunctions[m[1]] == "" {
					t.Errorf("%s uses %s, which the page does not explain", kind, m[1])
				}
			}
		}
	}
	return page.String()
}

// formulaFunctions is what the functions of formulas are, where their names do not
// say all of it.
var formulaFunctions = map[string]string{
	"age":             "the largest of 5, 10, 15, 20 and 30 minutes that is at most so many seconds",
	"beforePodLoss":   "the fewest pods, 2 at least, of which so many are left when one is lost",
	"beforeShareLoss": "the same, when that share of them is lost",
	"beforeZoneLoss":  "the same, when one of that many zones is lost",
	"ceil":            "up to a whole number",
	"crossZone":       "the share of calls that leave their zone",
	"doublings":       "how often an autoscaler has to double to come to that multiple",
	"fewest":          "the fewest pods of which the fullest holds at most that many of the connections",
	"fewestInZone":    "the fewest pods that a zone may have under a hard constraint: of all pods, zones, skew",
	"floor":           "down to a whole number",
	"hot":             "connections of the fullest of m pods with μ each on average: μ + √(2μ·ln m)",
	"hot99":           "its 99th percentile: μ + √(2μ·(1 − 1/m)·ln 20m)",
	"max":             "the largest",
	"min":             "the smallest",
	"overload":        "the load of the fullest endpoint as a multiple of the mean, of callers and endpoints by zone",
	"sendBuffer":      "the buffer that gRPC takes for a message of so many bytes",
	"step":            "down to a multiple of 5, of 10 from 200 up",
	"stranded":        "endpoints that nobody calls",
	"upTo":            "up to a multiple",
	"zoneLoss":        "the share of all calls that the fullest endpoint has after the loss of the worst zone",
}

func exampleProfiles(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("examples/clusters", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "profile.yaml" && !strings.Contains(path, "thousand") {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) < 3 {
		t.Fatalf("%v, %v", all, err)
	}
	return all
}

func writeDecision(page *strings.Builder, kind string, d plan.Decision, from string) {
	fmt.Fprintf(page, "\n## %s\n\n", kind)
	fmt.Fprintf(page, "Source: %s.\n", strings.TrimSuffix(d.Source, "."))
	if len(d.Terms) > 0 {
		page.WriteString("\n| term | formula, or where it is from | unit |\n| --- | --- | --- |\n")
	}
	for _, term := range d.Terms {
		how := term.From
		switch {
		case term.Formula != "":
			how = "`" + term.Formula + "`"
		case term.Note != "":
			how = term.Note
		case how == "":
			how = "a word: " + term.Text
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", cell(term.Name), cell(how), cell(term.Unit))
	}
	fmt.Fprintf(page, "\nIn `%s`, %s is %s: %s.\n", filepath.Base(filepath.Dir(from)), "`"+d.Subject+"`", plan.ValueText(d.Value, d.Unit), strings.TrimSuffix(d.Reason, "."))
}
