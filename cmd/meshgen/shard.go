package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// shard is one of several parts of a fleet, for as many CI jobs: a cluster is in
// shard i of n when the 64-bit FNV-1a hash of its name, modulo n, is i − 1. So
// each cluster is in one shard alone, and stays in it whichever others come and
// go. The zero shard is the whole fleet.
type shard struct{ index, parts uint64 }

func (s shard) whole() bool { return s.parts == 0 }

func (s shard) has(cluster string) bool {
	h := fnv.New64a()
	h.Write([]byte(cluster))
	return s.whole() || h.Sum64()%s.parts == s.index-1
}

// of are the members in the shard. One whose name cannot be read counts as
// nameless, so that one shard alone says what is wrong with it.
func (s shard) of(members []member) []member {
	return slices.DeleteFunc(slices.Clone(members), func(m member) bool { return !s.has(m.cluster) })
}

// String is the shard as it is given; empty for the whole.
func (s *shard) String() string {
	if s.whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.index, s.parts)
}

// Set reads a shard, i/n with 1 ≤ i ≤ n.
func (s *shard) Set(text string) error {
	index, of, _ := strings.Cut(text, "/")
	i, wrongIndex := strconv.ParseUint(index, 10, 32)
	n, wrongOf := strconv.ParseUint(of, 10, 32)
	if wrongIndex != nil || wrongOf != nil || i < 1 || i > n {
		return errors.New("expected i/n with 1 ≤ i ≤ n, such as 2/4")
	}
	*s = shard{i, n}
	return nil
}

// Type is what help calls the value.
func (s *shard) Type() string { return "i/n" }

func shardFlag(cmd *cobra.Command, s *shard) {
	cmd.Flags().Var(s, "shard", "only the clusters of part i of n, by a hash of their names: the n parts together are the whole")
}
