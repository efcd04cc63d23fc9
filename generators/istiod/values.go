package istiod

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/meshgen/meshgen/internal/plan"
)

// values are the keys of the istiod chart that meshgen owns, without any
// wrapper key. The chart has no schema: that each key has an effect is proven by
// rendering it.
type values struct {
	Revision              string                            `json:"revision,omitempty"`
	AutoscaleEnabled      bool                              `json:"autoscaleEnabled"`
	ReplicaCount          int                               `json:"replicaCount"`
	RollingMaxSurge       string                            `json:"rollingMaxSurge"`
	RollingMaxUnavailable int                               `json:"rollingMaxUnavailable"`
	KeepaliveAge          string                            `json:"keepaliveMaxServerConnectionAge"`
	Resources             resources                         `json:"resources"`
	Affinity              *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations           []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpread        []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints"`
	Global                global                            `json:"global"`
}

type resources struct {
	Requests amounts `json:"requests"`
	Limits   amounts `json:"limits"`
}

type amounts struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

type global struct {
	PriorityClassName          string  `json:"priorityClassName"`
	DefaultPodDisruptionBudget enabled `json:"defaultPodDisruptionBudget"`
}

type enabled struct {
	Enabled bool `json:"enabled"`
}

func (w *writer) values() {
	i := w.plan.Istiod
	each := amounts{CPU: i.CPU, Memory: i.Memory}
	v := values{
		Revision:        i.Revision,
		RollingMaxSurge: w.text("istiod.rollout.maxSurge"),
		KeepaliveAge:    w.text("istiod.keepaliveMaxServerConnectionAge"),
		Resources:       resources{Requests: each, Limits: each},
		Affinity:        affinity(i.DedicatedPools),
		TopologySpread:  w.spread(),
		Global:          global{PriorityClassName: i.PriorityClass},
	}
	for _, t := range i.Tolerations {
		v.Tolerations = append(v.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
		})
	}
	w.add("values.yaml", v, w.valueReasons(v))
}

func (w *writer) valueReasons(v values) map[string]string {
	reasons := map[string]string{
		"autoscaleEnabled":                "the ScaledObject scales istiod; the chart's own HPA would fight it",
		"replicaCount":                    "0 leaves spec.replicas out: the autoscaler owns it, and each sync would reset it",
		"rollingMaxSurge":                 w.reason("istiod.rollout.maxSurge"),
		"keepaliveMaxServerConnectionAge": w.reason("istiod.keepaliveMaxServerConnectionAge"),
		"resources.requests":              "as the limits: the chart merges its own 2048Mi under a missing request, more than a smaller limit",
		"resources.limits.cpu":            w.reason("istiod.cpu"),
		"topologySpreadConstraints[0]":    w.reason("istiod.topologySpreadConstraints"),
		"global.priorityClassName":        "no new pod starts without istiod's injection webhook",
		"global.defaultPodDisruptionBudget": "a guard for charts up to Istio 1.27: their budget lets drains evict all pods but one, and two budgets " +
			"on a pod stop every drain; ours stands beside this file",
	}
	if v.Affinity != nil {
		reasons["affinity"] = "never on a dedicated pool: istiod needs room to scale out on the day that fills it"
	}
	return reasons
}

// affinity keeps istiod off the dedicated pools by their labels. A pool without
// a label of its own is kept off by its taint alone.
func affinity(pools []plan.DedicatedPool) *corev1.Affinity {
	closed := map[string]map[string]bool{}
	for _, p := range pools {
		for key, value := range p.Labels {
			if closed[key] == nil {
				closed[key] = map[string]bool{}
			}
			closed[key][value] = true
		}
	}
	if len(closed) == 0 {
		return nil
	}
	var term corev1.NodeSelectorTerm
	for _, key := range slices.Sorted(maps.Keys(closed)) {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: slices.Sorted(maps.Keys(closed[key])),
		})
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
	}}
}

func (w *writer) spread() []corev1.TopologySpreadConstraint {
	zone := corev1.ScheduleAnyway
	if w.plan.Istiod.HardZoneSpread {
		zone = corev1.DoNotSchedule
	}
	honor, revision := corev1.NodeInclusionPolicyHonor, []string{"pod-template-hash"} // a rollout that counts old pods ends skewed
	selector := &metav1.LabelSelector{MatchLabels: w.podLabels()}
	return []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: zone, LabelSelector: selector, NodeTaintsPolicy: &honor, MatchLabelKeys: revision},
		{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector, MatchLabelKeys: revision},
	}
}
