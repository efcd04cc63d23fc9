package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The hashes are those of FNV-1a with 64 bits: seoul 12833932034918338631,
// tokyo 2774413621751051833, singapore 8241564141139114977; modulo 3 they are 2,
// 1 and 0.
func TestAShardIsTheHashOfTheName(t *testing.T) {
	for given, want := range map[string][]string{
		"1/3": {"singapore"}, "2/3": {"tokyo"}, "3/3": {"seoul"},
		"1/1": {"seoul", "singapore", "tokyo"}, "1/2": nil, "2/2": {"seoul", "singapore", "tokyo"},
	} {
		var s shard
		if err := s.Set(given); err != nil {
			t.Fatal(err)
		}
		got, _ := clustersOf(s.of([]member{{cluster: "seoul"}, {cluster: "singapore"}, {cluster: "tokyo"}}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("shard %s (-want +got):\n%s", given, diff)
		}
		if s.String() != given {
			t.Errorf("shard %s is printed as %s", given, s.String())
		}
	}
}

func TestShardsTogetherAreTheWholeAndNoneTwice(t *testing.T) {
	members := []member{{path: "nameless.yaml"}}
	for i := range 500 {
		members = append(members, member{cluster: fmt.Sprintf("bigsale-%03d", i)})
	}
	want, _ := clustersOf(members)
	slices.Sort(want)
	for n := uint64(1); n <= 9; n++ {
		var got []string
		for i := uint64(1); i <= n; i++ {
			some, _ := clustersOf(shard{i, n}.of(members))
			if fair := uint64(len(members)) / n; uint64(len(some)) > 2*fair {
				t.Errorf("shard %d/%d has %d of %d clusters", i, n, len(some), len(members))
			}
			got = append(got, some...)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d shards (-whole +union):\n%s", n, diff)
		}
	}
}

func TestNoOtherTextIsAShard(t *testing.T) {
	for _, given := range []string{"", "1", "/", "1/", "/2", "0/2", "3/2", "-1/2", "1/0", "1/2/3", " 1/2", "1/4294967296", "a/b", "0x1/2", "1.0/2"} {
		s := shard{}
		if err := s.Set(given); err == nil {
			t.Errorf("%q is shard %d of %d", given, s.index, s.parts)
		}
	}
}
