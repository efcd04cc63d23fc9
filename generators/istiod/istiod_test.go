package istiod

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
)

// tiny is the least plan that has everything; each reason is its subject.
func tiny() *plan.Plan {
	p := &plan.Plan{Cluster: "mesh", Istiod: plan.Istiod{
		Deployment: "istiod", Namespace: "istio-system", CPU: "2", Memory: "1Gi", HardZoneSpread: true,
		PriorityClass: "system-cluster-critical", ServerAddress: "http://prometheus:9090",
		Triggers: []plan.Trigger{
			{Name: "connections", Query: "ceil(1)", Threshold: 250, Reason: "why connections"},
			{Name: "evening", Start: "30 17 * * 1-5", End: "0 22 * * 1-5", TimeZone: "Europe/Berlin", Replicas: 12, Reason: "why evening"},
		},
	}}
	for _, d := range []struct {
		subject string
		value   any
	}{
		{"istiod.cpu", int64(2)},
		{"istiod.replicas.min", int64(6)},
		{"istiod.replicas.max", int64(24)},
		{"istiod.fallback.replicas", int64(12)},
		{"istiod.keepaliveMaxServerConnectionAge", "15m"},
		{"istiod.podDisruptionBudget.maxUnavailable", int64(1)},
		{"istiod.rollout.maxSurge", "25%"},
		{"istiod.scaleUp.stabilizationWindow", "75s"},
		{"istiod.topologySpreadConstraints", []string{"zone"}},
	} {
		p.Decisions = append(p.Decisions, plan.Decision{Subject: d.subject, Value: d.value, Reason: "why " + d.subject})
	}
	return p
}

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

const wantValues = `# the ScaledObject scales istiod; the chart's own HPA would fight it
autoscaleEnabled: false
# 0 leaves spec.replicas out: the autoscaler owns it, and each sync would reset it
replicaCount: 0
# why istiod.rollout.maxSurge
rollingMaxSurge: 25%
rollingMaxUnavailable: 0
# why istiod.keepaliveMaxServerConnectionAge
keepaliveMaxServerConnectionAge: 15m
resources:
  # as the limits: the chart merges its own 2048Mi under a missing request, more than a smaller limit
  requests:
    cpu: "2"
    memory: 1Gi
  limits:
    # why istiod.cpu
    cpu: "2"
    memory: 1Gi
topologySpreadConstraints:
  # why istiod.topologySpreadConstraints
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector:
      matchLabels:
        app: istiod
        istio.io/rev: default
    nodeTaintsPolicy: Honor
    matchLabelKeys:
      - pod-template-hash
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        app: istiod
        istio.io/rev: default
    matchLabelKeys:
      - pod-template-hash
global:
  # no new pod starts without istiod's injection webhook
  priorityClassName: system-cluster-critical
  # a guard for charts up to Istio 1.27: their budget lets drains evict all pods but one, and two
  # budgets on a pod stop every drain; ours stands beside this file
  defaultPodDisruptionBudget:
    enabled: false
`

const wantScaledObject = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: istiod
  namespace: istio-system
  labels:
    app.kubernetes.io/managed-by: meshgen
spec:
  scaleTargetRef:
    name: istiod
    apiVersion: apps/v1
    kind: Deployment
  # why istiod.replicas.min
  minReplicaCount: 6
  # why istiod.replicas.max
  maxReplicaCount: 24
  triggers:
    # why connections
    - type: prometheus
      name: connections
      metadata:
        ignoreNullValues: "false"
        query: ceil(1)
        serverAddress: http://prometheus:9090
        threshold: "250"
      metricType: AverageValue
    # why evening
    - type: cron
      name: evening
      metadata:
        desiredReplicas: "12"
        end: 0 22 * * 1-5
        start: 30 17 * * 1-5
        timezone: Europe/Berlin
      metricType: AverageValue
  # why istiod.fallback.replicas
  fallback:
    failureThreshold: 3
    replicas: 12
    behavior: currentReplicasIfHigher
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        # why istiod.scaleUp.stabilizationWindow
        scaleUp:
          stabilizationWindowSeconds: 75
          selectPolicy: Max
          policies:
            - type: Percent
              value: 100
              periodSeconds: 15
            - type: Pods
              value: 4
              periodSeconds: 15
        # a pod that goes drops its connections at one instant: at most a tenth a minute, after ten quiet
        # minutes
        scaleDown:
          stabilizationWindowSeconds: 600
          policies:
            - type: Percent
              value: 10
              periodSeconds: 60
`

const wantBudget = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: istiod
  namespace: istio-system
  labels:
    app.kubernetes.io/managed-by: meshgen
spec:
  selector:
    matchLabels:
      app: istiod
      istio.io/rev: default
  # why istiod.podDisruptionBudget.maxUnavailable
  maxUnavailable: 1
  # a pod that serves nobody must not hold up a drain
  unhealthyPodEvictionPolicy: AlwaysAllow
`

const wantKustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - poddisruptionbudget-istiod.yaml
  - scaledobject-istiod.yaml
`

func TestRenderLaysOutThePlan(t *testing.T) {
	want := map[string]string{
		"mesh/istiod/values.yaml": wantValues, "mesh/istiod/scaledobject-istiod.yaml": wantScaledObject,
		"mesh/istiod/poddisruptionbudget-istiod.yaml": wantBudget, "mesh/istiod/kustomization.yaml": wantKustomization,
	}
	if diff := cmp.Diff(want, render(t, tiny())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRenderFollowsTheFactsOfThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i *plan.Istiod)
		file   string
		want   []string // parts of the file
		not    string   // a part that must not be
	}{
		"a revision is in the chart's values": {
			revisioned, "values.yaml", []string{"revision: \"1-31\"\n", "      matchLabels:\n        app: istiod\n        istio.io/rev: \"1-31\"\n"}, "istio.io/rev: default",
		},
		"a revision names the target and the object": {
			revisioned, "scaledobject-istiod-1-31.yaml", []string{"metadata:\n  name: istiod-1-31\n", "  scaleTargetRef:\n    name: istiod-1-31\n"}, "name: istiod\n",
		},
		"a revision selects the budget's pods": {
			revisioned, "poddisruptionbudget-istiod-1-31.yaml", []string{"  name: istiod-1-31\n", "istio.io/rev: \"1-31\"\n"}, "",
		},
		"a revision is in the file names that the kustomization lists": {
			revisioned, "kustomization.yaml", []string{"  - poddisruptionbudget-istiod-1-31.yaml\n  - scaledobject-istiod-1-31.yaml\n"}, "",
		},
		"without a need for equal zones the constraint is soft": {
			func(i *plan.Istiod) { i.HardZoneSpread = false }, "values.yaml", []string{"whenUnsatisfiable: ScheduleAnyway"}, "DoNotSchedule",
		},
		"dedicated pools are kept off, one expression a label with sorted values": {
			func(i *plan.Istiod) {
				i.DedicatedPools = []plan.DedicatedPool{
					{Name: "gw", Labels: map[string]string{"pool": "gateways", "arch": "arm64"}},
					{Name: "db", Labels: map[string]string{"pool": "databases"}},
					{Name: "tainted only"},
				}
			},
			"values.yaml",
			[]string{`affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            - key: arch
              operator: NotIn
              values:
                - arm64
            - key: pool
              operator: NotIn
              values:
                - databases
                - gateways
`},
			"tainted only",
		},
		"pools without a label of their own need no affinity": {
			func(i *plan.Istiod) { i.DedicatedPools = []plan.DedicatedPool{{Name: "tainted only"}} }, "values.yaml", nil, "affinity",
		},
		"tolerations are those that are given": {
			func(i *plan.Istiod) {
				i.Tolerations = []plan.Toleration{{Key: "dedicated", Operator: "Equal", Value: "on", Effect: "NoSchedule"}}
			},
			"values.yaml",
			[]string{"tolerations:\n  - key: dedicated\n    operator: Equal\n    value: \"on\"\n    effect: NoSchedule\n"},
			"",
		},
		"a TriggerAuthentication goes to prometheus triggers": {
			func(i *plan.Istiod) {
				i.AuthenticationRef = &plan.AuthenticationRef{Name: "prom", Kind: "ClusterTriggerAuthentication"}
			},
			"scaledobject-istiod.yaml",
			[]string{"    - type: prometheus\n", "      authenticationRef:\n        name: prom\n        kind: ClusterTriggerAuthentication\n      metricType: AverageValue\n    # why evening\n"},
			"",
		},
		"a name that leaves no room for KEDA's prefix names the HPA itself": {
			func(i *plan.Istiod) { i.Deployment = "istiod-" + strings.Repeat("r", 48) },
			"scaledobject-istiod-" + strings.Repeat("r", 48) + ".yaml",
			[]string{"          periodSeconds: 60\n      name: istiod-" + strings.Repeat("r", 48) + "\n"},
			"",
		},
		"a name of 54 characters leaves room for it": {
			func(i *plan.Istiod) { i.Deployment = "istiod-" + strings.Repeat("r", 47) },
			"scaledobject-istiod-" + strings.Repeat("r", 47) + ".yaml",
			[]string{"    horizontalPodAutoscalerConfig:\n      behavior:\n"},
			"      name: istiod",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tiny()
			c.change(&p.Istiod)
			got, ok := render(t, p)["mesh/istiod/"+c.file]
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

func revisioned(i *plan.Istiod) { i.Revision, i.Deployment = "1-31", "istiod-1-31" }

func TestRenderRefusesAPlanThatSaysTooLittle(t *testing.T) {
	for name, c := range map[string]struct {
		subject string
		value   any
		reason  string
		want    string
	}{
		"no value":                            {"istiod.replicas.min", nil, "why", "istiod.replicas.min is <nil>, not a whole number"},
		"a number that no object can hold":    {"istiod.replicas.max", int64(1) << 40, "why", "istiod.replicas.max is 1099511627776"},
		"a window that is no duration":        {"istiod.scaleUp.stabilizationWindow", "soon", "why", `invalid duration "soon"`},
		"a decision without a reason":         {"istiod.fallback.replicas", int64(12), "", "no words in the reason of spec.fallback"},
		"a text where a number is looked for": {"istiod.podDisruptionBudget.maxUnavailable", "10%", "why", "is 10%, not a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			p := tiny()
			for i, d := range p.Decisions {
				if d.Subject == c.subject {
					p.Decisions[i].Value, p.Decisions[i].Reason = c.value, c.reason
				}
			}
			files, err := Render(p)
			if err == nil || !strings.Contains(err.Error(), c.want) || files != nil {
				t.Errorf("got %d files and %v, want %s", len(files), err, c.want)
			}
		})
	}
}
