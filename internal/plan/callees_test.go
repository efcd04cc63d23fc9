package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/profile"
)

// servedTo is a Service of 6 pods that names no event and calls others of its
// namespace.
func servedTo(name string, calls ...string) profile.Service {
	s := renamed(name, cart())
	for _, c := range calls {
		s.Calls = append(s.Calls, "shop/"+c)
	}
	return s
}

// naming is a called Service that names the sale.
func naming(multiplier string, s profile.Service) profile.Service {
	s.Events = map[string]profile.ServiceEvent{"sale": {Multiplier: decimal(multiplier)}}
	return s
}

func TestCallees(t *testing.T) {
	for name, c := range map[string]struct {
		services []profile.Service
		want     []string
	}{
		"a callee that names the event": {
			[]profile.Service{naming("3", servedTo("cart", "auth")), naming("3", servedTo("auth"))}, nil,
		},
		"a callee that does not": {
			[]profile.Service{naming("3", servedTo("cart", "auth")), servedTo("auth")},
			[]string{"warning plan/callee-unscaled: event sale multiplies shop/cart by 3, and shop/auth, which it calls, does not name the event"},
		},
		"a callee that was seen alone": {
			[]profile.Service{naming("3", func(s profile.Service) profile.Service { s.ObservedCalls = []string{"shop/auth"}; return s }(servedTo("cart"))), servedTo("auth")},
			[]string{
				"warning plan/callee-unscaled: event sale multiplies shop/cart by 3, and shop/auth",
				"warning plan/observed-only-call: shop/cart was seen to call shop/auth",
			},
		},
		"callers within what the HPA tolerates": {
			[]profile.Service{naming("1.1", servedTo("cart", "auth")), servedTo("auth")}, nil,
		},
		"callers just above it": {
			[]profile.Service{naming("1.11", servedTo("cart", "auth")), servedTo("auth")},
			[]string{"warning plan/callee-unscaled: shop/cart by 1.11"},
		},
		"a callee of a callee": {
			[]profile.Service{naming("3", servedTo("cart", "auth")), servedTo("auth", "users"), servedTo("users")},
			[]string{
				"warning plan/callee-unscaled: shop/cart by 3, and shop/auth, which it calls, does not",
				"warning plan/callee-unscaled: shop/cart by 3, and shop/users, which it calls by way of shop/auth, does not",
			},
		},
		"a callee whose owner said less ends the chain": {
			[]profile.Service{naming("3", servedTo("cart", "auth")), naming("1", servedTo("auth", "users")), servedTo("users")},
			[]string{"warning plan/workload-event-below-minimum"},
		},
		"a callee of several meets the largest": {
			[]profile.Service{naming("2", servedTo("cart", "auth")), naming("4", servedTo("checkout", "pay")), servedTo("auth"), servedTo("pay", "auth")},
			[]string{
				"warning plan/callee-unscaled: shop/checkout by 4, and shop/auth, which it calls by way of shop/pay, does not",
				"warning plan/callee-unscaled: shop/checkout by 4, and shop/pay, which it calls, does not",
			},
		},
		"a circle": {
			[]profile.Service{naming("3", servedTo("cart", "auth")), servedTo("auth", "users", "auth"), servedTo("users", "auth", "cart")},
			[]string{
				"warning plan/callee-unscaled: shop/cart by 3, and shop/auth, which it calls, does not",
				"warning plan/callee-unscaled: shop/cart by 3, and shop/users, which it calls by way of shop/auth, does not",
			},
		},
		"callers of those that multiply": {
			[]profile.Service{naming("3", servedTo("cart")), servedTo("web", "cart")}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			judgeFindings(t, func(s *profile.Spec) {
				s.Events, s.Services = []profile.Event{sale()}, c.services
			}, c.want)
		})
	}
}

func TestTheUtilizationOfACallee(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Service)
		want string
	}{
		"with capacity": { // 400·3 / (200·6)
			func(s *profile.Service) { s.Capacity = capacityOf("400", "200") },
			": its 6 pods would be 100 % utilised (400 × 3 / (200 × 6))",
		},
		"with little load": { // 15·3 / (200·6)
			func(s *profile.Service) { s.Capacity = capacityOf("15", "200") },
			": its 6 pods would be 3.75 % utilised (15 × 3 / (200 × 6))",
		},
		"of a single pod": {
			func(s *profile.Service) { s.Capacity = capacityOf("15", "20"); s.Replicas.Min = 1 },
			": its 1 pod would be 225 % utilised (15 × 3 / (20 × 1))",
		},
		"without capacity": {func(*profile.Service) {}, ""},
		"without a pod":    {func(s *profile.Service) { s.Capacity = capacityOf("400", "200"); s.Replicas.Min = 0 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pl := build(t, meshOf(func(p *profile.Profile) {
				p.Spec.Events = []profile.Event{sale()}
				p.Spec.Services = []profile.Service{naming("3", servedTo("cart", "auth")), servedTo("auth")}
				p.Spec.Services[1].Autoscaling = profile.Autoscaling{ManagedBy: "none"}
				c.bend(&p.Spec.Services[1])
			}))
			want := []string{"event sale multiplies shop/cart by 3, and shop/auth, which it calls, does not name the event" + c.want}
			var got []string
			for _, f := range pl.Findings {
				got = append(got, f.Message)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if hint := pl.Findings[0].Hint; !strings.Contains(hint, "add events: {sale: {multiplier: 3}} to shop/auth") || !strings.Contains(hint, "nobody scales it") {
				t.Errorf("the hint does not say what to add: %s", hint)
			}
		})
	}
}

// A long chain is walked once, without recursion, for each event.
func TestALongChainOfCallees(t *testing.T) {
	const length = 3000
	pl := build(t, meshOf(func(p *profile.Profile) {
		p.Spec.Events = []profile.Event{sale(), promotion()}
		for i := range length {
			s := servedTo(fmt.Sprintf("s%d", i), fmt.Sprintf("s%d", (i+1)%length))
			s.Autoscaling.ManagedBy = "none"
			p.Spec.Services = append(p.Spec.Services, s)
		}
		first := &p.Spec.Services[0]
		first.Autoscaling.ManagedBy = "meshgen"
		first.Events["sale"], first.Events["promotion"] = profile.ServiceEvent{Multiplier: decimal("2")}, profile.ServiceEvent{Multiplier: decimal("2")}
	}))
	if want := 2 * (length - 1); len(pl.Findings) != want {
		t.Errorf("%d findings, want %d: each Service but the first, for each event", len(pl.Findings), want)
	}
}
