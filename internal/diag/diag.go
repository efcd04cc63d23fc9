// Package diag holds findings: what is wrong with the user's input or with
// what would be written, where it stands, and what to do. A finding is data for
// people and machines; it is never a Go error. Failures of meshgen itself
// travel as ordinary errors.
package diag

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Severity says whether a finding stops a cluster's line.
type Severity string

// Error stops the line; Warning never changes an exit status.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Pos is a place in an input file; lines and columns count from 1, and zero
// means unknown.
type Pos struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Finding is one thing that the user should know.
type Finding struct {
	Severity Severity `json:"severity"`
	ID       string   `json:"id"` // stable, stage/what, listed in README.md
	Pos
	Subject string `json:"subject"` // a decision, a field path or an object
	Message string `json:"message"` // what was found, with the number and its limit
	Hint    string `json:"hint"`    // what to do; may be empty
}

// List is the findings of one stage or of a whole line.
type List []Finding

// HasErrors reports whether any finding stops the line.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Error })
}

// Sorted returns the findings by file, line, column, severity, id, subject and
// message, each once.
func (l List) Sorted() List {
	s := slices.Clone(l)
	slices.SortFunc(s, compare)
	return slices.Compact(s)
}

// Cut is a sorted list of less than most findings, or the first of a longer one and,
// in the place of the next, one of the id that says how many these are: more is its
// message, with a verb for their number.
func (l List) Cut(most int, id, more string) List {
	if len(l) < most {
		return l
	}
	last := l[most-1]
	last.ID, last.Subject = id, ""
	last.Message, last.Hint = fmt.Sprintf(more, most-1), "mend these first"
	return append(l[:most-1:most-1], last)
}

func compare(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		strings.Compare(string(a.Severity), string(b.Severity)),
		strings.Compare(a.ID, b.ID),
		strings.Compare(a.Subject, b.Subject),
		strings.Compare(a.Message, b.Message),
	)
}

// Text writes the findings sorted, one a line as
// "file:line:col: severity: message [id]", the hint indented below.
func (l List) Text(w io.Writer) error {
	for _, f := range l.Sorted() {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	return nil
}

// String is the form that Text prints, without the final newline.
func (f Finding) String() string { return f.headline() + f.advice() }

func (f Finding) headline() string {
	s := fmt.Sprintf("%s: %s [%s]", f.Severity, Visible(f.Message), f.ID)
	if f.File != "" {
		s = Visible(f.Pos.String()) + ": " + s
	}
	return s
}

// advice is the hint on a line of its own, if there is one.
func (f Finding) advice() string {
	if f.Hint == "" {
		return ""
	}
	return "\n    hint: " + Visible(f.Hint)
}

// String is file:line:col, leaving out what is unknown.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}
