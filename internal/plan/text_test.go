package plan

import "testing"

func TestOneIsOne(t *testing.T) {
	for _, c := range []struct{ number, unit, want string }{
		{"1", "pods", "1 pod"},
		{"1", "connections per istiod", "1 connection per istiod"},
		{"1", "proxies", "1 proxy"},
		{"1", "s", "1 s"},
		{"1", "× the mean", "1 × the mean"},
		{"1", "", "1"},
		{"2", "pods", "2 pods"},
		{"0.5", "cores", "0.5 cores"},
	} {
		if got := measured(c.number, c.unit); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.number, c.unit, got, c.want)
		}
	}
}
