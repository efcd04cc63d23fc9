package recent

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

func TestWhatIsAskedForAgainIsMadeOnce(t *testing.T) {
	r := New[int](4)
	var made atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for key := range 4 {
				got, err := r.Of(fmt.Sprint(key), func() (int, error) { made.Add(1); return 10 * key, nil })
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
	r := New[int](1)
	for range 2 {
		if _, err := r.Of("bad", func() (int, error) { return 0, errors.New("no") }); err == nil {
			t.Error("no error")
		}
	}
}

func TestWhatNobodyAsksForIsForgotten(t *testing.T) {
	r := New[int](3)
	var made []string
	for i := range 100 {
		for _, key := range []string{"often", fmt.Sprintf("once-%d", i)} {
			if _, err := r.Of(key, func() (int, error) { made = append(made, key); return 0, nil }); err != nil {
				t.Fatal(err)
			}
			if held := r.Len(); held > 6 {
				t.Fatalf("%d are held after %d clusters, the size is 3", held, i+1)
			}
		}
	}
	if len(made) != 101 {
		t.Errorf("made %d times, want 100 that are asked for once and one that is asked for often", len(made))
	}
}
