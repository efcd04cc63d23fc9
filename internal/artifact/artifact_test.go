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

func TestAReasonWithoutAFieldIsAnError(t *testing.T) {
	if _, err := YAML("a.yaml", "test", map[string]int{"a": 1}, map[string]string{"b[0]": "why"}); err == nil {
		t.Error("no error")
	}
}

func TestAPathHasOneOwner(t *testing.T) {
	var tree Tree
	err := tree.Add(File{Path: "a", Owner: "x"}, File{Path: "a", Owner: "y"})
	if err == nil || err.Error() != "a: written by x and by y" {
		t.Errorf("got %v", err)
	}
}

var nasty = []string{
	"", " ", "2", "0600", "1e3", "1_000", "0x1f", "11:06", "190:20:30", "yes", "No", "ON", "off", "y", "n", "true", "null", "~",
	"- a", "a: b", "# c", "a #b", "'", `"`, "\\", "@a", "`a", "%a", "*a", "&a", "!a", "{a}", "[a]", "a\nb", "a\n", "\ta", "a ",
	"2026-12-19", "2026-12-19T00:00:00Z", ".5", ".inf", "<<", "=", "é", "\u0085", "\u2028", "\x00", "12e03", "-", "--", "---", "?", ":",
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
	want := map[string]any{"key": strings.ToValidUTF8(s, "\ufffd"), "list": []any{strings.ToValidUTF8(s, "\ufffd")}}
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
