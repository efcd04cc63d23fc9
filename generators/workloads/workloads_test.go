package workloads

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
)

// shop has one workload of each sort; each reason tells where it belongs.
func shop() *plan.Plan {
	zones := []plan.Spread{
		{TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: "DoNotSchedule", MaxSkew: 1},
		{TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway", MaxSkew: 1},
	}
	sale := plan.Trigger{Name: "event_sale", Query: "vector(20 * 1)", Threshold: 1, Replicas: 20, Reason: "why sale"}
	lunch := plan.Trigger{Name: "event_lunch", Start: "0 11 * * 1-5", End: "0 13 * * 1-5", TimeZone: "Asia/Seoul", Replicas: 9, Reason: "why lunch"}
	return &plan.Plan{
		Cluster: "mesh", Bases: plan.Bases{Namespaced: true},
		Istiod: plan.Istiod{ServerAddress: "http://prometheus:9090"},
		Workloads: []plan.Workload{
			{
				Namespace: "data", Name: "queue", Kind: "StatefulSet", Labels: map[string]string{"app": "queue"}, Spread: zones[1:], SpreadReason: "why spread",
				Scaling: &plan.Scaling{
					Name: "queue-scaler", Extends: true, Min: 3, Max: 30, MinReason: "why min", MaxReason: "why max",
					Fallback: 20, Triggers: []plan.Trigger{lunch, sale},
				},
			},
			{
				Namespace: "shop", Name: "cart", Kind: "Deployment", Container: "app", Labels: map[string]string{"app": "cart"}, Spread: zones, SpreadReason: "why spread",
				Scaling: &plan.Scaling{
					Name: "cart", HPA: "cart-hpa", Min: 6, Max: 60, MinReason: "why min", MaxReason: "why max", Fallback: 20,
					CPUUtilization: 60, MemoryUtilization: 80, Triggers: []plan.Trigger{sale},
				},
			},
			{
				Namespace: "shop", Name: "search", Kind: "Deployment",
				Scaling: &plan.Scaling{Name: "search", Min: 2, Max: 4, MinReason: "why min", MaxReason: "why max", CPUUtilization: 60},
			},
		},
		Routes: []plan.Route{
			{Namespace: "shop", Name: "cart", TrafficDistribution: "PreferSameZone", Reason: "why same zone"},
			{Namespace: "shop", Name: "old", Reason: "why not"},
		},
	}
}

// render is what follows each file's header, by path.
func render(t *testing.T, p *plan.Plan) map[string]string {
	t.Helper()
	files, err := Render(p)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		_, all[f.Path], _ = strings.Cut(string(f.Data), "\n\n")
	}
	return all
}

const wantReferences = `nameReference:
  - kind: Deployment
    group: apps
    fieldSpecs:
      - kind: ScaledObject
        group: keda.sh
        path: spec/scaleTargetRef/name
  - kind: StatefulSet
    group: apps
    fieldSpecs:
      - kind: ScaledObject
        group: keda.sh
        path: spec/scaleTargetRef/name
`

var want = map[string]string{
	"mesh/workloads/shop/kustomization.yaml": `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
  - scaledobject-cart.yaml
  - scaledobject-search.yaml
patches:
  - path: deployment-cart.yaml
  - path: horizontalpodautoscaler-cart-hpa.yaml
  - path: service-cart.yaml
  - path: service-old.yaml
configurations:
  - namereference.yaml
`,
	"mesh/workloads/shop/deployment-cart.yaml": `# An empty list first: kustomize replaces none that is not there.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
  namespace: shop
spec:
  template:
    spec:
      topologySpreadConstraints: []
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
  namespace: shop
spec:
  template:
    spec:
      # why spread
      topologySpreadConstraints:
        - $patch: replace
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app: cart
          nodeTaintsPolicy: Honor
          matchLabelKeys:
            - pod-template-hash
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              app: cart
          nodeTaintsPolicy: Honor
          matchLabelKeys:
            - pod-template-hash
`,
	"mesh/workloads/shop/service-cart.yaml": `apiVersion: v1
kind: Service
metadata:
  name: cart
  namespace: shop
  # either annotation beats the field, even where it achieves nothing
  annotations:
    service.kubernetes.io/topology-mode: null
    service.kubernetes.io/topology-aware-hints: null
spec:
  # why same zone
  trafficDistribution: PreferSameZone
`,
	"mesh/workloads/shop/service-old.yaml": `apiVersion: v1
kind: Service
metadata:
  name: old
  namespace: shop
  # either annotation beats the field, even where it achieves nothing
  annotations:
    service.kubernetes.io/topology-mode: null
    service.kubernetes.io/topology-aware-hints: null
spec:
  # why not
  trafficDistribution: null
`,
	"mesh/workloads/shop/horizontalpodautoscaler-cart-hpa.yaml": `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: cart-hpa
  namespace: shop
# KEDA makes the HPA of this name, with the same metrics: the ScaledObject beside this file
$patch: delete
`,
	"mesh/workloads/shop/scaledobject-cart.yaml": `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: cart
  namespace: shop
  labels:
    app.kubernetes.io/managed-by: meshgen
  # KEDA takes over the HPA that runs, by its name; two autoscalers would fight
  annotations:
    scaledobject.keda.sh/transfer-hpa-ownership: "true"
spec:
  scaleTargetRef:
    name: cart
    apiVersion: apps/v1
    kind: Deployment
  # why min
  minReplicaCount: 6
  # why max
  maxReplicaCount: 60
  triggers:
    - type: cpu
      name: cpu
      metadata:
        containerName: app
        value: "60"
      metricType: Utilization
    - type: memory
      name: memory
      metadata:
        containerName: app
        value: "80"
      metricType: Utilization
    # why sale
    - type: prometheus
      name: event_sale
      metadata:
        ignoreNullValues: "false"
        query: vector(20 * 1)
        serverAddress: http://prometheus:9090
        threshold: "1"
      metricType: AverageValue
  # with Prometheus down the largest event is still met, and nothing is scaled in
  fallback:
    failureThreshold: 3
    replicas: 20
    behavior: currentReplicasIfHigher
  advanced:
    horizontalPodAutoscalerConfig:
      name: cart-hpa
`,
	"mesh/workloads/shop/scaledobject-search.yaml": `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: search
  namespace: shop
  labels:
    app.kubernetes.io/managed-by: meshgen
spec:
  scaleTargetRef:
    name: search
    apiVersion: apps/v1
    kind: Deployment
  # why min
  minReplicaCount: 2
  # why max
  maxReplicaCount: 4
  triggers:
    - type: cpu
      name: cpu
      metadata:
        value: "60"
      metricType: Utilization
`,
	"mesh/workloads/shop/namereference.yaml": wantReferences,
	"mesh/workloads/data/kustomization.yaml": `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - path: scaledobject-queue-scaler.yaml
  - path: statefulset-queue.yaml
  - path: triggers-queue-scaler.yaml
    target:
      group: keda.sh
      version: v1alpha1
      kind: ScaledObject
      name: queue-scaler
      namespace: data
configurations:
  - namereference.yaml
`,
	"mesh/workloads/data/namereference.yaml": wantReferences,
	"mesh/workloads/data/statefulset-queue.yaml": `# An empty list first: kustomize replaces none that is not there.
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: queue
  namespace: data
spec:
  template:
    spec:
      topologySpreadConstraints: []
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: queue
  namespace: data
spec:
  template:
    spec:
      # why spread
      topologySpreadConstraints:
        - $patch: replace
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              app: queue
          nodeTaintsPolicy: Honor
          matchLabelKeys:
            - controller-revision-hash
`,
	"mesh/workloads/data/scaledobject-queue-scaler.yaml": `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: queue-scaler
  namespace: data
spec:
  # why min
  minReplicaCount: 3
  # why max
  maxReplicaCount: 30
  # with Prometheus down the largest event is still met, and nothing is scaled in
  fallback:
    failureThreshold: 3
    replicas: 20
    behavior: currentReplicasIfHigher
`,
	"mesh/workloads/data/triggers-queue-scaler.yaml": `# why lunch
- op: add
  path: /spec/triggers/-
  value:
    type: cron
    name: event_lunch
    metadata:
      desiredReplicas: "9"
      end: 0 13 * * 1-5
      start: 0 11 * * 1-5
      timezone: Asia/Seoul
    metricType: AverageValue
# why sale
- op: add
  path: /spec/triggers/-
  value:
    type: prometheus
    name: event_sale
    metadata:
      ignoreNullValues: "false"
      query: vector(20 * 1)
      serverAddress: http://prometheus:9090
      threshold: "1"
    metricType: AverageValue
`,
}

func TestRenderWritesAComponentForEachNamespace(t *testing.T) {
	if diff := cmp.Diff(want, render(t, shop())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNothingIsWrittenWhereNothingIsDecided(t *testing.T) {
	if files := render(t, &plan.Plan{Cluster: "mesh"}); len(files) > 0 {
		t.Errorf("got %v", files)
	}
}

// Without namespaces in the bases kustomize finds no object that a patch with
// one is aimed at.
func TestBasesWithoutNamespacesArePatchedWithout(t *testing.T) {
	p := shop()
	p.Bases.Namespaced = false
	for path, text := range render(t, p) {
		if strings.Contains(text, "namespace:") {
			t.Errorf("%s has a namespace:\n%s", path, text)
		}
	}
}

func TestNothingSetsReplicas(t *testing.T) {
	for path, text := range render(t, shop()) {
		fallback := strings.ReplaceAll(text, "    replicas: 20\n", "")
		if strings.Contains(fallback, "replicas:") {
			t.Errorf("%s writes replicas, which the autoscaler owns:\n%s", path, text)
		}
	}
}

func TestRenderRefusesWhatNoObjectCanSay(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*plan.Plan)
		want string
	}{
		"a workload of another kind": {func(p *plan.Plan) { p.Workloads[1].Kind = "DaemonSet" }, `namespace shop: workload cart is a "DaemonSet"`},
		"more replicas than fit":     {func(p *plan.Plan) { p.Workloads[2].Scaling.Max = 1 << 40 }, "workload/shop/search.replicas.max is 1099511627776"},
		"a bound without a reason":   {func(p *plan.Plan) { p.Workloads[2].Scaling.MinReason = "" }, "no words in the reason of spec.minReplicaCount"},
		"a route without a reason":   {func(p *plan.Plan) { p.Routes[0].Reason = " " }, "no words in the reason of spec.trafficDistribution"},
	} {
		t.Run(name, func(t *testing.T) {
			p := shop()
			c.bend(p)
			if _, err := Render(p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestPatchesAreSortedWhateverTheOrderOfThePlan(t *testing.T) {
	p := shop()
	slices.Reverse(p.Workloads)
	slices.Reverse(p.Routes)
	if diff := cmp.Diff(render(t, shop()), render(t, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
