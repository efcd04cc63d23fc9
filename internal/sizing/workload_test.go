package sizing

import (
	"math/big"
	"testing"
)

func TestMultiplesAreExactAtAnySize(t *testing.T) {
	huge, _ := new(big.Rat).SetString("4000000000000000000000000001")
	for name, c := range map[string]struct {
		r, z *big.Rat
		want string
	}{
		"a multiple":                  {big.NewRat(18, 1), big.NewRat(3, 1), "18"},
		"one more":                    {big.NewRat(19, 1), big.NewRat(3, 1), "21"},
		"a fraction more":             {big.NewRat(181, 10), big.NewRat(3, 1), "21"},
		"nothing":                     {new(big.Rat), big.NewRat(3, 1), "0"},
		"more than 64 bits can count": {huge, big.NewRat(2, 1), "4000000000000000000000000002"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Multiple(c.r, c.z).RatString(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestUtilization(t *testing.T) {
	got := Utilization(big.NewRat(400, 1), big.NewRat(3, 1), big.NewRat(200, 1), 6)
	if got.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("400·3 / (200·6) is %s, want 1", got)
	}
	if got := Utilization(big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(3, 1), 1).RatString(); got != "1/3" {
		t.Errorf("%s, want 1/3 without rounding", got)
	}
}

func TestTheLargestPartIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		parts []int64
		left  int64
		lost  int
	}{
		"the largest":             {[]int64{80, 160, 40}, 120, 1},
		"the first of equals":     {[]int64{80, 80}, 80, 0},
		"a single part stays":     {[]int64{80}, 80, -1},
		"beside parts of nothing": {[]int64{0, 80, 0}, 80, -1},
		"no part":                 {nil, 0, -1},
		"parts of nothing":        {[]int64{0, 0}, 0, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var parts []*big.Rat
			for _, p := range c.parts {
				parts = append(parts, big.NewRat(p, 1))
			}
			left, lost := LeaveLargest(parts)
			if left.Cmp(big.NewRat(c.left, 1)) != 0 || lost != c.lost {
				t.Errorf("%s without part %d, want %d without part %d", left.RatString(), lost, c.left, c.lost)
			}
		})
	}
}
