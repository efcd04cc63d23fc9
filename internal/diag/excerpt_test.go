package diag

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownAt is what a terminal of so many columns shows below a finding.
func shownAt(t *testing.T, columns int, file, text string, line, column int) string {
	t.Helper()
	var out strings.Builder
	found := List{{Severity: Error, ID: "schema/x", Pos: Pos{file, line, column}, Message: "wrong", Hint: "mend it"}}
	read := func(string) ([]byte, error) { return []byte(text), nil }
	if err := found.Excerpts(&out, columns, read); err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(out.String(), "[schema/x]\n")
	shown, _, ok := strings.Cut(below, "    hint: mend it\n")
	if !ok {
		t.Fatalf("printed %q", out.String())
	}
	return strings.TrimSuffix(shown, "\n")
}

func TestAFindingShowsItsLine(t *testing.T) {
	long := strings.Repeat("abcdefghi ", 20)
	for name, c := range map[string]struct {
		file, text   string
		line, column int
		want         string
	}{
		"a key is underlined to its colon":        {"p.yaml", "spec:\n  cpus: 2\n", 2, 3, "    2 |   cpus: 2\n      |   ^~~~"},
		"a colon within a scalar is a part of it": {"p.yaml", "[a, 17:00:00]", 1, 5, "    1 | [a, 17:00:00]\n      |     ^~~~~~~~"},
		"a string is underlined to its quote":     {"p.yaml", `- "a, b"`, 1, 3, "    1 | - \"a, b\"\n      |   ^~~~~~"},
		"an item of a list ends at a comma":       {"p.yaml", "[shop/cart, b]", 1, 2, "    1 | [shop/cart, b]\n      |  ^~~~~~~~~"},
		"tabs are four columns apart":             {"p.yaml", "a\tb\tc", 1, 5, "    1 | a   b   c\n      |         ^"},
		"CUE counts bytes":                        {"p.cue", "\tname: \"é\", x: 1\n", 1, 14, "    1 |     name: \"é\", x: 1\n      |                ^"},
		"YAML counts characters":                  {"p.yaml", "{a: \"é\", x: 1}\n", 1, 10, "    1 | {a: \"é\", x: 1}\n      |          ^"},
		"wide characters take two columns":        {"p.yaml", "日本: [本, x]", 1, 9, "    1 | 日本: [本, x]\n      |            ^"},
		"a wide key is underlined in full":        {"p.yaml", "日本: 1", 1, 1, "    1 | 日本: 1\n      | ^~~~"},
		"combining marks take none":               {"p.yaml", "e\u0301e\u0301 x", 1, 6, "    1 | e\u0301e\u0301 x\n      |    ^"},
		"escape sequences are shown, not obeyed":  {"p.yaml", "a: \x1b[31m x", 1, 10, "    1 | a: \\x1b[31m x\n      |             ^"},
		"so are those of eight bits":              {"p.yaml", "a: \u009b31m", 1, 1, "    1 | a: \\u009b31m\n      | ^"},
		"so is what turns the writing":            {"p.yaml", "a: \u202eb", 1, 1, "    1 | a: \\u202eb\n      | ^"},
		"so are bytes that are no text":           {"p.yaml", "a: \xff\xfe", 1, 4, "    1 | a: \\xff\\xfe\n      |    ^~~~~~~~"},
		"a half of a character is no text either": {"p.cue", "a: 日", 1, 5, "    1 | a: \\xe6\\x97\\xa5\n      |        ^~~~~~~~"},
		"lines end as Windows ends them":          {"p.yaml", "a: 1\r\nb: 2\r\n", 2, 1, "    2 | b: 2\n      | ^"},
		"YAML has more ends of lines":             {"p.yaml", "# \u2028b: 2\rc: 3\u0085d: 4", 4, 1, "    4 | d: 4\n      | ^"},
		"CUE has one":                             {"p.cue", "// \u2028b\nc: 3\n", 2, 1, "    2 | c: 3\n      | ^"},
		"a byte order mark has no column":         {"p.yaml", "\ufeffa: 1", 1, 1, "    1 | a: 1\n      | ^"},
		"a column behind the line is its end":     {"p.yaml", "a: 1\nb: 2", 1, 99, "    1 | a: 1\n      |     ^"},
		"a line that is gone is not shown":        {"p.yaml", "a: 1\n", 7, 1, ""},
		"nothing is not shown":                    {"p.yaml", "", 1, 1, ""},
		"a blank line is not shown":               {"p.yaml", "a:\n \t\nb:", 2, 1, ""},
		"a finding without a line has none":       {"p.yaml", "a: 1", 0, 0, ""},
		"what is right of the mark is cut":        {"p.yaml", long, 1, 1, "    1 | abcdefghi abcdefghi abcdefg…\n      | ^~~~~~~~~"},
		"and what is left of it":                  {"p.yaml", long, 1, 191, "    1 | …defghi abcdefghi abcdefghi\n      |                   ^~~~~~~~~"},
		"and both":                                {"p.yaml", long, 1, 101, "    1 | …bcdefghi abcdefghi abcdefgh…\n      |           ^~~~~~~~~"},
		"a mark ends where the line is cut":       {"p.yaml", strings.Repeat("a", 99), 1, 1, "    1 | aaaaaaaaaaaaaaaaaaaaaaaaaaa…\n      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, shownAt(t, 38, c.file, c.text, c.line, c.column)); diff != "" {
				t.Errorf("(-want +shown):\n%s", diff)
			}
		})
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	texts := map[string]string{
		"narrow": strings.Repeat("ab ", 500), "wide": strings.Repeat("日本 ", 500), "escaped": strings.Repeat("\x1b\xff", 500), "tabs": strings.Repeat("a\t", 500),
		"marks": strings.Repeat("e\u0301", 5000),
	}
	for name, text := range texts {
		for columns := 29; columns < 200; columns += 17 {
			for column := 1; column < 1000; column += 123 {
				for shown := range strings.Lines(shownAt(t, columns, "p.yaml", text, 1, column)) {
					if got := columnsOf(appendCells(nil, strings.TrimSuffix(shown, "\n"))); got >= columns {
						t.Fatalf("%s: %d columns of %d are used: %q", name, got, columns, shown)
					}
				}
			}
		}
	}
}

func TestFilesAreReadOnceAndMayBeGone(t *testing.T) {
	var asked []string
	read := func(file string) ([]byte, error) {
		asked = append(asked, file)
		if file == "b.yaml" {
			return nil, errors.New("gone")
		}
		return []byte("one: 1\ntwo: 2\n"), nil
	}
	at := func(file string, line int) Finding {
		return Finding{Severity: Error, ID: "schema/x", Pos: Pos{file, line, 1}, Message: "wrong"}
	}
	var out strings.Builder
	list := List{at("a.yaml", 2), at("b.yaml", 1), at("a.yaml", 1), {Severity: Error, ID: "schema/x", Message: "nowhere"}, at("c.yaml", 2)}
	if err := list.Excerpts(&out, 80, read); err != nil {
		t.Fatal(err)
	}
	want := `error: nowhere [schema/x]
a.yaml:1:1: error: wrong [schema/x]
    1 | one: 1
      | ^~~
a.yaml:2:1: error: wrong [schema/x]
    2 | two: 2
      | ^~~
b.yaml:1:1: error: wrong [schema/x]
c.yaml:2:1: error: wrong [schema/x]
    2 | two: 2
      | ^~~
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +printed):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.yaml", "b.yaml", "c.yaml"}, asked); diff != "" {
		t.Errorf("(-want +read):\n%s", diff)
	}
}

func TestNothingOfAFindingIsObeyedByATerminal(t *testing.T) {
	f := Finding{Severity: Error, ID: "schema/x", Pos: Pos{"a\x1b]0;b\x07.yaml", 1, 1}, Message: "the tag !\x1b[2J\nprofile.yaml:1:1: error: \xff", Hint: "\u009b1A é 日本 🙂"}
	want := `a\x1b]0;b\a.yaml:1:1: error: the tag !\x1b[2J\nprofile.yaml:1:1: error: \xff [schema/x]
    hint: \u009b1A é 日本 🙂`
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Errorf("(-want +printed):\n%s", diff)
	}
}

// Whatever a file holds and wherever a finding stands, what is shown is lines of
// visible text, and one behind the other it is the same.
func FuzzExcerpts(f *testing.F) {
	f.Add("spec:\n  cpus: 2\n", 2, 3, 80, false)
	f.Add("a\t\"日本\xff\x1b[2J\u2028e\u0301", 1, 4, 30, true)
	f.Fuzz(func(t *testing.T, text string, line, column, columns int, cue bool) {
		file := "p.yaml"
		if cue {
			file = "p.cue"
		}
		columns = min(max(columns, 40), 400)
		shown := shownAt(t, columns, file, text, line, column)
		for l := range strings.Lines(shown) {
			l = strings.TrimSuffix(l, "\n")
			if Visible(l) != l || columnsOf(appendCells(nil, l)) >= columns {
				t.Errorf("shown %q", l)
			}
		}
		c := newCursor(file, []byte(text))
		c.to(Pos{Line: line, Column: column / 2})
		if again := c.excerpt(Pos{Line: line, Column: column}, columns); again != "" && again != "\n"+shown {
			t.Errorf("shown %q from the beginning, %q from before", shown, again)
		}
	})
}
