package sidecar

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
)

const wantNamespace = `apiVersion: networking.istio.io/v1
kind: Sidecar
metadata:
  name: default
  namespace: shop
  labels:
    app.kubernetes.io/managed-by: meshgen
spec:
  egress:
    # why shop
    - hosts:
        - '*/api.example.com'
        - ./*
        - istio-system/*
`

const wantWorkload = `apiVersion: networking.istio.io/v1
kind: Sidecar
metadata:
  name: auth
  namespace: platform
  labels:
    app.kubernetes.io/managed-by: meshgen
spec:
  workloadSelector:
    labels:
      app: auth
      tier: "1"
  egress:
    # why auth
    - hosts:
        - ./auth.platform.svc.cluster.local
        - istio-system/*
`

const wantKustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - platform/sidecar-auth.yaml
  - shop/sidecar-default.yaml
`

func scopes() []plan.Scope {
	return []plan.Scope{
		{Namespace: "platform", Name: "audit", Hosts: []string{"./*"}, Rollout: "report", Reason: "why audit"},
		{
			Namespace: "platform", Name: "auth", Selector: map[string]string{"tier": "1", "app": "auth"}, Rollout: "canary",
			Hosts: []string{"./auth.platform.svc.cluster.local", "istio-system/*"}, Reason: "why auth",
		},
		{Namespace: "shop", Name: "default", Hosts: []string{"*/api.example.com", "./*", "istio-system/*"}, Rollout: "live", Reason: "why shop"},
	}
}

func TestRenderLaysOutTheScopesThatAreWritten(t *testing.T) {
	files, err := Render(&plan.Plan{Cluster: "prod", Scopes: scopes()})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range files {
		_, got[f.Path], _ = strings.Cut(string(f.Data), "\n\n")
	}
	want := map[string]string{
		"prod/mesh/kustomization.yaml":         wantKustomization,
		"prod/mesh/platform/sidecar-auth.yaml": wantWorkload,
		"prod/mesh/shop/sidecar-default.yaml":  wantNamespace,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWithoutAScopeThereIsNoFile(t *testing.T) {
	files, err := Render(&plan.Plan{Cluster: "prod", Scopes: scopes()[:1]})
	if err != nil || files != nil {
		t.Errorf("got %d files and %v", len(files), err)
	}
}

func TestRenderRefusesAScope(t *testing.T) {
	for name, c := range map[string]struct {
		scope plan.Scope
		want  string
	}{
		"without hosts":    {plan.Scope{Namespace: "shop", Name: "default", Rollout: "live", Reason: "why"}, "scope shop/default has no hosts"},
		"without a reason": {plan.Scope{Namespace: "shop", Name: "default", Rollout: "live", Hosts: []string{"./*"}}, "no words in the reason of spec.egress[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Render(&plan.Plan{Cluster: "prod", Scopes: []plan.Scope{c.scope}})
			if err == nil || !strings.Contains(err.Error(), c.want) || files != nil {
				t.Errorf("got %d files and %v, want %s", len(files), err, c.want)
			}
		})
	}
}
