package profile

import (
	"testing"

	"github.com/meshgen/meshgen/internal/diag"
)

func TestLines(t *testing.T) {
	p := &Profile{
		Positions: map[string]diag.Pos{
			"spec.events":    {Line: 4},
			"spec.events[0]": {Line: 5},
			"spec.events[1]": {Line: 9},
			"spec.events[2]": {Line: 10},
		},
		LastLines: map[string]int{"spec.events[0]": 8, "spec.events[1]": 9},
	}
	for name, c := range map[string]struct {
		i, n int
		want string
	}{
		"an item of several lines":           {0, 3, "lines 5 to 8"},
		"an item of one line":                {1, 3, "line 9"},
		"an item that shares its lines":      {2, 3, "what begins on line 10"},
		"the only item, whose list goes too": {0, 1, "lines 5 to 8, the list on line 4"},
		"the only item, which shares lines":  {2, 1, "the list that begins on line 4"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.Lines("spec.events", c.i, c.n); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
