package argocd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/plan"
)

func sale() plan.Freeze {
	return plan.Freeze{Event: "sale", Span: calendar.Span{
		Start: time.Date(2026, 12, 19, 5, 1, 0, 0, time.UTC), End: time.Date(2026, 12, 19, 12, 0, 0, 0, time.UTC),
	}}
}

func prod() *plan.Plan {
	return &plan.Plan{
		Cluster: "prod",
		Istiod:  plan.Istiod{Deployment: "istiod", Namespace: "istio-system"},
		Freezes: []plan.Freeze{sale()},
		Scopes: []plan.Scope{
			{Namespace: "shop", Name: "cart", Rollout: "live"},
			{Namespace: "shop", Name: "default", Rollout: "live"},
			{Namespace: "billing", Name: "default", Rollout: "canary"},
			{Namespace: "reported", Name: "default", Rollout: "report"},
		},
		ArgoCD: &plan.ArgoCD{
			Namespace: "argocd", Repository: "https://git.example.com/mesh.git", Revision: "main", Folder: "clusters/golden/prod",
			Project: "mesh-prod", ManagesProject: true, Server: "https://kubernetes.default.svc",
			Chart:    plan.Chart{Repository: "https://charts.example.com", Version: "1.31.2"},
			Overlays: []plan.Overlay{{Namespace: "shop", Folder: "apps/shop", Scaled: []plan.Scaled{{Kind: "StatefulSet", Name: "cart"}}}},
		},
	}
}

func render(t *testing.T, p *plan.Plan) map[string]string {
	t.Helper()
	files, err := Render(p)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Path, "prod/argocd/")
		if !ok {
			t.Fatalf("%s is not below prod/argocd", f.Path)
		}
		_, all[name], _ = strings.Cut(string(f.Data), "\n\n")
	}
	return all
}

const wantWorkloads = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: prod-workloads-shop
  namespace: argocd
  labels:
    app.kubernetes.io/managed-by: meshgen
  annotations:
    argocd.argoproj.io/sync-wave: "1"
spec:
  project: mesh-prod
  destination:
    server: https://kubernetes.default.svc
    namespace: shop
  source:
    repoURL: https://git.example.com/mesh.git
    targetRevision: main
    path: apps/shop
    # the Component from clusters/golden/prod/workloads/shop
    kustomize:
      components:
        - ../../clusters/golden/prod/workloads/shop
  # autoscalers own the replicas
  ignoreDifferences:
    - group: apps
      kind: StatefulSet
      name: cart
      namespace: shop
      jsonPointers:
        - /spec/replicas
  syncPolicy:
    syncOptions:
      # fields that another tool has set are taken over, and lists merge by their keys
      - ServerSideApply=true
      # without it a sync writes what is ignored
      - RespectIgnoreDifferences=true
      # an HPA that KEDA takes over goes when KEDA has it, and comes back
      - PruneLast=true
`

const wantKustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - appproject-mesh-prod.yaml
  - application-prod-istiod.yaml
  - application-prod-workloads-shop.yaml
  - application-prod-mesh-billing.yaml
  - application-prod-mesh-shop.yaml
`

func TestRenderWritesAnApplicationForEachPart(t *testing.T) {
	got := render(t, prod())
	for name, want := range map[string]string{"application-prod-workloads-shop.yaml": wantWorkloads, "kustomization.yaml": wantKustomization} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d files, want the five that are listed and the list", len(got))
	}
}

func TestRenderFollowsTheFactsOfThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Plan)
		file   string
		want   []string // parts of the file
		not    string   // a part that must not be
	}{
		"the chart is pinned, and its values come from the repository": {
			nil, "application-prod-istiod.yaml",
			[]string{"chart: istiod\n", "targetRevision: \"1.31.2\"\n", "releaseName: istiod\n", "          - $values/clusters/golden/prod/istiod/values.yaml\n", "      path: clusters/golden/prod/istiod\n      ref: values\n"},
			"automated",
		},
		"the user's values files are below ours, in their order": {
			func(p *plan.Plan) { p.ArgoCD.Values = []string{"profiles/b.yaml", "profiles/a.yaml"} }, "application-prod-istiod.yaml",
			[]string{"          - $values/profiles/b.yaml\n          - $values/profiles/a.yaml\n          - $values/clusters/golden/prod/istiod/values.yaml\n"},
			"",
		},
		"istiod's replicas are its autoscaler's, and syncs respect it": {
			nil, "application-prod-istiod.yaml",
			[]string{"      name: istiod\n      namespace: istio-system\n      jsonPointers:\n        - /spec/replicas\n", "- ServerSideApply=true\n", "- RespectIgnoreDifferences=true\n"},
			"PruneLast",
		},
		"a revision is in the release and in the replicas that are ignored": {
			func(p *plan.Plan) { p.Istiod.Deployment = "istiod-1-31" }, "application-prod-istiod.yaml",
			[]string{"releaseName: istiod-1-31\n", "      name: istiod-1-31\n"},
			"",
		},
		"a cluster that has a name": {
			func(p *plan.Plan) { p.ArgoCD.Server, p.ArgoCD.Name = "", "prod-eu" }, "application-prod-istiod.yaml",
			[]string{"  destination:\n    name: prod-eu\n    namespace: istio-system\n"},
			"server:",
		},
		"Argo CD syncs by itself where it is asked to": {
			func(p *plan.Plan) { p.ArgoCD.Automated = true }, "application-prod-mesh-shop.yaml",
			[]string{"    automated:\n      prune: true\n      selfHeal: true\n"},
			"",
		},
		"the first namespace's scopes come after the workloads": {
			nil, "application-prod-mesh-billing.yaml",
			[]string{"sync-wave: \"2\"\n", "    namespace: billing\n", "    path: clusters/golden/prod/mesh/billing\n"},
			"ignoreDifferences",
		},
		"the next namespace's scopes come after the first's": {
			nil, "application-prod-mesh-shop.yaml", []string{"sync-wave: \"3\"\n"}, "",
		},
		"the project may write to what the Applications name, and no further": {
			nil, "appproject-mesh-prod.yaml",
			[]string{
				"  sourceRepos:\n    - https://charts.example.com\n    - https://git.example.com/mesh.git\n",
				"    - server: https://kubernetes.default.svc\n      namespace: billing\n    - server: https://kubernetes.default.svc\n      namespace: istio-system\n    - server: https://kubernetes.default.svc\n      namespace: shop\n",
			},
			"'*'",
		},
		"a freeze stops istiod and scopes, people's syncs too": {
			nil, "appproject-mesh-prod.yaml",
			[]string{"    - kind: deny\n      schedule: 1 5 19 12 *\n      duration: 6h59m\n      timeZone: UTC\n      applications:\n        - prod-istiod\n        - prod-mesh-*\n", "      manualSync: false\n"},
			"syncOverrun",
		},
		"a freeze says for which year it is": {
			nil, "appproject-mesh-prod.yaml",
			[]string{"    # for 2026 alone, and cron has no year: the window stays until event sale is deleted from the profile\n", "description: 'event sale of 2026: no istiod rollout and no new scope'\n"},
			"",
		},
		"from Argo CD 3.5 on a sync that has begun may end": {
			func(p *plan.Plan) { p.ArgoCD.Overruns = true }, "appproject-mesh-prod.yaml", []string{"      syncOverrun: true\n"}, "",
		},
		"without dated events there is no window": {
			func(p *plan.Plan) { p.Freezes = nil }, "appproject-mesh-prod.yaml", nil, "syncWindows",
		},
		"a namespace's own kustomization may hold the namespace": {
			nil, "appproject-mesh-prod.yaml", []string{"    - group: \"\"\n      kind: Namespace\n"}, "",
		},
		"without one the project creates no namespace": {
			func(p *plan.Plan) { p.ArgoCD.Overlays = nil }, "appproject-mesh-prod.yaml", nil, "kind: Namespace",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := prod()
			if c.change != nil {
				c.change(p)
			}
			got, ok := render(t, p)[c.file]
			if !ok {
				t.Fatalf("no file %s", c.file)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no\n%s\nin\n%s", want, got)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("there is %q in\n%s", c.not, got)
			}
		})
	}
}

func TestAProjectOfSomebodyElseIsNotWritten(t *testing.T) {
	p := prod()
	p.ArgoCD.ManagesProject = false
	got := render(t, p)
	if _, ok := got["appproject-mesh-prod.yaml"]; ok || strings.Contains(got["kustomization.yaml"], "appproject") {
		t.Error("it is written")
	}
}

// A cascade would delete istiod with its Application.
func TestNoApplicationDeletesWhatItApplied(t *testing.T) {
	for name, text := range render(t, prod()) {
		if strings.Contains(text, "finalizers") {
			t.Errorf("%s has a finalizer", name)
		}
	}
}

func TestWithoutArgoCDThereIsNoFile(t *testing.T) {
	p := prod()
	p.ArgoCD = nil
	if files, err := Render(p); err != nil || files != nil {
		t.Errorf("got %d files and %v", len(files), err)
	}
}

func TestOrderOfScopesIsThatOfTheirNames(t *testing.T) {
	p := prod()
	slices.Reverse(p.Scopes)
	if diff := cmp.Diff(render(t, prod()), render(t, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
