package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/meshgen/meshgen/internal/diag"
)

func writeJSON(w io.Writer, r Report) error {
	doc := struct {
		Findings diag.List  `json:"findings"`
		Excepted []Excepted `json:"excepted"`
		Failures []string   `json:"failures"`
	}{diag.List{}, []Excepted{}, append([]string{}, r.Failures...)}
	for _, s := range r.Suites {
		doc.Findings = append(doc.Findings, s.Findings...)
		doc.Excepted = append(doc.Excepted, s.Excepted...)
	}
	doc.Findings = doc.Findings.Sorted()
	return encode(w, doc)
}

// encode writes a document as indented JSON with a final newline. What a terminal
// would obey is escaped as JSON escapes it.
func encode(w io.Writer, doc any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// escaped is JSON in which only graphic characters stand as they are.
func escaped(data []byte) []byte {
	hidden := func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }
	if !bytes.ContainsFunc(data, hidden) {
		return data
	}
	var out []byte
	for _, r := range string(data) {
		if !hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
