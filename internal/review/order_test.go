package review

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/plan"
)

func adopted() *plan.Plan {
	p := planned(
		plan.Decision{Subject: "istiod.replicas.min", Value: int64(24)}, plan.Decision{Subject: "istiod.replicas.max", Value: int64(92)},
		plan.Decision{Subject: "istiod.freeze.sale", Value: "2026-12-19T05:01:00Z/2026-12-19T12:00:00Z"},
	)
	p.Freezes = []plan.Freeze{{Event: "sale", Span: calendar.Span{
		Start: time.Date(2026, 12, 19, 5, 1, 0, 0, time.UTC), End: time.Date(2026, 12, 19, 12, 0, 0, 0, time.UTC),
	}}}
	p.Workloads = []plan.Workload{{Namespace: "shop", Name: "cart"}}
	p.Routes = []plan.Route{{Namespace: "web", Name: "front"}}
	p.Scopes = []plan.Scope{{Namespace: "shop", Rollout: "live"}, {Namespace: "billing", Rollout: "canary"}, {Namespace: "web", Rollout: "report"}}
	return p
}

func withArgoCD(p *plan.Plan) *plan.Plan {
	p.ArgoCD = &plan.ArgoCD{Project: "mesh", ManagesProject: true, Overlays: []plan.Overlay{{Namespace: "shop", Folder: "apps/shop"}}}
	return p
}

func automated(p *plan.Plan) *plan.Plan {
	p = withArgoCD(p)
	p.ArgoCD.Automated = true
	return p
}

// bold are the words that begin the steps, in their order, and those that begin
// the waves within one.
func bold(text string) []string {
	var all []string
	for i, part := range strings.Split(text, "**") {
		if i%2 == 1 {
			all = append(all, strings.TrimSuffix(part, "."))
		}
	}
	return all
}

func TestBudgetsAndReplicasComeBeforeThresholdsAndScopesLast(t *testing.T) {
	for name, c := range map[string]struct {
		plan *plan.Plan
		want []string
	}{
		"by hand":      {adopted(), []string{"Replicas", "Values", "Budget", "Thresholds", "Workloads", "Sidecars"}},
		"with Argo CD": {withArgoCD(adopted()), []string{"Replicas", "Applications", "Nobody else", "istiod", "budget", "values", "thresholds", "Workloads", "Sidecars"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, bold(section(t, Markdown(c.plan, nil, nil), "Order of a first adoption"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheOrderOfAFirstAdoption(t *testing.T) {
	for name, c := range map[string]struct {
		plan *plan.Plan
		want []string // parts of the section
		not  string
	}{
		"never within a freeze": {
			adopted(), []string{"and none within a freeze (`2026-12-19T05:01:00Z/2026-12-19T12:00:00Z`)."}, "",
		},
		"a year without a freeze": {planned(), []string{"when the one before has settled.\n"}, "freeze"},
		"the floor and the ceiling that today's autoscaler is to have": {
			adopted(), []string{"keep at least 24 pods and allow 92"}, "",
		},
		"scopes go namespace by namespace": {adopted(), []string{"its scope lacks: `mesh/billing`, `mesh/shop`."}, "web`."},
		"scopes are Applications": {
			withArgoCD(adopted()), []string{"`mesh-mesh-billing`, `mesh-mesh-shop`."}, "",
		},
		"workloads that an Application applies, and those that wait for a line of the user's": {
			withArgoCD(adopted()),
			[]string{"Sync `mesh-workloads-shop` (it builds `apps/shop` with the Component). Add to your own kustomization `components: […/mesh/workloads/web]`."},
			"",
		},
		"Applications come before they are synced, with the project where it is written": {
			withArgoCD(adopted()), []string{"Run `kubectl apply -k mesh/argocd`", "it brings the project, with its freezes, and the Applications. Nothing is synced yet"}, "",
		},
		"Applications that would sync at once are rendered without it until the end": {
			automated(adopted()),
			[]string{"and the Applications. Render with `spec.argocd.automated: false` until the last step is done: they would sync at once."},
			"Nothing is synced yet",
		},
		"today's autoscaler holds istiod until the step after": {
			adopted(), []string{"wait until they are ready. A later step takes that autoscaler away; from then on, until the ScaledObject is there, nothing scales istiod"}, "may scale it",
		},
		"nothing of workloads and scopes": {planned(), []string{"Nothing is written for them.", "none is written yet."}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := section(t, Markdown(c.plan, nil, nil), "Order of a first adoption")
			for _, want := range c.want {
				if !strings.Contains(got+"\n", want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("there is %q in\n%s", c.not, got)
			}
		})
	}
}

func TestFreezesAreListedAsArgoCDHasThem(t *testing.T) {
	others := withArgoCD(adopted())
	others.ArgoCD.ManagesProject = false
	without := withArgoCD(adopted())
	without.Freezes = nil
	for name, c := range map[string]struct {
		plan  *plan.Plan
		parts []string
	}{
		"in a project of ours":       {withArgoCD(adopted()), []string{"Project `mesh` has these", "enable-manual-sync mesh ID", "| sale | `1 5 19 12 *` | 6h59m | 2026 |", "Delete the event when it is over"}},
		"in a project of others":     {others, []string{"Project `mesh` is not written here: add these sync windows", "| sale | `1 5 19 12 *` | 6h59m | 2026 |"}},
		"without Argo CD":            {adopted(), []string{"no section Freezes in Argo CD"}},
		"in a year without a freeze": {without, []string{"no section Freezes in Argo CD"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := section(t, Markdown(c.plan, nil, nil), "Freezes in Argo CD")
			for _, part := range c.parts {
				if !strings.Contains(got, part) {
					t.Errorf("no %q in\n%s", part, got)
				}
			}
		})
	}
}
