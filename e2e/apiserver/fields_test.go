package apiserver_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fieldsLeave says what becomes of the fields that a patch takes away, by how
// they came onto the server and how the next manifests are applied.
func (s *server) fieldsLeave(t *testing.T, folder string) {
	clientSide, serverSide := with(), with("--server-side", "--force-conflicts")
	somebody := with("--server-side", "--field-manager=somebody")
	s.namespaces(t, "shop")
	once, twice := rendered(t, folder, false), rendered(t, folder, true)
	const leave, stay, refused = "they leave", "they stay", "the apply is refused"
	for name, c := range map[string]struct {
		adoption
		old, next tool
		want      string
	}{
		"client-side apply after client-side apply":          {once, clientSide, clientSide, leave},
		"server-side apply after client-side apply":          {once, clientSide, serverSide, leave},
		"server-side apply after the same":                   {once, serverSide, serverSide, leave},
		"server-side apply after somebody else's":            {once, somebody, serverSide, stay},
		"client-side apply after somebody else's":            {once, somebody, clientSide, refused},
		"client-side apply where zones are spread twice":     {twice, clientSide, clientSide, refused},
		"server-side apply where zones are spread twice":     {twice, serverSide, serverSide, leave},
		"from client-side to server-side with zones so, too": {twice, clientSide, serverSide, leave},
	} {
		t.Run(name, func(t *testing.T) {
			c.old.must(t, s, c.before)
			defer s.prune(t, c.after)
			got := leave
			if err := c.next(t, s, c.after); err != nil {
				got = refused
				t.Log(err)
			} else if left := s.leftovers(t, c.after); len(left) > 0 {
				got = stay
				t.Log(left)
			}
			if got != c.want {
				t.Errorf("%s, expected: %s", got, c.want)
			}
		})
	}
}

// leftovers are the fields on the server, by object, that a base had and that
// the objects do not have.
func (s *server) leftovers(t *testing.T, objects []object) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, o := range objects {
		live, err := s.get(t.Context(), o.Unstructured)
		if err != nil {
			t.Fatal(err)
		}
		if left := leftovers(o.Unstructured, live); len(left) > 0 {
			all[o.id()] = left
		}
	}
	return all
}

// leftovers are the fields of the base that are live and no longer wanted.
func leftovers(want, live *unstructured.Unstructured) []string {
	var left []string
	for name := range live.GetAnnotations() {
		if _, ok := want.GetAnnotations()[name]; !ok && slices.Contains(legacy, name) {
			left = append(left, name)
		}
	}
	if now, there, _ := unstructured.NestedString(live.Object, "spec", "trafficDistribution"); there {
		if planned, _, _ := unstructured.NestedString(want.Object, "spec", "trafficDistribution"); now != planned {
			left = append(left, now)
		}
	}
	planned, _, _ := unstructured.NestedSlice(want.Object, constraints...)
	now, _, _ := unstructured.NestedSlice(live.Object, constraints...)
	for _, c := range now {
		if !slices.ContainsFunc(planned, func(p any) bool { return cmp.Equal(p, c) }) {
			left = append(left, fmt.Sprint(c))
		}
	}
	return left
}
