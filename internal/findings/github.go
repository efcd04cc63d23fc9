package findings

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// writeGitHub writes a workflow command for each finding: GitHub shows it beside
// the line in a pull request.
func writeGitHub(w io.Writer, r Report) error {
	var b strings.Builder
	for _, f := range r.results() {
		at := "file=" + property(f.at.File)
		if f.at.Line > 0 {
			at += fmt.Sprintf(",line=%d,col=%d", f.at.Line, max(f.at.Column, 1))
		}
		about := text(f.Finding)
		if f.rendered {
			about = diag.Visible(f.File) + ": " + about
		}
		fmt.Fprintf(&b, "::%s %s,title=%s::%s\n", f.Severity, at, property(f.ID), data(about))
	}
	for _, failure := range r.Failures {
		fmt.Fprintf(&b, "::error title=meshgen::%s\n", data(diag.Visible(failure)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// data and property escape what would end a command, or a part of it.
// Source: github.com/actions/toolkit, packages/core/src/command.ts.
var (
	inData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer(":", "%3A", ",", "%2C")
)

func data(text string) string { return inData.Replace(text) }

func property(text string) string { return inProperty.Replace(data(diag.Visible(text))) }
