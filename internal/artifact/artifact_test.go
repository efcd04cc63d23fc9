package artifact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

func TestYAMLDropsWhatEncodersOfAPITypesAdd(t *testing.T) {
	f, err := YAML("a/b.yaml", "test", &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Name: "istiod"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"istio.io/rev": "1-24"}}},
	}, map[string]string{"spec.selector": "because " + strings.Repeat("long reasons wrap ", 8)})
	if err != nil {
		t.Fatal(err)
	}
	want := header + `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: istiod
spec:
  # because long reasons wrap long reasons wrap long reasons wrap long reasons wrap long reasons wrap
  # long reasons wrap long reasons wrap long reasons wrap
  selector:
    matchLabels:
      istio.io/rev: "1-24"
`
	if diff := cmp.Diff(want, string(f.Data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestYAMLPutsFirstWhatNamesAnObject(t *testing.T) {
	f, err := YAML("a/b.yaml", "test", map[string]any{
		"spec": map[string]any{
			"b": []any{map[string]any{"name": "x", "n": 1}, 1.5, nil, true},
			"a": map[string]any{"creationTimestamp": nil, "status": "of the field"},
		},
		"status": map[string]any{}, "data": map[string]any{}, "kind": "K", "metadata": map[string]any{"creationTimestamp": nil, "name": "n"},
		"apiVersion": "v1",
	}, map[string]string{"apiVersion": "the first", "spec.b[0]": "the pair", "spec.b[1]": "the number"})
	if err != nil {
		t.Fatal(err)
	}
	want := header + `# the first
apiVersion: v1
kind: K
metadata:
  name: "n"
spec:
  a:
    status: of the field
  b:
    # the pair
    - "n": 1
      name: x
    # the number
    - 1.5
    - null
    - true
data: {}
`
	if diff := cmp.Diff(want, string(f.Data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestYAMLRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		object  any
		reasons map[string]string
		want    string
	}{
		"a reason without a field":  {map[string]int{"a": 1}, map[string]string{"a": "why", "b[0]": "why"}, `encode a.yaml: no field b[0] for the reason "why"`},
		"a reason without words":    {map[string]int{"a": 1}, map[string]string{"a": " \n"}, "encode a.yaml: no words in the reason of a"},
		"a list":                    {[]int{1}, nil, "encode a.yaml: []int is not an object in JSON"},
		"a nil pointer":             {(*policyv1.PodDisruptionBudget)(nil), nil, "encode a.yaml: *v1.PodDisruptionBudget is not an object in JSON"},
		"what JSON cannot describe": {map[string]any{"f": func() {}}, nil, "encode a.yaml: json: unsupported type: func()"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := YAML("a.yaml", "test", c.object, c.reasons); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestStringsAreQuotedOnlyWhereAReaderNeedsIt(t *testing.T) {
	for value, want := range map[string]string{
		"2": `"2"`, "0600": `"0600"`, "1e3": `"1e3"`, "11:06": `"11:06"`, "yes": `"yes"`, "Off": `"Off"`, "1-24": `"1-24"`, "2026-12-19t00:00:00Z": `"2026-12-19t00:00:00Z"`,
		"ad": "ad", "cafe": "cafe", "2Gi": "2Gi", "25%": "25%", "15m": "15m", "30 6 * * 1-5": "30 6 * * 1-5", "istiod-1-24": "istiod-1-24",
		"http://prometheus:9090": "http://prometheus:9090", "sum(a)\n/\nsum(b)": "|-\n  sum(a)\n  /\n  sum(b)", "a\n  b": `"a\n  b"`,
	} {
		f, err := YAML("a.yaml", "test", map[string]string{"key": value}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(string(f.Data), header); got != "key: "+want+"\n" {
			t.Errorf("%q is written as %s", value, got)
		}
	}
}

func TestAPathHasOneOwner(t *testing.T) {
	var tree Tree
	err := tree.Add(File{Path: "b", Owner: "x"}, File{Path: "a", Owner: "x"}, File{Path: "a", Owner: "y"})
	if err == nil || err.Error() != "a: written by x and by y" {
		t.Errorf("got %v", err)
	}
	want := []File{{Path: "a", Owner: "x"}, {Path: "b", Owner: "x"}}
	if diff := cmp.Diff(want, tree.Files()); diff != "" {
		t.Errorf("the first owner's files, sorted (-want +got):\n%s", diff)
	}
	if _, ok := tree.Get("c"); ok {
		t.Error("a file that nobody added")
	}
}

var nasty = []string{
	"", " ", "2", "0600", "1e3", "1_000", "0x1f", "11:06", "190:20:30", "yes", "No", "ON", "off", "y", "n", "true", "null", "~",
	"- a", "a: b", "# c", "a #b", "'", `"`, "\\", "@a", "`a", "%a", "*a", "&a", "!a", "{a}", "[a]", "a\nb", "a\n", "\ta", "a ",
	"2026-12-19", "2026-12-19T00:00:00Z", ".5", ".inf", "<<", "=", "é", "\u0085", "\u2028", "\x00", "a\r\nb", "\t\n", "a\n\tb\n", "\r", " a\n\n b \n\n", "\ufeffa", "\U0001f600", "12e03", "-", "--", "---", "?", ":",
}

func TestStringsStayStringsForEveryReader(t *testing.T) {
	for _, s := range nasty {
		roundTrip(t, s)
	}
}

func FuzzStringsStayStrings(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(roundTrip)
}

func roundTrip(t *testing.T, s string) {
	s = strings.ToValidUTF8(s, "\ufffd")
	want := map[string]any{"key": s, "list": []any{s}, "of keys": map[string]any{s: s}}
	f, err := YAML("a.yaml", "test", want, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, unmarshal := range map[string]func([]byte, any) error{
		"yaml.v3":          yaml.Unmarshal,
		"sigs.k8s.io/yaml": func(b []byte, v any) error { return sigsyaml.Unmarshal(b, v) },
	} {
		var got map[string]any
		if err := unmarshal(f.Data, &got); err != nil {
			t.Fatalf("%s of %q: %v", name, s, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", name, s, diff)
		}
	}
}
