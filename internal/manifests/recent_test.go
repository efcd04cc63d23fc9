package manifests

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsAskedForAgainIsMadeOnce(t *testing.T) {
	r := newRecent[int](4)
	var made atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for key := range 4 {
				got, err := r.of(fmt.Sprint(key), func() (int, error) { made.Add(1); return 10 * key, nil })
				if got != 10*key || err != nil {
					t.Errorf("of %d: %d, %v", key, got, err)
				}
			}
		})
	}
	group.Wait()
	if made.Load() != 4 {
		t.Errorf("4 keys were made %d times", made.Load())
	}
}

func TestAFailureStaysAFailure(t *testing.T) {
	r := newRecent[int](1)
	for range 2 {
		if _, err := r.of("bad", func() (int, error) { return 0, errors.New("no") }); err == nil {
			t.Error("no error")
		}
	}
}

func TestWhatNobodyAsksForIsForgotten(t *testing.T) {
	r := newRecent[int](3)
	var made []string
	for i := range 100 {
		for _, key := range []string{"often", fmt.Sprintf("once-%d", i)} {
			if _, err := r.of(key, func() (int, error) { made = append(made, key); return 0, nil }); err != nil {
				t.Fatal(err)
			}
			if held := len(r.young) + len(r.old); held > 6 {
				t.Fatalf("%d are held after %d clusters, the size is 3", held, i+1)
			}
		}
	}
	if len(made) != 101 {
		t.Errorf("made %d times, want 100 that are asked for once and one that is asked for often", len(made))
	}
}

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
