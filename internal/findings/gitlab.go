package findings

import (
	"io"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// violation is one of GitLab's Code Quality report.
// Source: docs.gitlab.com/ci/testing/code_quality.
type violation struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"` // info, minor, major, critical or blocker
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

func writeGitLab(w io.Writer, r Report) error {
	doc := []violation{}
	for _, f := range r.results() {
		v := violation{
			Description: strings.ReplaceAll(text(f.Finding), "\n", "; "), CheckName: f.ID, Fingerprint: f.fingerprint,
			Severity: map[diag.Severity]string{diag.Error: "critical", diag.Warning: "minor"}[f.Severity],
		}
		v.Location.Path = f.at.File
		v.Location.Lines.Begin = max(f.at.Line, 1)
		doc = append(doc, v)
	}
	return encode(w, doc)
}
