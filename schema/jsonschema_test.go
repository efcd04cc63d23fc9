package schema

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"github.com/google/go-cmp/cmp"
)

// unsaid are the rules that JSON Schema has no words for, with a value that the
// loader refuses and the schema accepts, by where it stands.
var unsaid = map[string]string{
	"#Date 2026-02-30":              "a pattern knows no calendar",
	"#Instant 2026-02-30T00:00:00Z": "a pattern knows no calendar",
	"a quantity 0.5":                "a pattern does not count",
	"a quantity 1":                  "a pattern does not count",
	"a quantity 1.24":               "a pattern does not count",
	"a quantity 1.31":               "a pattern does not count",
	"a quantity 1.99":               "a pattern does not count",
	"a quantity 15890m":             "a pattern does not count",
	"a quantity 1e3":                "a pattern does not count",
	"a quantity 20m":                "a pattern does not count",
	"a quantity 90":                 "a pattern does not count",
	"a whole number 0.0":            "1.0 is an integer in JSON Schema",
	"a whole number 1.0":            "1.0 is an integer in JSON Schema",
	"a whole number 10000000.0":     "1.0 is an integer in JSON Schema",
}

// Each place of the profile is asked about values of every kind: what the loader
// accepts, the schema accepts, and it refuses the same but for what is unsaid.
func TestJSONSchemaJudgesAsTheLoaderDoes(t *testing.T) {
	s := compiledSchema(t)
	e := &exporter{schema: s, defs: &node{kind: mapping}, done: map[*node]bool{}}
	root, err := e.generate(s.profile.value)
	if err == nil {
		err = e.complete(root, s.profile)
	}
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]string{}
	all := places(t, e, root, s.profile)
	for i, p := range all {
		e.defs.set(strconv.Itoa(i), p.node)
	}
	values := append(slices.Clone(probes), choicesOf(s.profile, map[string]bool{})...)
	c := compiler(t, (&node{kind: mapping, fields: []field{{"$defs", e.defs}}}).appendJSON(nil))
	for i, p := range all {
		judge := compileAt(t, c, "/$defs/"+strconv.Itoa(i))
		for _, value := range values {
			loads := p.shape.accepts(value)
			inJSON := judge.Validate(decodeJSON(t, value.appendJSON(nil))) == nil
			key := p.shape.id + " " + value.literal
			if p.shape.kinds&cue.NumberKind == cue.IntKind && value.kind == number {
				key = "a whole number " + value.literal
			}
			if (p.shape.unit == coresUnit || p.shape.unit == bytesUnit) && value.kind == text {
				key = "a quantity " + value.literal
			}
			switch {
			case loads == inJSON:
			case !loads && unsaid[key] != "":
				left[key] = unsaid[key]
			default:
				t.Errorf("%s: %s %q: the loader says %t, the schema %t", p.path, value.kind, value.literal, loads, inJSON)
			}
		}
	}
	if diff := cmp.Diff(unsaid, left); diff != "" {
		t.Errorf("left unsaid (-listed +found):\n%s", diff)
	}
}

// place is what the schema and CUE say of one field, key or item.
type place struct {
	path  string
	node  *node
	shape *shape
}

// places are all those at and below n, each definition once.
func places(t *testing.T, e *exporter, root *node, s *shape) []place {
	t.Helper()
	var all []place
	seen := map[string]bool{}
	var visit func(path string, n *node, s *shape)
	below := func(path string, n *node, s *shape, keywords ...string) {
		sub, err := e.below(n, keywords...)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		visit(path, sub, s)
	}
	visit = func(path string, n *node, s *shape) {
		if seen[s.id] {
			return
		}
		seen[s.id] = true
		all = append(all, place{path, n, s})
		for _, name := range s.names {
			below(path+"."+name, n, s.fields[name], "properties", name)
		}
		if s.item != nil {
			below(path+"[]", n, s.item, "items")
		}
		if s.each != nil {
			below(path+" key", n, s.keys, "propertyNames")
			below(path+"{}", n, s.each, "additionalProperties")
		}
	}
	visit("", root, s)
	return all
}

var probes = func() []*node {
	var all []*node
	for _, s := range []string{
		"", " ", "\t\n", "\u00a0", "\u0085", "\u2028", "\ufeff", "\x1b[31m", "a\nb", "a\rb", "é", "日本", "🙂",
		"a", "A", "-a", "a-", "a_b", "a.b", "a..b", "a/b", "a/b/c", "*/a", "*/*.a", "./*", "~/*", "/etc/passwd", "../a", "values/istiod.yaml",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("🙂", 256), strings.Repeat("🙂", 257), strings.Repeat("a", 1001),
		"0", "1", "0.0", "0.5", "800Mi", "0Mi", "15890m", "1e3", "1E-3", "-1", "+1", "1.", "٣",
		"1.24", "1.31", "1.29.0", "1.99", "v1.31", "20m", "0s", "1h30m", "90", "1m1h", "1.5h",
		"2026-12-19T17:00:00+09:00", "2026-02-30T00:00:00Z", "2026-12-19T17:00:00", "2026-12-31", "2026-02-30", "2026-13-01",
		"11:30", "24:00", "24:01", "9:30", "Asia/Seoul", "Asia/Seoul\n", "http://p:9090", "http://p/a?b", "https://[::1]:9090/a", "ftp://p",
	} {
		all = append(all, &node{kind: text, literal: s})
	}
	for _, n := range []string{
		"-1", "0", "0.0", "0.05", "0.9", "0.91", "0.95", "0.96", "1", "1.0", "1.01", "2", "10", "10.5", "11", "100", "101", "1000", "1001", "65535", "65536",
		"10000000.0", "100000000", "100000001", "1000000000", "1000000001", "1e12", "1000000000001", "1000000000000000", "1000000000000001",
	} {
		all = append(all, &node{kind: number, literal: n})
	}
	return append(all, &node{kind: boolean, literal: "true"}, &node{kind: boolean, literal: "false"}, &node{kind: null}, &node{kind: list})
}()

// choicesOf are the words of every enumeration, each once.
func choicesOf(s *shape, had map[string]bool) []*node {
	var all []*node
	for _, c := range s.choices {
		if !had[c] {
			had[c] = true
			all = append(all, &node{kind: text, literal: c})
		}
	}
	for _, name := range s.names {
		all = append(all, choicesOf(s.fields[name], had)...)
	}
	for _, sub := range []*shape{s.item, s.keys, s.each} {
		if sub != nil {
			all = append(all, choicesOf(sub, had)...)
		}
	}
	return all
}

// A default stands at a property; where two properties refer to its mapping,
// both would have it.
func TestDefaultsOfTheJSONSchemaHaveOnePlace(t *testing.T) {
	data, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for name, definition := range doc.Defs {
		references := bytes.Count(data, []byte(`"#/$defs/`+name+`"`))
		if bytes.Contains(definition, []byte(`"default":`)) && references != 1 {
			t.Errorf("%s has defaults and %d references", name, references)
		}
	}
	if got, want := bytes.Count(data, []byte(`"default":`)), countDefaults(compiledSchema(t).defaults); got != want {
		t.Errorf("%d defaults, want %d", got, want)
	}
}

func countDefaults(g *gap) int {
	switch {
	case g.value != nil:
		return 1
	case g.item != nil:
		return countDefaults(g.item)
	}
	n := 0
	for _, f := range g.fields {
		n += countDefaults(f.gap)
	}
	return n
}

// Classes that RE2 and JavaScript read apart would judge apart.
func TestPatternsMeanTheSameInJavaScript(t *testing.T) {
	data, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	apart := regexp.MustCompile(`\\\\[sSbBpPQACzZ]|\(\?|\[\[:|\\\\x\{`)
	for _, m := range regexp.MustCompile(`"pattern": "([^\n]*)"`).FindAllStringSubmatch(string(data), -1) {
		if found := apart.FindString(m[1]); found != "" {
			t.Errorf("the pattern %s has %s, which JavaScript reads otherwise or not at all", m[1], found)
		}
	}
}
