package schema

import (
	"strings"
	"testing"

	"cuelang.org/go/cue"
)

// TestRulesJudgeAsCUEDoes has each constraint of the schema judge the same values
// twice: by its rule, and by CUE's evaluator.
func TestRulesJudgeAsCUEDoes(t *testing.T) {
	s := compiledSchema(t)
	values := []*node{{kind: boolean, literal: "true"}, {kind: boolean, literal: "false"}, {kind: list}}
	for _, literal := range []string{"", " ", "a", "A-1", "-a", "a.b", "a/b", "*/a.b", "./*", "a_b", "zone", "Mon", "none", "http://a:1/b", "1.24", "1.32", "100m", "0Mi", "1.5Gi", "20m", "0s", "1h30m", "11:30", "24:00", "2026-12-19", "2026-12-19T17:00:00Z", "Asia/Seoul", "é", "a\x00", "two words", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("é", 1000), strings.Repeat("é", 1001)} {
		values = append(values, &node{kind: text, literal: literal})
	}
	for _, literal := range []string{"0", "-0", "-1", "1", "2", "10", "65535", "65536", "1000", "1001", "100000000", "100000001", "0.5", "0.9", "0.90", "0.900000000000000000000000001", "0.95", "1.0", "1e0", "1E3", "1e-9", "1000000000000000", "1000000000000000.1"} {
		values = append(values, &node{kind: number, literal: literal})
	}
	judged := map[string]bool{}
	var visit func(at *shape)
	visit = func(at *shape) {
		if at == nil || judged[at.id] {
			return
		}
		judged[at.id] = true
		for _, n := range values {
			want := at.value.Unify(evaluated(s, n)).Validate(cue.Concrete(true)) == nil && at.bears(n)
			if got := at.accepts(n); got != want {
				t.Errorf("%s accepts %s: %t, in CUE %t", at.id, describe(n), got, want)
			}
		}
		for _, sub := range at.fields {
			visit(sub)
		}
		visit(at.keys)
		visit(at.each)
		visit(at.item)
	}
	visit(s.profile)
	if len(judged) < 60 {
		t.Errorf("only %d constraints", len(judged))
	}
}

func evaluated(s *compiled, n *node) cue.Value {
	switch n.kind {
	case list:
		return s.ctx.NewList()
	case text:
		return s.ctx.Encode(n.literal)
	default:
		return s.ctx.CompileString(n.literal)
	}
}
