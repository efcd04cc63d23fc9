package manifests

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// nameOfValue is an action that prints another value and does no more, which is
// what charts evaluate values for: {{ .Values.global.hub }}.
var nameOfValue = regexp.MustCompile(`\{\{-?[ \t]*\$?(\.\w+)+[ \t]*(\|[ \t]*quote[ \t]*)?-?\}\}`)

// isProgram reports whether a value holds the beginning of any other action.
func isProgram(text string) bool {
	return strings.Contains(nameOfValue.ReplaceAllString(text, ""), "{{")
}

// programs finds the templates in the user's values that the chart would run. A
// template can call itself until the stack ends, which nothing survives. Those
// that the chart only prints, as injection templates are, are let be: the chart is
// rendered with a failure in the place of each, and stops at one that it runs.
func (b *Builder) programs(in Input, users, ours map[string]any) diag.List {
	if key, ok := programKey(users); ok {
		return diag.List{program(in, key)}
	}
	failing := deepCopy(users)
	var all []leaf
	for _, l := range leavesOf(users, nil) {
		if text, ok := l.value.(string); ok && isProgram(text) {
			set(failing, l.path, fmt.Sprintf("{{ fail %q }}", mark(len(all))))
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := execute(b.chart, in.Plan.Istiod, merge(failing, ours))
	for i, l := range all {
		if err != nil && strings.Contains(err.Error(), mark(i)) {
			return diag.List{program(in, l.path)}
		}
	}
	return nil
}

func mark(i int) string { return fmt.Sprintf("<value %d>", i) }

// programKey is the path of the first key that holds a program; charts print keys
// with what they evaluate.
func programKey(users map[string]any) (path []any, ok bool) {
	for _, l := range leavesOf(users, nil) {
		for i, step := range l.path {
			if key, isKey := step.(string); isKey && isProgram(key) {
				return l.path[:i+1], true
			}
		}
	}
	return nil, false
}

func program(in Input, path []any) diag.Finding {
	at, _ := locate(in.Values, path, 1)
	return diag.Finding{
		Severity: diag.Error, ID: "manifests/values-program", Pos: at.pos, Subject: dotted(path),
		Message: fmt.Sprintf("the istiod chart would run the template in %s", dotted(path)),
		Hint:    "a value that the chart evaluates may name others, as {{ .Values.global.hub }} does, and no more: a template can run without an end",
	}
}
