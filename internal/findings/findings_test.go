package findings

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/meshgen/meshgen/internal/diag"
)

// reports are what documents are made of.
func reports() map[string]Report {
	return map[string]Report{
		"nothing was found":                      {Suites: []Suite{{Name: "mesh", Judged: []string{"schema", "istiod/whole-cores"}}}},
		"nothing was judged":                     {Failures: []string{"stat none.yaml: no such file or directory"}},
		"errors, warnings and an exception":      typical(),
		"a file and a message that cannot stand": hostile(),
	}
}

// crowded has ten findings more than GitHub takes in a run, one of a thousand an
// error.
func crowded() Report {
	all := Suite{Name: "large", Judged: []string{"schema"}}
	for i := range maxResults + 10 {
		severity := diag.Warning
		if i%1000 == 0 {
			severity = diag.Error
		}
		all.Findings = append(all.Findings, diag.Finding{
			Severity: severity, ID: "plan/no-room", Pos: diag.Pos{File: "profile.yaml", Line: i + 1, Column: 1}, Message: fmt.Sprintf("finding %d", i),
		})
	}
	return Report{Suites: []Suite{all}}
}

func typical() Report {
	return Report{
		Suites: []Suite{{
			Name:   "mesh",
			Judged: []string{"schema", "plan", "manifests", "istiod/whole-cores", "keda/paused", "pdb/one-budget"},
			Findings: diag.List{
				{Severity: diag.Warning, ID: "plan/no-room", Pos: diag.Pos{File: "a b/profile.yaml", Line: 8, Column: 3}, Subject: "capacity.cpu", Message: "12.5 cores lack", Hint: "add nodes"},
				{Severity: diag.Error, ID: "istiod/whole-cores", Pos: diag.Pos{File: "mesh/istiod/values.yaml"}, Subject: "Deployment/istio-system/istiod", Message: "Deployment/istio-system/istiod: 1.5 cores", Hint: "give 2"},
				{Severity: diag.Error, ID: "keda/lost-target", Pos: diag.Pos{File: "/repo/mesh/base/app.yaml", Line: 3}, Message: "nothing is scaled"},
				{Severity: diag.Warning, ID: "manifests/base-fails", Message: "no place"},
			},
			Excepted: []Excepted{{
				Finding: diag.Finding{Severity: diag.Error, ID: "keda/paused", Subject: "ScaledObject/shop/cart", Message: "paused"},
				Owner:   "team-shop", Reason: "sold out & closed", Expiry: "2026-12-31",
			}},
			Sources: map[string]diag.Pos{
				"":                        {File: "a b/profile.yaml", Line: 1, Column: 1},
				"mesh/istiod/values.yaml": {File: "a b/profile.yaml", Line: 5, Column: 3},
			},
		}, {Name: "broken", Judged: []string{"schema"}, Findings: diag.List{
			{Severity: diag.Error, ID: "schema/missing-field", Pos: diag.Pos{File: "broken/profile.yaml", Line: 1, Column: 1}, Subject: "spec", Message: "spec is missing"},
		}}},
		Rules: []Rule{
			{ID: "istiod/whole-cores", Title: "istiod has whole cores", Description: "A fraction is throttled.", Remedy: "give whole cores", Source: "istio#46253", Severity: diag.Error},
			{ID: "keda/lost-target", Title: "A target is there", Description: "Nothing scales else.", Remedy: "name it", Source: "keda#1", Severity: diag.Error},
		},
		Folder: "/repo/mesh",
	}
}

func hostile() Report {
	return Report{Suites: []Suite{{Name: "m\x1b[31m", Findings: diag.List{{
		Severity: diag.Error, ID: "schema/not-yaml", Pos: diag.Pos{File: "a,b:100%\n\x1b\u202e.yaml", Line: 1},
		Message: "100 % of <it>\r\n::error::and & more\x00\xff", Hint: "no\nhint",
	}}}}}
}

// document is a report in a format.
func document(t *testing.T, f Format, r Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every SARIF document is what the schema of OASIS demands.
func TestSARIFKeepsToItsSchema(t *testing.T) {
	schema := sarifSchemaOf(t)
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document(t, SARIF, r)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Error(err)
			}
		})
	}
	if err := schema.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{}}}); err == nil {
		t.Error("the schema takes a run without a tool: it judges nothing")
	}
}

// So is every one that a script holds a command to.
func TestCommandsKeepToTheSchemaOfSARIF(t *testing.T) {
	script, err := txtar.ParseFile("../../cmd/meshgen/testdata/script/findings-are-written-where-people-look.txtar")
	if err != nil {
		t.Fatal(err)
	}
	schema, judged := sarifSchemaOf(t), 0
	for _, file := range script.Files {
		if !strings.HasSuffix(file.Name, ".sarif") {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file.Data))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", file.Name, err)
		}
		judged++
	}
	if judged < 4 {
		t.Errorf("the script has %d documents", judged)
	}
}

func sarifSchemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func sarifOf(t *testing.T, r Report) sarifRun {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal(document(t, SARIF, r), &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0]
}

// A result leads to a rule of its id, to a file that the reader has, and to a
// line from 1 on or to none.
func TestSARIFResults(t *testing.T) {
	run := sarifOf(t, typical())
	var got []string
	for _, r := range run.Results {
		at := r.Locations[0].PhysicalLocation
		line := fmt.Sprintf("%s %s %s", r.Level, run.Tool.Driver.Rules[r.RuleIndex].ID, at.ArtifactLocation.URI)
		if at.Region != nil {
			line += fmt.Sprintf(":%d:%d", at.Region.StartLine, at.Region.StartColumn)
		}
		for _, related := range r.RelatedLocations {
			line += " from " + related.PhysicalLocation.ArtifactLocation.URI
		}
		got = append(got, line)
	}
	want := []string{
		"warning manifests/base-fails a%20b/profile.yaml:1:1",
		"error keda/lost-target base/app.yaml:3:1",
		"warning plan/no-room a%20b/profile.yaml:8:3",
		"error schema/missing-field broken/profile.yaml:1:1",
		"error istiod/whole-cores a%20b/profile.yaml:5:3 from mesh/istiod/values.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A policy's rule has the words of its METADATA, and any other those of README.md.
func TestSARIFRules(t *testing.T) {
	rules := map[string]sarifRule{}
	for _, r := range sarifOf(t, typical()).Tool.Driver.Rules {
		if _, twice := rules[r.ID]; twice {
			t.Errorf("two rules for %s", r.ID)
		}
		rules[r.ID] = r
	}
	want := sarifMessage{
		"give whole cores\n\nA fraction is throttled.\n\nSource: istio#46253",
		"**What to do:** give whole cores\n\n**Why:** A fraction is throttled.\n\n**Source:** istio#46253",
	}
	if diff := cmp.Diff(want, rules["istiod/whole-cores"].Help); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := rules["schema/missing-field"].FullDescription.Text, "Add the field; the position is that of its parent"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(rules) != 5 {
		t.Errorf("%d rules for 5 ids", len(rules))
	}
}

func TestSARIFLeavesWarningsOutFirst(t *testing.T) {
	run := sarifOf(t, crowded())
	errors := 0
	for _, r := range run.Results {
		if r.Level == "error" {
			errors++
		}
	}
	note := run.Invocations[0].ToolExecutionNotifications[0].Message.Text
	if len(run.Results) != maxResults || errors != 26 || !strings.HasPrefix(note, "10 of 25010 results are left out") {
		t.Errorf("%d results, %d errors, note %q", len(run.Results), errors, note)
	}
}

func TestSARIFSaysThatARunFailed(t *testing.T) {
	for name, c := range map[string]struct {
		report Report
		want   sarifInvocation
	}{
		"it did not":            {typical(), sarifInvocation{ExecutionSuccessful: true}},
		"nothing could be read": {reports()["nothing was judged"], sarifInvocation{false, []sarifNotification{{"error", sarifMessage{Text: "stat none.yaml: no such file or directory"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]sarifInvocation{c.want}, sarifOf(t, c.report).Invocations); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A fingerprint is that of the finding, wherever it stands and whatever it counts.
func TestFingerprints(t *testing.T) {
	base := diag.Finding{
		Severity: diag.Error, ID: "plan/no-room", Pos: diag.Pos{File: "profile.yaml", Line: 8, Column: 3},
		Subject: "spec.services[3].replicas", Message: "spec.services[3].replicas is 1,200.5 for cart-2", Hint: "add nodes",
	}
	with := func(change func(*diag.Finding)) diag.Finding {
		f := base
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		other diag.Finding
		same  bool
	}{
		"lines above it were added": {with(func(f *diag.Finding) { f.Line, f.Column = 80, 5 }), true},
		"an item before it was added": {with(func(f *diag.Finding) {
			f.Subject = "spec.services[4].replicas"
			f.Message = "spec.services[4].replicas is 1,200.5 for cart-2"
		}), true},
		"its number moved":                 {with(func(f *diag.Finding) { f.Message = "spec.services[3].replicas is 7 for cart-2" }), true},
		"its hint was worded anew":         {with(func(f *diag.Finding) { f.Hint = "add zones" }), true},
		"its file was named from the root": {with(func(f *diag.Finding) { f.File = "/repo/profile.yaml" }), true},
		"another id":                       {with(func(f *diag.Finding) { f.ID = "plan/above-maximum" }), false},
		"another file":                     {with(func(f *diag.Finding) { f.File = "b/profile.yaml" }), false},
		"another subject":                  {with(func(f *diag.Finding) { f.Subject = "spec.services[3].endpoints" }), false},
		"another message":                  {with(func(f *diag.Finding) { f.Message = "spec.services[3].replicas is missing" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := fingerprints(diag.List{base}, "/repo")[0], fingerprints(diag.List{c.other}, "/repo")[0]
			if (a == b) != c.same {
				t.Errorf("%s and %s", a, b)
			}
		})
	}
	seen := map[string]bool{}
	for _, print := range fingerprints(diag.List{base, with(func(f *diag.Finding) { f.Line = 9 }), with(func(f *diag.Finding) { f.Line = 10 })}, "/repo") {
		if seen[print] {
			t.Errorf("%s stands twice in one document", print)
		}
		seen[print] = true
	}
}

func TestGitHub(t *testing.T) {
	for name, c := range map[string]struct {
		report Report
		want   string
	}{
		"nothing was found": {reports()["nothing was found"], ""},
		"errors and warnings": {typical(), `::warning file=a b/profile.yaml,line=1,col=1,title=manifests/base-fails::no place
::error file=base/app.yaml,line=3,col=1,title=keda/lost-target::nothing is scaled
::warning file=a b/profile.yaml,line=8,col=3,title=plan/no-room::12.5 cores lack%0Aadd nodes
::error file=broken/profile.yaml,line=1,col=1,title=schema/missing-field::spec is missing
::error file=a b/profile.yaml,line=5,col=3,title=istiod/whole-cores::mesh/istiod/values.yaml: Deployment/istio-system/istiod: 1.5 cores%0Agive 2
`},
		"nothing can end a command early": {hostile(), `::error file=a%2Cb%3A100%25\n\x1b\u202e.yaml,line=1,col=1,title=schema/not-yaml::100 %25 of <it>\r\n::error::and & more\x00\xff%0Ano\nhint` + "\n"},
		"a failure":                       {reports()["nothing was judged"], "::error title=meshgen::stat none.yaml: no such file or directory\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(document(t, GitHub, c.report))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGitLabRanksGraveWarningsAboveOthers(t *testing.T) {
	r := Report{
		Suites: []Suite{{Name: "mesh", Findings: diag.List{
			{Severity: diag.Error, ID: "change/floor-falls", Message: "an error stays one"},
			{Severity: diag.Warning, ID: "change/floor-falls", Message: "fewer pods"},
			{Severity: diag.Warning, ID: "change/routing", Message: "other zones"},
			{Severity: diag.Warning, ID: "plan/no-room", Message: "cores lack"},
		}}},
		Rules: []Rule{{ID: "change/floor-falls", Grave: true}, {ID: "change/routing"}},
	}
	var doc []violation
	if err := json.Unmarshal(document(t, GitLab, r), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range doc {
		got[v.Description] = v.Severity
	}
	want := map[string]string{"an error stays one": "critical", "fewer pods": "major", "other zones": "minor", "cores lack": "minor"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// GitLab keeps one of two violations with one fingerprint, and wants a path and
// a line of each.
func TestGitLab(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			var doc []violation
			if err := json.Unmarshal(document(t, GitLab, r), &doc); err != nil || doc == nil {
				t.Fatal(doc, err)
			}
			seen := map[string]bool{}
			for _, v := range doc {
				if seen[v.Fingerprint] || v.Fingerprint == "" || v.Description == "" || v.CheckName == "" || v.Location.Path == "" || v.Location.Lines.Begin < 1 {
					t.Errorf("%+v", v)
				}
				if v.Severity != "critical" && v.Severity != "minor" {
					t.Errorf("severity %q", v.Severity)
				}
				seen[v.Fingerprint] = true
			}
		})
	}
}

func TestJUnit(t *testing.T) {
	var doc testSuites
	if err := xml.Unmarshal(document(t, JUnit, typical()), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range doc.Suites {
		got = append(got, fmt.Sprintf("%s: %d tests, %d failures, %d skipped", s.Name, s.Tests, s.Failures, s.Skipped))
		for _, c := range s.Cases {
			line := c.ClassName + " " + c.Name
			switch {
			case c.Failure != nil:
				line += " fails: " + c.Failure.Message
			case c.Skipped != nil:
				line += " is skipped: " + c.Skipped.Message
			}
			if c.SystemOut != "" {
				line += " with output"
			}
			got = append(got, line)
		}
	}
	want := []string{
		"mesh: 9 tests, 2 failures, 1 skipped",
		"mesh istiod/whole-cores fails: Deployment/istio-system/istiod: 1.5 cores",
		"mesh keda/lost-target fails: nothing is scaled",
		"mesh keda/paused is skipped: ScaledObject/shop/cart is excepted until 2026-12-31 by team-shop: sold out & closed",
		"mesh manifests",
		"mesh manifests/base-fails with output",
		"mesh pdb/one-budget",
		"mesh plan",
		"mesh plan/no-room with output",
		"mesh schema",
		"broken: 1 tests, 1 failures, 0 skipped",
		"broken schema/missing-field fails: spec is missing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every document is whole, whatever stands in it, and the same each time.
func TestDocumentsAreWhole(t *testing.T) {
	read := map[Format]func([]byte) error{
		JSON:   func(b []byte) error { return json.Unmarshal(b, new(any)) },
		SARIF:  func(b []byte) error { return json.Unmarshal(b, new(any)) },
		GitLab: func(b []byte) error { return json.Unmarshal(b, new(any)) },
		JUnit:  func(b []byte) error { return xml.Unmarshal(b, new(testSuites)) },
		GitHub: func(b []byte) error {
			for line := range strings.Lines(string(b)) {
				if !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::warning ") {
					return fmt.Errorf("no command: %q", line)
				}
			}
			return nil
		},
	}
	for _, f := range Formats() {
		if f == Text {
			continue
		}
		for name, r := range reports() {
			t.Run(string(f)+"/"+name, func(t *testing.T) {
				doc := document(t, f, r)
				if err := read[f](doc); err != nil {
					t.Error(err)
				}
				if bytes.ContainsRune(doc, '\x1b') || bytes.ContainsRune(doc, '\u202e') {
					t.Errorf("a terminal would obey what is in it: %q", doc)
				}
				if !bytes.Equal(doc, document(t, f, r)) {
					t.Error("another document the second time")
				}
			})
		}
	}
	if err := Write(os.Stdout, "yaml", Report{}); err == nil {
		t.Error("a format that is none is written")
	}
}
