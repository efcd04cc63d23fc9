package manifests

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Clusters that are alike share what was made, and what one does with its objects
// must not show in the next one's: they are what a Builder of its own makes.
func TestAClusterIsBuiltAsIfAlone(t *testing.T) {
	shared := open(t, "")
	for range 2 {
		for _, age := range []string{"15m", "20m"} {
			in := Input{Plan: planned(), Tree: edited(t, generated(t), "15m", age), Pos: position}
			want, _, err := open(t, "").Build(in)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := shared.Build(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("with %s (-alone +in a fleet):\n%s", age, diff)
			}
		}
	}
}
