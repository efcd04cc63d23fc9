package hints

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	discovery "k8s.io/api/discovery/v1"
)

// The whole Reconciler of Kubernetes was asked with a fake client. Hints that
// stay in the pods' zone come from the field, hints across zones and none at an
// uneven CPU from the annotation.
func TestAnnotationAgainstField(t *testing.T) {
	cases := load(t).Reconciler
	if len(cases) != 8 {
		t.Fatalf("%d cases, want 8", len(cases))
	}
	for _, c := range cases {
		want := Nobody
		switch {
		case strings.HasPrefix(c.Hints, "c->c x4"):
			want = Field
		case c.Hints != "none":
			want = Annotation
		}
		if got := WrittenBy(c.Annotation, c.Field); got != want {
			t.Errorf("%s: annotations %v with field %q: %s decides, want %s", c.ID, c.Annotation, c.Field, got, want)
		}
	}
}

// Under every value of the field an endpoint is hinted for its own zone.
func TestTheFieldHintsForTheOwnZone(t *testing.T) {
	zone := func(name string) discovery.EndpointHints {
		return discovery.EndpointHints{ForZones: []discovery.ForZone{{Name: name}}}
	}
	for name, c := range map[string]struct {
		value string
		ready []int64
		want  []discovery.EndpointHints
	}{
		"all in one zone":      {"PreferSameZone", []int64{0, 2}, []discovery.EndpointHints{zone("1"), zone("1")}},
		"one apart":            {"PreferClose", []int64{1, 2}, []discovery.EndpointHints{zone("0"), zone("1"), zone("1")}},
		"evenly, by node":      {"PreferSameNode", []int64{1, 1}, []discovery.EndpointHints{zone("0"), zone("1")}},
		"a value nobody knows": {"Foo", []int64{1, 1}, []discovery.EndpointHints{{}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, byField(c.value, c.ready)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
