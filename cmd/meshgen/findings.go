package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/change"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/policies"
)

// reporter says what a command finds: as text on standard error while it goes, or
// as one document on standard output at its end. What the command says itself is
// then on standard error, so that the document is alone. Documents of files are
// written at the end too.
type reporter struct {
	streams
	writing
	document io.Writer
	all      findings.Report
}

// writing is how a command writes what it finds.
type writing struct {
	format findings.Format
	files  documentFiles
}

func newReporter(s streams, w writing) *reporter {
	r := &reporter{streams: s, writing: w, document: s.out}
	if w.format != findings.Text {
		r.out = s.err
	}
	return r
}

// found takes in what was found in one thing that was judged. Text shows lines of
// files below the folders.
func (r *reporter) found(s findings.Suite, folders ...string) error {
	r.collect(s)
	return r.say(s, folders...)
}

// say prints findings where they are said as text.
func (r *reporter) say(s findings.Suite, folders ...string) error {
	if r.format != findings.Text {
		return nil
	}
	return r.streams.report(s.Findings, folders...)
}

// collect keeps a suite for the documents. Without one nothing is kept: a fleet
// may be large.
func (r *reporter) collect(s findings.Suite) {
	if r.documents() {
		r.all.Suites = append(r.all.Suites, s)
	}
}

func (w writing) writes(f findings.Format) bool {
	return w.format == f || slices.ContainsFunc(w.files, func(d document) bool { return d.format == f })
}

func (w writing) documents() bool { return w.format != findings.Text || len(w.files) > 0 }

// fail prints a failure that does not stop the run; the document has it too.
func (r *reporter) fail(err error) {
	r.streams.fail(err)
	r.all.Failures = append(r.all.Failures, err.Error())
}

// close writes the documents, also of a run that failed, and passes on how the
// run ended.
func (r *reporter) close(ended error) error {
	if !r.documents() {
		return ended
	}
	if reported := status(0); ended != nil && !errors.As(ended, &reported) {
		r.all.Failures = append(r.all.Failures, ended.Error())
	}
	if err := r.write(); err != nil {
		return err
	}
	return ended
}

func (r *reporter) write() (err error) {
	if r.all.Folder, err = os.Getwd(); err != nil {
		return err
	}
	if r.writes(findings.SARIF) { // which says what every id means
		if r.all.Rules, err = policyRules(); err != nil {
			return err
		}
	}
	r.all.Rules = append(r.all.Rules, riskRules()...)
	for _, d := range r.files {
		if err := d.write(r.all); err != nil {
			return fmt.Errorf("write the findings: %w", err)
		}
	}
	if r.format == findings.Text {
		return nil
	}
	return findings.Write(r.document, r.format, r.all)
}

func policyRules() ([]findings.Rule, error) {
	all, err := policies.List()
	if err != nil {
		return nil, err
	}
	var rules []findings.Rule
	for _, p := range all {
		rules = append(rules, findings.Rule{
			ID: p.ID, Title: p.Title, Description: p.Description, Remedy: p.Remedy, Source: p.Source, Severity: p.Severity, Page: "#policies",
		})
	}
	return rules, nil
}

// riskRules are those by which a change is judged.
func riskRules() []findings.Rule {
	var rules []findings.Rule
	for _, r := range change.Rules() {
		rules = append(rules, findings.Rule{
			ID: change.Concern(r.ID), Title: r.What, Description: r.Why, Severity: diag.Warning,
			Remedy: "See that it is meant: docs/diff.md has the rules of risk", Page: "/blob/main/docs/diff.md", Grave: r.Risk == change.High,
		})
	}
	return rules
}

// policiesOf are the ids of the policies, or of those that need no plan.
func policiesOf(withPlan bool) ([]string, error) {
	all, err := policies.List()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range all {
		if withPlan || len(p.Needs) == 0 {
			ids = append(ids, p.ID)
		}
	}
	return ids, nil
}

// formatValue is a format as a flag.
type formatValue findings.Format

// String is the format's word.
func (f *formatValue) String() string { return string(*f) }

// Set reads one of the words.
func (f *formatValue) Set(text string) error {
	if !isFormat(text) {
		return fmt.Errorf("use %s", formatWords())
	}
	*f = formatValue(text)
	return nil
}

// Type is what help calls the value.
func (f *formatValue) Type() string { return "format" }

func isFormat(text string) bool {
	return slices.Contains(findings.Formats(), findings.Format(text))
}

func formatWords() string {
	var words []string
	for _, f := range findings.Formats() {
		words = append(words, string(f))
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// findingsFlags are -o FORMAT and the flags beside it.
func findingsFlags(cmd *cobra.Command, w *writing) {
	w.format = findings.Text
	cmd.Flags().VarP((*formatValue)(&w.format), "output", "o", "how findings are written: "+formatWords())
	writingFlags(cmd, w)
}

// writingFlags are --format, for those who know it from render, and --findings.
func writingFlags(cmd *cobra.Command, w *writing) {
	cmd.Flags().Var((*formatValue)(&w.format), "format", "the same as -o with one of these words")
	documentsFlag(cmd, &w.files)
}

// suite is a cluster's line as a document has it.
func (o *outcome) suite(m member) findings.Suite {
	s := findings.Suite{Name: m.path, Judged: o.judged, Findings: o.reported(), Excepted: o.still, Sources: map[string]diag.Pos{}}
	if o.profile == nil {
		return s
	}
	s.Name = o.cluster
	s.Sources[""] = o.profile.Pos("")
	for _, f := range s.Findings {
		if o.generated(f.File) {
			s.Sources[f.File] = o.profile.Pos(o.asksFor(f.File))
		}
	}
	return s
}

// generated reports whether the file is one of the cluster's.
func (o *outcome) generated(file string) bool {
	if o.tree == nil {
		return false
	}
	_, ok := o.tree.Get(file)
	return ok
}

// asksFor is the part of the profile that a generated file comes from.
func (o *outcome) asksFor(file string) string {
	below := strings.TrimPrefix(file, o.cluster+"/")
	if strings.HasPrefix(below, "istiod/") {
		return "spec.istiod"
	}
	parts := strings.Split(below, "/")
	if len(parts) < 2 {
		return ""
	}
	for i, n := range o.profile.Spec.Namespaces {
		if n.Name == parts[1] {
			return fmt.Sprintf("spec.namespaces[%d]", i)
		}
	}
	return "spec.namespaces"
}

// target is where -o of render leads: one of the formats' words says how findings
// are written, and anything else is the folder. So no folder is ever made by the
// name of a format; ./sarif is one.
type target struct {
	root   *string
	format *findings.Format
}

// String is the folder.
func (t target) String() string {
	if t.root == nil {
		return ""
	}
	return *t.root
}

// Set takes a format or a folder.
func (t target) Set(text string) error {
	switch {
	case text == "":
		return errors.New("expected a folder, or how findings are written")
	case isFormat(text):
		*t.format = findings.Format(text)
	case *t.root != "":
		return fmt.Errorf("%s is a second folder, and no way to write findings: use %s", text, formatWords())
	default:
		*t.root = text
	}
	return nil
}

// Type is what help calls the value.
func (target) Type() string { return "DIR|format" }
