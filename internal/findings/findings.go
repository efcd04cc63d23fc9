// Package findings writes what was found where people look for it: as JSON, as
// SARIF for code scanning, as annotations of a GitHub job, as GitLab's Code
// Quality report and as JUnit's XML. A document is always whole, also where
// nothing was found, and holds the same bytes for the same findings.
package findings

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// Format is a way to write findings. Text is for people and goes to standard
// error as it is found; the others are documents.
type Format string

// The formats.
const (
	Text   Format = "text"
	JSON   Format = "json"
	SARIF  Format = "sarif"
	GitHub Format = "github"
	GitLab Format = "gitlab"
	JUnit  Format = "junit"
)

// Formats are all of them.
func Formats() []Format { return []Format{Text, JSON, SARIF, GitHub, GitLab, JUnit} }

// Report is what a command found in all that it judged.
type Report struct {
	Suites   []Suite
	Rules    []Rule   // of the policies; the other findings' are the package's own
	Failures []string // of meshgen: what could not be judged
	Folder   string   // the working folder: absolute names of files below it become relative
}

// Suite is one thing that was judged: a cluster, or a set of manifests.
type Suite struct {
	Name     string
	Judged   []string // the stages and policies that were reached, by id
	Findings diag.List
	Excepted []Excepted
	// Sources says where files come from that are rendered, and so are not in the
	// reader's repository; the empty name is for findings without a file.
	Sources map[string]diag.Pos
}

// Excepted is a finding that an exception keeps from counting.
type Excepted struct {
	diag.Finding
	Owner  string `json:"owner"`
	Reason string `json:"reason"`
	Expiry string `json:"expiry"` // YYYY-MM-DD, the last day
}

// Rule is what a finding's id means.
type Rule struct {
	ID          string
	Title       string        // a line
	Description string        // why it matters
	Remedy      string        // what to do
	Source      string        // what earned it; may be empty
	Severity    diag.Severity // of its findings; empty where it differs
	Grave       bool          // its warnings stand above others where a format has a rank between warning and error
	Page        string        // about it, from the project's own; empty for README's table of findings
}

// Write writes a report as one document of the format.
func Write(w io.Writer, f Format, r Report) error {
	write, ok := map[Format]func(io.Writer, Report) error{
		JSON: writeJSON, SARIF: writeSARIF, GitHub: writeGitHub, GitLab: writeGitLab, JUnit: writeJUnit,
	}[f]
	if !ok {
		return fmt.Errorf("findings have no document of format %q", f)
	}
	return write(w, r)
}

// result is a finding as a document places it: in a file of the reader's.
type result struct {
	diag.Finding          // as it was found
	at           diag.Pos // where the reader is sent
	rendered     bool     // the finding's own file is one that the reader does not have
	fingerprint  string
}

// results are the findings of every suite, sorted, each once.
func (r Report) results() []result {
	sources := map[diag.Finding]diag.Pos{}
	var all diag.List
	for _, s := range r.Suites {
		all = append(all, s.Findings...)
		for _, f := range s.Findings {
			if at, ok := s.Sources[f.File]; ok {
				sources[f] = at
			}
		}
	}
	all = all.Sorted()
	prints := fingerprints(all, r.Folder)
	results := make([]result, len(all))
	for i, f := range all {
		at, elsewhere := sources[f]
		if !elsewhere {
			at = f.Pos
		}
		at.File = relative(r.Folder, at.File)
		results[i] = result{f, at, elsewhere && f.File != "", prints[i]}
	}
	return results
}

// rules are what the results' ids mean, sorted, each once.
func (r Report) rules(results []result) []Rule {
	known := own()
	for _, rule := range r.Rules {
		known[rule.ID] = rule
	}
	var rules []Rule
	for _, res := range results {
		rule, ok := known[res.ID]
		if !ok {
			rule = Rule{ID: res.ID, Title: res.ID, Description: res.ID, Remedy: res.ID}
		}
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(rules, func(a, b Rule) bool { return a.ID == b.ID })
}

// text is the message and the hint, a line each, as a page or a log may show them.
func text(f diag.Finding) string {
	if f.Hint == "" {
		return diag.Visible(f.Message)
	}
	return diag.Visible(f.Message) + "\n" + diag.Visible(f.Hint)
}
