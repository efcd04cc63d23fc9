package diag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextIsSortedAndSaysEachOnce(t *testing.T) {
	at := func(line int) Pos { return Pos{"profile.yaml", line, 3} }
	list := List{
		{Severity: Warning, ID: "plan/b", Pos: at(12), Message: "second"},
		{Severity: Error, ID: "plan/a", Pos: at(2), Message: "first", Hint: "do this"},
		{Severity: Warning, ID: "plan/b", Pos: at(12), Message: "second"},
		{Severity: Error, ID: "keda/c", Pos: Pos{File: "mesh/values.yaml"}, Message: "without a line"},
		{Severity: Warning, ID: "plan/d", Message: "without a file"},
	}
	var got strings.Builder
	if err := list.Text(&got); err != nil {
		t.Fatal(err)
	}
	want := `warning: without a file [plan/d]
mesh/values.yaml: error: without a line [keda/c]
profile.yaml:2:3: error: first [plan/a]
    hint: do this
profile.yaml:12:3: warning: second [plan/b]
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !list.HasErrors() || list[:1].HasErrors() {
		t.Error("errors and warnings are taken for one another")
	}
}

func TestNearest(t *testing.T) {
	names := []string{"headroom", "survive", "load", "podReady", "nodeReady"}
	for name, want := range map[string]string{
		"headrom": "headroom", "survives": "survive", "laod": "load", "podready": "podReady", "nodeReady": "nodeReady",
		"somethingElse": "", "": "",
	} {
		got, ok := Nearest(name, names)
		if got != want || ok != (want != "") {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

func TestALongListSaysThatThereIsMore(t *testing.T) {
	list := List{
		{ID: "a", Subject: "x", Message: "first", Pos: Pos{Line: 1}},
		{ID: "a", Subject: "y", Message: "second", Pos: Pos{Line: 2}},
		{ID: "a", Subject: "z", Message: "third", Pos: Pos{Line: 3}},
	}
	for name, c := range map[string]struct {
		most int
		want List
	}{
		"a shorter one is as it was":               {4, list},
		"one of just as many loses its last":       {3, List{list[0], list[1], {ID: "more", Message: "2 and more", Hint: "mend these first", Pos: Pos{Line: 3}}}},
		"of a longer one the first are left alone": {2, List{list[0], {ID: "more", Message: "1 and more", Hint: "mend these first", Pos: Pos{Line: 2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, list.Cut(c.most, "more", "%d and more")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if list[1].Message != "second" || list[2].Message != "third" {
				t.Errorf("the list itself was changed: %v", list)
			}
		})
	}
}
