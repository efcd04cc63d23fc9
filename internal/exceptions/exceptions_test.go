package exceptions

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/profile"
)

func exception(rule, subject string) profile.Exception {
	return profile.Exception{Rule: rule, Subject: subject, Owner: "team-mesh", Reason: "known", Expiry: "2026-12-31"}
}

func with(exceptions ...profile.Exception) *profile.Profile {
	return &profile.Profile{Spec: profile.Spec{Exceptions: exceptions}}
}

func about(severity diag.Severity, rule, subject, message string) diag.Finding {
	return diag.Finding{Severity: severity, ID: rule, Subject: subject, Message: message}
}

// An exception covers what one policy finds about one subject, and nothing else.
func TestApply(t *testing.T) {
	cart := about(diag.Error, "keda/paused", "ScaledObject/shop/cart", "paused")
	for name, c := range map[string]struct {
		exceptions     []profile.Exception
		judged         diag.List
		left, excepted []string
	}{
		"none":                          {nil, diag.List{cart}, []string{"keda/paused paused"}, nil},
		"of the policy and the subject": {[]profile.Exception{exception("keda/paused", "ScaledObject/shop/cart")}, diag.List{cart}, nil, []string{"paused"}},
		"of the policy and another subject": {
			[]profile.Exception{exception("keda/paused", "ScaledObject/shop")},
			diag.List{cart},
			[]string{"keda/paused paused", "exceptions/unused"},
			nil,
		},
		"of the subject and another policy": {
			[]profile.Exception{exception("keda/fallback", "ScaledObject/shop/cart")},
			diag.List{cart},
			[]string{"keda/paused paused", "exceptions/unused"},
			nil,
		},
		"a pattern is a name": {
			[]profile.Exception{exception("keda/paused", "ScaledObject/shop/*")},
			diag.List{cart},
			[]string{"keda/paused paused", "exceptions/unused"},
			nil,
		},
		"all that the policy finds about the subject": {
			[]profile.Exception{exception("istiod/as-planned", "Deployment/istiod")},
			diag.List{about(diag.Error, "istiod/as-planned", "Deployment/istiod", "cpu"), about(diag.Error, "istiod/as-planned", "Deployment/istiod", "memory")},
			nil,
			[]string{"cpu", "memory"},
		},
		"a warning": {
			[]profile.Exception{exception("service/same-node", "Service/a/b")},
			diag.List{about(diag.Warning, "service/same-node", "Service/a/b", "near")},
			nil,
			[]string{"near"},
		},
		"twice the same": {
			[]profile.Exception{exception("keda/paused", "ScaledObject/shop/cart"), exception("keda/paused", "ScaledObject/shop/cart")},
			diag.List{cart},
			[]string{"exceptions/unused"},
			[]string{"paused"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			left, excepted := Apply(with(c.exceptions...), c.judged)
			var gotLeft, gotExcepted []string
			for _, f := range left {
				text := f.ID
				if f.ID != "exceptions/unused" {
					text += " " + f.Message
				} else if f.Severity != diag.Warning {
					t.Errorf("%s is %s", f.ID, f.Severity)
				}
				gotLeft = append(gotLeft, text)
			}
			for _, e := range excepted {
				gotExcepted = append(gotExcepted, e.Message)
				if e.Owner != "team-mesh" || e.Reason != "known" || e.Expiry != "2026-12-31" {
					t.Errorf("%+v", e)
				}
			}
			if diff := cmp.Diff(c.left, gotLeft); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.excepted, gotExcepted); diff != "" {
				t.Errorf("excepted (-want +got):\n%s", diff)
			}
		})
	}
}

// An exception holds to the end of its last day, by UTC.
func TestTheLastDay(t *testing.T) {
	p := with(exception("keda/paused", "ScaledObject/shop/cart"))
	excepted := []findings.Excepted{{Finding: about(diag.Error, "keda/paused", "ScaledObject/shop/cart", "paused"), Expiry: "2026-12-31"}}
	for name, c := range map[string]struct {
		at   string
		over bool
	}{
		"long before":                      {"2026-01-01T00:00:00Z", false},
		"the last moment of it":            {"2026-12-31T23:59:59Z", false},
		"its end":                          {"2027-01-01T00:00:00Z", true},
		"the next day further east, early": {"2027-01-01T08:59:59+09:00", false},
		"the same day further west, late":  {"2026-12-31T20:00:00-05:00", true},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			back, still := Lapsed(excepted, at)
			if got := len(Expired(p, at)) == 1; got != c.over || (len(back) == 1) != c.over || (len(still) == 0) != c.over {
				t.Errorf("expired %v, back %v, still %v", got, back, still)
			}
		})
	}
	if back, still := Lapsed(excepted, time.Time{}); len(back) != 0 || len(still) != 1 {
		t.Errorf("without a day: back %v, still %v", back, still)
	}
}

func TestJudge(t *testing.T) {
	known := []string{"istiod/zone-spread", "keda/paused"}
	for name, c := range map[string]struct{ rule, want, hint string }{
		"a policy":             {"keda/paused", "", ""},
		"a policy, misspelt":   {"keda/pausd", "exceptions/unknown-policy", "did you mean keda/paused?"},
		"nothing near":         {"something/else-entirely", "exceptions/unknown-policy", "meshgen policy list has them all"},
		"a finding of a stage": {"plan/no-room", "exceptions/not-a-policy", "meet the finding's own hint: input that is malformed, and values that are not safe, cannot be excepted"},
	} {
		t.Run(name, func(t *testing.T) {
			id, hint := "", ""
			for _, f := range Judge(with(exception(c.rule, "x")), known) {
				id, hint = id+f.ID, f.Hint
				if f.Severity != diag.Error {
					t.Errorf("%s is %s", f.ID, f.Severity)
				}
			}
			if id != c.want || hint != c.hint {
				t.Errorf("got %q, %q", id, hint)
			}
		})
	}
}
