package main

import "testing"

func TestARevisionIsCutFromItsPath(t *testing.T) {
	for arg, want := range map[string][2]string{
		"HEAD": {"HEAD", ""}, "main:": {"main", ""}, "main:a/b.yaml": {"main", "a/b.yaml"}, "v1:a:b": {"v1", "a:b"},
		"HEAD^{/fix: it}": {"HEAD^{/fix: it}", ""}, "HEAD^{/fix: it}:a": {"HEAD^{/fix: it}", "a"},
		":a": {"", "a"}, "": {"", ""}, "}:a": {"}", "a"}, "main@{12:30}:a": {"main@{12:30}", "a"},
	} {
		name, at, _ := cutRevision(arg)
		if name != want[0] || at != want[1] {
			t.Errorf("%q is cut into %q and %q", arg, name, at)
		}
	}
}
