package change

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sample"
	"github.com/meshgen/meshgen/schema"
)

// planned is a profile's text as a side without resources; ok is false where there is
// no safe plan.
func planned(t testing.TB, text string) (s *Side, ok bool) {
	t.Helper()
	p := loaded(t, text)
	pl, err := plan.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return &Side{Profile: p, Plan: pl, Findings: pl.Findings}, !pl.Findings.HasErrors()
}

func loaded(t testing.TB, text string) *profile.Profile {
	t.Helper()
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: []byte(text)}}, "profile.yaml")
	if p == nil {
		t.Fatal(found)
	}
	return p
}

// rendered is planned with what the cluster will receive.
func rendered(t testing.TB, proofs *manifests.Builder, text string) *Side {
	t.Helper()
	s, ok := planned(t, text)
	if !ok {
		t.Fatal(s.Findings)
	}
	tree, err := generators.Render(s.Plan)
	if err != nil {
		t.Fatal(err)
	}
	objects, found, err := proofs.Build(manifests.Input{Plan: s.Plan, Tree: tree, Pos: s.Profile.Pos})
	if err != nil || found.HasErrors() {
		t.Fatal(found, err)
	}
	s.Objects, s.Findings = objects, append(s.Findings, found...)
	return s
}

func builder(t testing.TB) *manifests.Builder {
	t.Helper()
	b, err := manifests.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func between(t testing.TB, old, new *Side) *Cluster {
	t.Helper()
	c, err := Between(old, new, schema.Consistent)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func example(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../examples/clusters", name, "profile.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// with is bigsale with texts replaced, of which each must be there.
func with(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// Of two sides that say the same nothing moved, whichever objects they are.
func TestNothingMovesBetweenAnExampleAndItself(t *testing.T) {
	proofs := builder(t)
	for _, name := range []string{"bigsale", "boutique", "featureflag"} {
		old := rendered(t, proofs, example(t, name))
		new := rendered(t, proofs, "# a comment moves every line\n"+example(t, name))
		if c := between(t, old, new); c != nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

const (
	sale      = "load: {connections: 3600, endpoints: 5400}"
	cartScale = "{managedBy: meshgen, cpuUtilization: 60, running: {hpa: cart}}"
)

// What is dangerous is said, with its rule, and the way back is not dangerous.
func TestRisksFollowTheirRules(t *testing.T) {
	bigsale, boutique, featureflag := example(t, "bigsale"), example(t, "boutique"), example(t, "featureflag")
	proofs := builder(t)
	for name, c := range map[string]struct {
		base  string
		edits []string
		want  []string // rule and subject, in order
		back  []string
	}{
		"an event twice as large": {
			bigsale,
			[]string{sale, "load: {connections: 7200, endpoints: 5400}"},
			[]string{"budget-grows istiod.podDisruptionBudget.maxUnavailable"},
			[]string{
				"event-falls istiod.replicas.event.big-sale", "floor-falls istiod.replicas.min", "fallback-falls istiod.fallback.replicas",
				"ceiling-falls istiod.replicas.max",
			},
		},
		"a workload that nobody scales any more": {
			bigsale,
			[]string{cartScale, "{managedBy: none}", "events: {big-sale: {multiplier: 3}}", "events: {}"},
			[]string{"scaledobject-gone ScaledObject shop/cart"},
			nil,
		},
		"a call that is no longer listed": {
			boutique,
			[]string{", boutique/shippingservice]", "]"},
			[]string{"scope-narrows sidecar/boutique/frontend.hosts"},
			[]string{"scope-widens sidecar/boutique/frontend.hosts"},
		},
		"scopes that are taken back": {
			boutique,
			[]string{"rollout: live", "rollout: report"},
			append(slices.Repeat([]string{"scope-widens"}, 12), "resource-gone Application argocd/boutique-mesh-boutique"), slices.Repeat([]string{"scope-narrows"}, 12),
		},
		"more memory for istiod": {
			bigsale,
			[]string{"memory: 800Mi", "memory: 1600Mi"},
			[]string{
				"threshold-rises istiod.connectionThreshold", "event-falls istiod.replicas.event.big-sale", "fallback-falls istiod.fallback.replicas",
				"ceiling-falls istiod.replicas.max", "istiod-restarts Deployment istio-system/istiod",
			},
			[]string{"istiod-restarts Deployment istio-system/istiod"},
		},
		"an event that begins later": {
			bigsale,
			[]string{"start: 2026-12-19T17:00:00+09:00", "start: 2026-12-19T17:30:00+09:00"},
			[]string{
				"window-shorter istiod.prescale.window.big-sale", "window-shorter workload/platform/auth.prescale.window.big-sale",
				"window-shorter workload/shop/cart.prescale.window.big-sale", "window-shorter workload/shop/checkout.prescale.window.big-sale",
			},
			nil,
		},
		"an event on another day": {
			bigsale,
			[]string{"start: 2026-12-19T", "start: 2026-12-20T", "end: 2026-12-19T", "end: 2026-12-20T"},
			slices.Repeat([]string{"window-moves"}, 4), slices.Repeat([]string{"window-moves"}, 4),
		},
		"a weekly event on fewer days": {
			bigsale,
			[]string{"days: [Mon, Tue, Wed, Thu, Fri]", "days: [Mon, Tue, Wed, Thu]"},
			[]string{"window-shorter istiod.prescale.window.weekday-lunch"},
			nil,
		},
		"a higher target": {
			bigsale,
			[]string{"cpuUtilization: 60", "cpuUtilization: 70"},
			[]string{"hotter workload/shop/cart.cpuUtilization"},
			nil,
		},
		"calls that stay in their zone no longer": {
			featureflag,
			[]string{"peak: 240", "peak: 2400"},
			[]string{
				"spread-softens workload/web/storefront.topologySpreadConstraints", "routing service/web/storefront.trafficDistribution",
				"workload-restarts Deployment web/storefront",
			},
			[]string{"routing service/web/storefront.trafficDistribution", "workload-restarts Deployment web/storefront"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			changed := with(t, c.base, c.edits...)
			old, new := rendered(t, proofs, c.base), rendered(t, proofs, changed)
			compareDangers(t, "there", between(t, old, new), c.want)
			compareDangers(t, "back", between(t, new, old), c.back)
		})
	}
}

// compareDangers holds the dangers against rules, each alone or with its subject.
func compareDangers(t *testing.T, way string, c *Cluster, want []string) {
	t.Helper()
	var got []string
	for i, d := range c.Dangers {
		text := d.Rule
		if i < len(want) && strings.Contains(want[i], " ") || i >= len(want) {
			text += " " + d.Subject
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", way, diff)
	}
}

// Each decision that moved has the fields that moved it.
func TestCausesAreTheFieldsThatMovedADecision(t *testing.T) {
	bigsale := example(t, "bigsale")
	for name, c := range map[string]struct {
		edits   []string
		subject string
		want    []string
	}{
		"one field": {
			[]string{sale, "load: {connections: 7200, endpoints: 5400}"},
			"istiod.replicas.min",
			[]string{"spec.events[big-sale].load.connections"},
		},
		"two fields, each by itself": {
			[]string{sale, "load: {connections: 4000, endpoints: 5400}", "memory: 800Mi", "memory: 820Mi"},
			"istiod.replicas.event.big-sale",
			[]string{
				"spec.events[big-sale].load.connections, alone to 50 replicas (+4, +8.7 %)",
				"spec.istiod.resources.memory, alone to 44 replicas (-2, -4.35 %)",
			},
		},
		"one field, and another that moves nothing": {
			[]string{sale, "load: {connections: 7200, endpoints: 5400}", "observedDays: 30", "observedDays: 31"},
			"istiod.replicas.max",
			[]string{"spec.events[big-sale].load.connections"},
		},
		"an event that goes with what refers to it": {
			[]string{
				"    - name: weekday-lunch\n      weekly: {days: [Mon, Tue, Wed, Thu, Fri], start: \"11:30\", end: \"13:30\", timeZone: Asia/Seoul}\n      multiplier: {connections: 1.2, endpoints: 1.1}\n      ramp: 15m\n", "",
			},
			"istiod.replicas.event.weekday-lunch",
			[]string{"spec.events[weekday-lunch]"},
		},
		"an event that comes, and a Service that names it": {
			[]string{
				"  gateways:\n", "    - {name: extra, start: 2027-01-02T00:00:00Z, end: 2027-01-02T06:00:00Z, multiplier: {connections: 2, endpoints: 1}}\n  gateways:\n",
				"events: {big-sale: {multiplier: 3}}", "events: {big-sale: {multiplier: 3}, extra: {multiplier: 2}}",
			},
			"workload/shop/cart.replicas.event.extra",
			[]string{"spec.events[extra], only together with the others", "spec.services[shop/cart].events.extra, only together with the others"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, _ := planned(t, bigsale)
			new, _ := planned(t, with(t, bigsale, c.edits...))
			moved := between(t, old, new)
			i := slices.IndexFunc(moved.Decisions, func(d Decision) bool { return d.Subject == c.subject })
			if i < 0 {
				t.Fatalf("%s did not move", c.subject)
			}
			d := &moved.Decisions[i]
			var got []string
			for _, cause := range d.Causes {
				got = append(got, d.cause(cause, cause.Inputs))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The edits between any two profiles make one of the other, and plans of profiles with
// a single one of them are made or refused, and never break.
func TestEditsLeadFromAnyProfileToAnyOther(t *testing.T) {
	compared := 0
	for seed := range uint64(6) {
		old, okOld := planned(t, string(sample.Random(seed, nil)))
		new, okNew := planned(t, string(sample.Random(seed+1000, nil)))
		before, after := treeOf(t, old.Profile), treeOf(t, new.Profile)
		all := edits(before, after)
		made, err := edited(before, all, old.Profile)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(said(t, new.Profile), said(t, made)); diff != "" {
			t.Fatalf("seed %d (-want +made):\n%s", seed, diff)
		}
		if units := unitsOf(all); len(units) > mostProbes {
			t.Errorf("seed %d: %d probes", seed, len(units))
		}
		if okOld && okNew {
			compared++
			mirrored(t, between(t, old, new), between(t, new, old))
		}
	}
	if compared < 2 {
		t.Errorf("only %d pairs have plans", compared)
	}
}

func treeOf(t *testing.T, p *profile.Profile) map[string]any {
	t.Helper()
	root, err := tree(p)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// said is a profile as JSON, without what the profile does not tell from nothing.
func said(t *testing.T, p *profile.Profile) any {
	t.Helper()
	return given(treeOf(t, p))
}

// mirrored holds that what moved there moved back, and that no floor falls on both ways.
func mirrored(t *testing.T, there, back *Cluster) {
	t.Helper()
	count := func(c *Cluster) map[string]int {
		subjects := map[string]int{}
		for _, d := range c.Decisions {
			subjects[d.Subject]++
		}
		return subjects
	}
	if diff := cmp.Diff(count(there), count(back)); diff != "" {
		t.Errorf("decisions (-there +back):\n%s", diff)
	}
	for _, d := range there.Dangers {
		oneWay := slices.Contains([]string{"floor-falls", "event-falls", "event-gone", "fallback-falls", "threshold-rises", "window-shorter", "budget-widens", "ceiling-falls"}, d.Rule)
		if oneWay && slices.ContainsFunc(back.Dangers, func(o Danger) bool { return o.Subject == d.Subject && o.Rule == d.Rule }) {
			t.Errorf("%s of %s on both ways", d.Rule, d.Subject)
		}
	}
}

func TestFindingsComeGoAndChange(t *testing.T) {
	at := func(line int, id, subject, message string) diag.Finding {
		return diag.Finding{Severity: diag.Warning, ID: id, Pos: diag.Pos{File: "p.yaml", Line: line}, Subject: subject, Message: message}
	}
	got := findingsBetween(
		diag.List{at(1, "plan/a", "x", "same"), at(2, "plan/b", "x", "has 1"), at(3, "plan/c", "x", "gone")},
		diag.List{at(9, "plan/a", "x", "same"), at(8, "plan/b", "x", "has 2"), at(7, "plan/b", "y", "new")},
	)
	want := Findings{
		Appeared: diag.List{at(7, "plan/b", "y", "new")},
		Went:     diag.List{at(3, "plan/c", "x", "gone")},
		Changed:  []Reworded{{at(8, "plan/b", "x", "has 2"), "has 1"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDistances(t *testing.T) {
	for name, c := range map[string]struct {
		before, after any
		want          string
	}{
		"up":                         {int64(46), int64(90), "+44, +95.7 %"},
		"down":                       {int64(90), int64(46), "-44, -48.9 %"},
		"to many times as much":      {int64(20), int64(100), "+80, +400 %"},
		"from nothing":               {int64(0), int64(5), "+5"},
		"a longer time":              {"15m", "1h30m", "+1h15m, +500 %"},
		"a shorter time":             {"90s", "75s", "-15s, -16.7 %"},
		"a window that begins later": {"2026-12-19T07:31:00Z/2026-12-19T12:00:00Z", "2026-12-19T07:40:00Z/2026-12-19T12:00:00Z", "starts 9m later"},
		"a window that moves":        {"2026-12-19T07:31:00Z/2026-12-19T12:00:00Z", "2026-12-18T07:31:00Z/2026-12-19T11:00:00Z", "starts 24h earlier, ends 1h earlier"},
		"hosts":                      {[]string{"a", "b"}, []string{"b", "c", "d"}, "2 added, 1 removed"},
		"words":                      {"Close", "Zone", ""},
		"something for nothing":      {nil, int64(5), ""},
	} {
		if got := distance(c.before, c.after); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWindowsAreReadAsThePlanWritesThem(t *testing.T) {
	for name, c := range map[string]struct {
		before, after   string
		shorter, covers bool
	}{
		"dated, longer":       {"2026-01-01T10:00:00Z/2026-01-01T11:00:00Z", "2026-01-01T09:00:00Z/2026-01-01T11:00:00Z", false, true},
		"dated, shorter":      {"2026-01-01T10:00:00Z/2026-01-01T11:00:00Z", "2026-01-01T10:30:00Z/2026-01-01T11:00:00Z", true, false},
		"dated, elsewhere":    {"2026-01-01T10:00:00Z/2026-01-01T11:00:00Z", "2026-01-02T10:00:00Z/2026-01-02T11:00:00Z", false, false},
		"weekly, more days":   {"Mon 11:00-12:00 UTC", "Mon,Tue 11:00-12:00 UTC", false, true},
		"weekly, fewer days":  {"Mon,Tue 11:00-12:00 UTC", "Mon 11:00-12:00 UTC", true, false},
		"over midnight":       {"Mon 23:00-01:00 UTC", "Mon 23:30-01:00 UTC", true, false},
		"until midnight":      {"Mon 22:00-24:00 UTC", "Mon 21:00-24:00 UTC", false, true},
		"in another zone":     {"Mon 11:00-12:00 UTC", "Mon 11:00-12:00 Asia/Seoul", false, false},
		"the end of the week": {"Fri 11:00-12:00 UTC", "Sat 11:00-12:00 UTC", false, false},
	} {
		before, okB := windowOf(c.before)
		after, okA := windowOf(c.after)
		if !okB || !okA {
			t.Fatalf("%s: not read", name)
		}
		if got := after.length() < before.length(); got != c.shorter {
			t.Errorf("%s: %v, then %v", name, before.length(), after.length())
		}
		if got := after.covers(before); got != c.covers {
			t.Errorf("%s: covers is %v", name, got)
		}
	}
}

// The page of rules has those that are judged by, in their order.
func TestThePageOfRulesHasEachRule(t *testing.T) {
	data, err := os.ReadFile("../../docs/diff.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range Rules() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", r.ID, r.Risk, r.What, r.Why))
	}
	got := regexp.MustCompile("(?m)^\\| `[a-z-]+` \\|.*$").FindAllString(string(data), -1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/diff.md (-rules +page):\n%s", diff)
	}
}

// Every rule that is asked for by its id is there.
func TestRulesAreThereThatAreAskedFor(t *testing.T) {
	asked := regexp.MustCompile(`(?:rule\(|id :?= )"([a-z-]+)"`).FindAllStringSubmatch(source(t), -1)
	if len(asked) < 5 {
		t.Fatalf("found %d", len(asked))
	}
	for _, id := range asked {
		if !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.ID == id[1] }) {
			t.Errorf("no rule %s", id[1])
		}
	}
}

func source(t *testing.T) string {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS("."), "risk.go")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// JSON has no null where there is a list, and reads back.
func TestJSONHasLists(t *testing.T) {
	old, _ := planned(t, example(t, "bigsale"))
	var out strings.Builder
	if err := JSON(&out, []*Cluster{between(t, old, nil)}); err != nil {
		t.Fatal(err)
	}
	var page struct{ Clusters []map[string]any }
	if err := json.Unmarshal([]byte(out.String()), &page); err != nil {
		t.Fatal(err)
	}
	for key, value := range page.Clusters[0] {
		if value == nil || reflect.ValueOf(value).Kind() == reflect.Invalid {
			t.Errorf("%s is null", key)
		}
	}
}
