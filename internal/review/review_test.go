package review

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

func planned(decisions ...plan.Decision) *plan.Plan {
	return &plan.Plan{Cluster: "mesh", Istiod: plan.Istiod{Deployment: "istiod", Namespace: "istio-system"}, Decisions: decisions}
}

// section is what stands below a heading, without the empty lines around it.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, below, ok := strings.Cut(page, "\n## "+heading+"\n")
	if !ok {
		return "no section " + heading
	}
	text, _, _ := strings.Cut(below, "\n## ")
	return strings.TrimSpace(text)
}

func TestTheFirstScreen(t *testing.T) {
	threshold := plan.Decision{
		Subject: "istiod.connectionThreshold", Value: int64(80), Unit: "connections", Reason: "why | this",
		Running: &plan.Running{Value: int64(100), Verdict: plan.Unsafe},
	}
	age := plan.Decision{
		Subject: "istiod.keepaliveMaxServerConnectionAge", Value: "15m", Unit: "duration",
		Running: &plan.Running{Value: "15m", Verdict: plan.Same},
	}
	freeze := plan.Decision{Subject: "istiod.freeze.sale", Value: "2026-12-19T05:01:00Z/2026-12-19T12:00:00Z"}
	unsafe := diag.Finding{Severity: diag.Warning, ID: "plan/running-unsafe", Subject: threshold.Subject, Message: "94 % of the limit"}
	for name, c := range map[string]struct {
		plan          *plan.Plan
		found         diag.List
		heading, want string
	}{
		"what is unsafe, and by how much": {
			planned(threshold, age), diag.List{unsafe}, "Unsafe today", "- **94 % of the limit** (planned: 80 connections)",
		},
		"nothing is unsafe":             {planned(age), nil, "Unsafe today", "Nothing that the profile says of what runs today."},
		"nobody said what runs":         {planned(freeze), nil, "Unsafe today", "Unknown: the profile does not say what runs today (`spec.istiod.running`)."},
		"what does not change is told":  {planned(threshold, age), nil, "Changes against what runs", "| decision | runs | planned | verdict on what runs |\n| --- | --- | --- | --- |\n| `istiod.connectionThreshold` | 100 | 80 | unsafe |\n| `istiod.keepaliveMaxServerConnectionAge` | 15m | stays | same |"},
		"nothing changes":               {planned(age), nil, "Changes against what runs", "no section Changes against what runs"},
		"a freeze forbids the rollout":  {planned(threshold, freeze), nil, "What restarts", "- `istiod` rolls out once if its connection age, CPU, memory, spread, affinity or priority class differ from the values here, a quarter of the pods at a time.\n- No workload restarts.\n- **Not within 2026-12-19T05:01:00Z/2026-12-19T12:00:00Z** (event sale)."},
		"a bar in a cell stays a cell":  {planned(threshold), nil, "The numbers that matter", "| what | value | why |\n| --- | --- | --- |\n| `istiod.connectionThreshold` | 80 connections | why \\| this |"},
		"no findings":                   {planned(age), nil, "Findings", "None."},
		"no adoption where none is due": {planned(age), nil, "First adoption, in two steps", "no section First adoption, in two steps"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, section(t, Markdown(c.plan, c.found, nil), c.heading)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAConnectionAgeThatChangesRestartsIstiod(t *testing.T) {
	p := planned(plan.Decision{
		Subject: "istiod.keepaliveMaxServerConnectionAge", Value: "15m", Running: &plan.Running{Value: "30m", Verdict: plan.Unsafe},
	})
	want := "- `istiod` rolls out once, a quarter of the pods at a time: `istiod.keepaliveMaxServerConnectionAge` goes from 30m to 15m.\n- No workload restarts."
	if diff := cmp.Diff(want, section(t, Markdown(p, nil, nil), "What restarts")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplicasInTheManifestAreAdoptedInTwoSteps(t *testing.T) {
	p := planned(plan.Decision{Subject: "istiod.replicas.min", Value: int64(24), Unit: "replicas"})
	got := section(t, Markdown(p, diag.List{{ID: "plan/replicas-in-manifest"}}, nil), "First adoption, in two steps")
	for _, part := range []string{"   - 24 pods, `kubectl apply edit-last-applied deployment/istiod -n istio-system`, `kubectl scale deployment/istiod -n istio-system --replicas=N`\n2. Apply the rest", "-l owner=helm,name=RELEASE", "Do not do this within a freeze."} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

func TestTermsSayWhereTheyComeFrom(t *testing.T) {
	p := planned(plan.Decision{Subject: "istiod.x", Value: int64(1), Terms: []plan.Term{
		{Name: "a", Value: big.NewRat(1234567, 1000), Unit: "s", From: "spec.a", Default: true},
		{Name: "b", Value: big.NewRat(2469, 1), Formula: "2*a"},
		{Name: "c", Text: "memory"},
	}})
	want := "`istiod.x`\n\n| term | value | from |\n| --- | --- | --- |\n| `a` | 1235 s | spec.a (default) |\n| `b` | 2,469 | `2*a` |\n| `c` | memory |  |"
	if diff := cmp.Diff(want, section(t, Markdown(p, nil, nil), "Terms")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheLockListsEveryFileAndFollowsTheProfile(t *testing.T) {
	read := func(p *profile.Profile) lock {
		t.Helper()
		tree := &artifact.Tree{}
		if err := tree.Add(artifact.File{Path: "mesh/istiod/values.yaml", Owner: "istiod"}); err != nil {
			t.Fatal(err)
		}
		if err := Render(p, planned(), nil, nil, tree); err != nil {
			t.Fatal(err)
		}
		f, _ := tree.Get("mesh/" + LockFile)
		l := lock{}
		if err := json.Unmarshal(f.Data, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	p := &profile.Profile{APIVersion: "meshgen.dev/v1alpha1", Metadata: profile.Metadata{Name: "mesh"}}
	first := read(p)
	want := []string{"PLAN.md", "istiod/values.yaml", LockFile}
	if diff := cmp.Diff(want, first.Files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Spec.Istiod.Load.Connections = 7
	if second := read(p); second.Profile == first.Profile {
		t.Error("another profile has the same digest")
	}
}
