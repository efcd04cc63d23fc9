package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/meshgen/meshgen/internal/diag"
)

// progress is one line at the foot of a terminal that is written anew in its
// place: how many clusters are done, the last of them, and what was found.
// Where nobody watches one it prints nothing.
type progress struct {
	terminal         *os.File // nil for none
	done, total      int
	errors, warnings int
	last             string
}

// newProgress shows nothing for a cluster alone, or where nobody looks.
func newProgress(err io.Writer, total int) *progress {
	p := &progress{total: total}
	if total > 1 {
		p.terminal = watched(err)
	}
	return p
}

// watched is the terminal that a person watches; nil for none, for that of a CI job,
// which keeps a log of it, and for one that cannot write a line anew.
func watched(w io.Writer) *os.File {
	if ci := os.Getenv("CI"); ci != "" && ci != "false" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return terminalOf(w)
}

// terminalOf is the terminal that is written to; nil for none.
func terminalOf(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// add counts a cluster that is done.
func (p *progress) add(m member, found diag.List) {
	p.done++
	p.last = diag.Visible(cmp.Or(m.cluster, m.path))
	for _, f := range found {
		if f.Severity == diag.Error {
			p.errors++
		} else {
			p.warnings++
		}
	}
}

// String is the line: "7/50 seoul: 2 errors, 1 warning".
func (p *progress) String() string {
	line := fmt.Sprintf("%d/%d", p.done, p.total)
	if p.last != "" {
		line += " " + p.last
	}
	var found []string
	if p.errors > 0 {
		found = append(found, counted(p.errors, "error"))
	}
	if p.warnings > 0 {
		found = append(found, counted(p.warnings, "warning"))
	}
	if len(found) > 0 {
		line += ": " + strings.Join(found, ", ")
	}
	return line
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// show writes the line, cut to the terminal's width: a line that wraps could
// not be written over.
func (p *progress) show() {
	if p.terminal == nil {
		return
	}
	line := p.String()
	if width, _, err := term.GetSize(int(p.terminal.Fd())); err == nil {
		line = cut(line, width-1)
	}
	fmt.Fprint(p.terminal, "\r"+line)
}

// clear makes room for what is printed next.
func (p *progress) clear() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}

func cut(line string, width int) string {
	if width < 1 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}
