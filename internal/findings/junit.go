package findings

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

type testSuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Suites   []testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	ClassName string   `xml:"classname,attr"` // what GitLab and Jenkins call the suite
	Name      string   `xml:"name,attr"`
	Skipped   *outcome `xml:"skipped"`
	Error     *outcome `xml:"error"`
	Failure   *outcome `xml:"failure"`
	SystemOut string   `xml:"system-out,omitempty"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a test suite for each thing that was judged. A test case is
// a stage or a policy that was reached, or the id of a finding: it fails by
// errors, and warnings stand in its output, for they change no exit status.
func writeJUnit(w io.Writer, r Report) error {
	doc := testSuites{Name: "meshgen"}
	for _, s := range r.Suites {
		doc.add(testSuite{Name: diag.Visible(s.Name), Cases: casesOf(s)})
	}
	if len(r.Failures) > 0 {
		failed := testSuite{Name: "meshgen"}
		for i, failure := range r.Failures {
			failure = diag.Visible(failure)
			failed.Cases = append(failed.Cases, testCase{
				ClassName: "meshgen", Name: fmt.Sprintf("run %d", i+1), Error: &outcome{Message: failure, Type: "failure", Text: failure},
			})
		}
		doc.add(failed)
	}
	data, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}

func (d *testSuites) add(s testSuite) {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Error != nil:
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	d.Suites = append(d.Suites, s)
	d.Tests, d.Failures, d.Errors = d.Tests+s.Tests, d.Failures+s.Failures, d.Errors+s.Errors
}

// casesOf are a suite's test cases by name: what was judged, and what was found.
func casesOf(s Suite) []testCase {
	found := map[string]diag.List{}
	for _, f := range s.Findings.Sorted() {
		found[f.ID] = append(found[f.ID], f)
	}
	excepted := map[string][]Excepted{}
	for _, e := range s.Excepted {
		excepted[e.ID] = append(excepted[e.ID], e)
	}
	names := map[string]bool{}
	for _, id := range s.Judged {
		names[id] = !failedStage(id, s.Findings)
	}
	for id := range found {
		names[id] = true
	}
	var cases []testCase
	for name, shown := range names {
		if shown {
			cases = append(cases, caseOf(s.Name, name, found[name], excepted[name]))
		}
	}
	slices.SortFunc(cases, func(a, b testCase) int { return strings.Compare(a.Name, b.Name) })
	return cases
}

// failedStage reports whether the id is a stage's in which an error was found,
// which has a test case of its own.
func failedStage(id string, found diag.List) bool {
	return slices.ContainsFunc(found, func(f diag.Finding) bool {
		return f.Severity == diag.Error && strings.HasPrefix(f.ID, id+"/")
	})
}

func caseOf(suite, name string, found diag.List, excepted []Excepted) testCase {
	c := testCase{ClassName: diag.Visible(suite), Name: name}
	var errors, warnings []string
	for _, f := range found {
		if f.Severity == diag.Error {
			errors = append(errors, f.String())
		} else {
			warnings = append(warnings, f.String())
		}
	}
	c.SystemOut = strings.Join(warnings, "\n")
	if len(errors) > 0 {
		at := slices.IndexFunc(found, func(f diag.Finding) bool { return f.Severity == diag.Error })
		c.Failure = &outcome{Message: diag.Visible(found[at].Message), Type: string(diag.Error), Text: strings.Join(errors, "\n")}
	} else if len(excepted) > 0 {
		c.Skipped = &outcome{Message: exceptedText(excepted)}
	}
	return c
}

func exceptedText(excepted []Excepted) string {
	var all []string
	for _, e := range excepted {
		all = append(all, fmt.Sprintf("%s is excepted until %s by %s: %s", e.Subject, e.Expiry, e.Owner, e.Reason))
	}
	slices.Sort(all)
	return diag.Visible(strings.Join(slices.Compact(all), "; "))
}
