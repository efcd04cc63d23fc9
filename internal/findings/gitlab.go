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
	grave := map[string]bool{}
	for _, rule := range r.Rules {
		grave[rule.ID] = rule.Grave
	}
	doc := []violation{}
	for _, f := range r.results() {
		v := violation{
			Description: strings.ReplaceAll(text(f.Finding), "\n", "; "), CheckName: f.ID, Fingerprint: f.fingerprint,
			Severity: severity(f.Severity, grave[f.ID]),
		}
		v.Location.Path = f.at.File
		v.Location.Lines.Begin = max(f.at.Line, 1)
		doc = append(doc, v)
	}
	return encode(w, doc)
}

// severity is GitLab's for a finding; grave is of warnings.
func severity(s diag.Severity, grave bool) string {
	switch {
	case s == diag.Error:
		return "critical"
	case grave:
		return "major"
	}
	return "minor"
}
