package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sync is one turn of an HPA: seconds from the start, what the metrics ask for, and
// the replicas after it.
type turn struct{ second, wanted, want int64 }

// Worked by hand from Kubernetes' algorithm: the least recommendation of the window
// upwards, the most of the window downwards, then the policy that allows most.
func TestBehavior(t *testing.T) {
	doubling := []policy{{percent: 100, period: 15_000}, {pods: 4, period: 15_000}}
	planned := scaling{
		min: 24, max: 92, up: rules{75_000, doubling}, down: rules{600_000, []policy{{percent: 10, period: 60_000}}},
	}
	standard := scaling{
		min: 1, max: 100, up: rules{0, doubling}, down: rules{300_000, []policy{{percent: 100, period: 15_000}}},
	}
	bare := scaling{min: 2, max: 10, up: rules{0, doubling}, down: rules{0, []policy{{percent: 10, period: 60_000}, {pods: 2, period: 60_000}}}}
	for name, c := range map[string]struct {
		scaling scaling
		from    int64
		turns   []turn
	}{
		"growth waits for the window, and then doubles": {
			planned, 24,
			[]turn{{0, 24, 24}, {15, 60, 24}, {30, 60, 24}, {45, 60, 24}, {60, 60, 24}, {75, 60, 48}, {90, 60, 60}},
		},
		"a spike within the window is passed over": {
			planned, 24,
			[]turn{{0, 24, 24}, {15, 46, 24}, {30, 24, 24}, {45, 46, 24}, {60, 46, 24}, {75, 46, 24}, {90, 46, 24}, {105, 46, 46}},
		},
		"four pods more are more than double of three": {
			standard, 3, []turn{{0, 20, 7}, {15, 20, 14}, {30, 20, 20}},
		},
		"a second step within the period counts from where it began": {
			standard, 10, []turn{{0, 15, 15}, {5, 60, 20}, {15, 60, 30}},
		},
		"nothing goes while the window remembers more": {
			standard, 40, []turn{{0, 40, 40}, {15, 10, 40}, {285, 10, 40}, {300, 10, 10}},
		},
		"down by a tenth a minute, rounded down to what is left": {
			planned, 46,
			[]turn{{0, 30, 41}, {15, 30, 41}, {45, 30, 41}, {60, 30, 36}, {120, 30, 32}, {180, 30, 30}},
		},
		"the policy that takes most away counts": {
			bare, 10, []turn{{0, 2, 8}, {15, 2, 8}, {60, 2, 6}, {120, 2, 4}},
		},
		"the ceiling holds at once":    {bare, 30, []turn{{0, 20, 10}}},
		"the floor holds at once":      {planned, 10, []turn{{0, 10, 24}}},
		"the floor is not gone below":  {bare, 3, []turn{{0, 0, 2}}},
		"the ceiling is not gone over": {bare, 8, []turn{{0, 40, 10}}},
	} {
		t.Run(name, func(t *testing.T) {
			h, current := hpa{scaling: &c.scaling}, c.from
			var got []turn
			for _, s := range c.turns {
				current = h.next(s.second*1000+1, current, s.wanted)
				got = append(got, turn{s.second, s.wanted, current})
			}
			if diff := cmp.Diff(c.turns, got, cmp.AllowUnexported(turn{})); diff != "" {
				t.Errorf("replicas (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAveraged(t *testing.T) {
	for name, c := range map[string]struct{ running, usage, target, want int64 }{
		"a tenth more is tolerated":                 {24, 2640, 100, 24},
		"more than a tenth asks for what is needed": {24, 2641, 100, 27},
		"a tenth less is tolerated":                 {40, 3600, 100, 40},
		"less than that goes":                       {40, 3599, 100, 36},
		"no pods":                                   {0, 250, 100, 3},
		"nothing to do":                             {24, 0, 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := averaged(c.running, c.usage, c.target); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
