package plan_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/review"
	"github.com/meshgen/meshgen/internal/sample"
	"github.com/meshgen/meshgen/schema"
)

// FuzzPlan plans random profiles that a user could have written, by the path that
// a user's takes: YAML, schema, plan, generators. Whatever is planned keeps every
// promise of the formulas, each computed here a second time from the profile.
func FuzzPlan(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, []byte{})
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		text := sample.Random(seed, data)
		p := loadText(t, text)
		pl, err := plan.Build(p)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		judge := &judge{T: t, text: text, profile: p, plan: pl, decided: map[string]plan.Decision{}}
		judge.everything(seed)
	})
}

func loadText(t *testing.T, text []byte) *profile.Profile {
	t.Helper()
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: text}}, "profile.yaml")
	if p == nil {
		t.Fatalf("a random profile is refused: %v\n%s", found, text)
	}
	return p
}

// Of random profiles more than half have a safe plan, so that the promises of
// plans are tried, and more than a tenth have none.
func TestMoreThanHalfOfRandomProfilesArePlanned(t *testing.T) {
	planned := 0
	const tried = 150
	for seed := range uint64(tried) {
		pl, err := plan.Build(loadText(t, sample.Random(seed, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if !pl.Findings.HasErrors() {
			planned++
		}
	}
	if planned < tried/2 || planned > tried*9/10 {
		t.Errorf("%d of %d random profiles are planned", planned, tried)
	}
}

// judge holds one plan against its profile.
type judge struct {
	*testing.T
	text    []byte
	profile *profile.Profile
	plan    *plan.Plan
	decided map[string]plan.Decision
}

func (j *judge) everything(seed uint64) {
	for _, d := range j.plan.Decisions {
		if _, twice := j.decided[d.Subject]; twice {
			j.failf("%s is decided twice", d.Subject)
		}
		j.decided[d.Subject] = d
	}
	j.printed()
	j.findings()
	j.again()
	o := oracleOf(j.profile)
	j.controlPlane(o)
	if len(j.plan.Decisions) > 0 { // istiod has a place
		j.workloads(o)
		j.spreads()
		j.routes(o)
		j.scopes()
		j.capacity(o)
	}
	j.changed(seed)
	if !j.plan.Findings.HasErrors() {
		j.rendered()
	}
}

func (j *judge) failf(format string, args ...any) {
	j.Helper()
	j.Fatalf(format+"\n%s", append(args, j.text)...)
}

// unprintable are numbers that no formula may come to.
var unprintable = regexp.MustCompile(`NaN|[+-]?Inf\b|%!|<nil>`)

func (j *judge) readable(what, text string) {
	j.Helper()
	if at := unprintable.FindStringIndex(text); at != nil {
		j.failf("%s prints %q", what, text[max(0, at[0]-80):min(len(text), at[1]+80)])
	}
}

// printed holds what people and machines read: no number that is none, and every
// formula comes to what the plan says.
func (j *judge) printed() {
	j.Helper()
	out, err := j.plan.JSON(j.plan.Findings)
	if err != nil {
		j.failf("%v", err)
	}
	j.readable("the plan", string(out))
	for _, d := range j.plan.Decisions {
		explained, err := plan.Explain(d)
		if err != nil {
			j.failf("%v", err)
		}
		j.readable("explain", explained)
		j.finite(d)
	}
}

func (j *judge) finite(d plan.Decision) {
	j.Helper()
	for _, term := range d.Terms {
		if term.Value == nil {
			continue
		}
		if x, _ := term.Value.Float64(); math.IsInf(x, 0) || x < 0 && term.Name != "left" {
			j.failf("%s: term %s is %s", d.Subject, term.Name, term.Value.RatString())
		}
	}
}

// findings are sorted, stand in the file, and say something.
func (j *judge) findings() {
	j.Helper()
	lines := bytes.Count(j.text, []byte("\n"))
	if diff := cmp.Diff(j.plan.Findings.Sorted(), j.plan.Findings); diff != "" {
		j.failf("findings are not sorted: %s", diff)
	}
	for _, f := range j.plan.Findings {
		if f.File != "profile.yaml" || f.Line < 1 || f.Line > lines || f.Column < 1 || f.Subject == "" || f.Message == "" || !strings.HasPrefix(f.ID, "plan/") {
			j.failf("finding %+v", f)
		}
		j.readable("a finding", f.String())
	}
}

// again plans the same text once more.
func (j *judge) again() {
	j.Helper()
	second, err := plan.Build(loadText(j.T, j.text))
	if err != nil {
		j.failf("%v", err)
	}
	j.same("the same text", second)
}

func (j *judge) same(what string, other *plan.Plan) {
	j.Helper()
	x, err := j.plan.JSON(j.plan.Findings)
	if err != nil {
		j.failf("%v", err)
	}
	y, err := other.JSON(other.Findings)
	if err != nil {
		j.failf("%v", err)
	}
	if !bytes.Equal(x, y) {
		j.failf("%s: plans differ: %s", what, cmp.Diff(string(x), string(y)))
	}
}

// rendered lays the plan out; every file of it is YAML.
func (j *judge) rendered() {
	j.Helper()
	tree, err := generators.Render(j.plan)
	if err != nil {
		j.failf("%v", err)
	}
	if err := review.Render(j.profile, j.plan, j.plan.Findings, nil, tree); err != nil {
		j.failf("%v", err)
	}
	for _, f := range tree.Files() {
		j.readable(f.Path, string(f.Data))
		if path.Ext(f.Path) != ".yaml" {
			continue
		}
		var object any
		if err := yaml.Unmarshal(f.Data, &object); err != nil || object == nil {
			j.failf("%s: %v: %s", f.Path, err, f.Data)
		}
		j.scaledDown(f.Path, object)
	}
}

// scaledDown holds that istiod loses at most a tenth of its pods a minute, after
// ten quiet minutes, and has no fewer than the floor and no more than the ceiling.
func (j *judge) scaledDown(file string, object any) {
	j.Helper()
	if path.Base(file) != "scaledobject-"+j.plan.Istiod.Deployment+".yaml" || path.Base(path.Dir(file)) != "istiod" {
		return
	}
	spec := under(object, "spec")
	down := under(spec, "advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleDown")
	policies, _ := down["policies"].([]any)
	policy := under(policies[0])
	if down["stabilizationWindowSeconds"] != 600 || len(policies) != 1 || policy["type"] != "Percent" || policy["value"] != 10 || policy["periodSeconds"] != 60 {
		j.failf("scale-down is %v", down)
	}
	for field, subject := range map[string]string{"minReplicaCount": "istiod.replicas.min", "maxReplicaCount": "istiod.replicas.max"} {
		if n, _ := j.whole(subject); fmt.Sprint(spec[field]) != fmt.Sprint(n) {
			j.failf("%s is %v, want %d", field, spec[field], n)
		}
	}
}

// under is the mapping at a path.
func under(object any, path ...string) map[string]any {
	m, _ := object.(map[string]any)
	for _, key := range path {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// whole is the value of a decision; ok is false where there is none.
func (j *judge) whole(subject string) (n int64, ok bool) {
	n, ok = j.decided[subject].Value.(int64)
	return n, ok
}

func (j *judge) want(subject string, want any) {
	j.Helper()
	if d, ok := j.decided[subject]; !ok || d.Value != want {
		j.failf("%s is %v, want %v", subject, d.Value, want)
	}
}

func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }
