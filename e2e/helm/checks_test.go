package helm_test

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// check says what of the installed istiod is not as it must be; nothing where
// all is well.
type check struct {
	name  string
	judge func(mesh, installed, *appsv1.Deployment) []string
}

// checks are what holds of istiod in every version of the chart.
func checks() []check {
	return []check{
		{"replicas", replicas},
		{"autoscaler", autoscaler},
		{"rollout", rollout},
		{"resources", resources},
		{"connection age", connectionAge},
		{"placement", placement},
		{"priority", priority},
		{"spread", spread},
		{"budget", budget},
	}
}

// judge are the complaints of all checks, each under its name.
func (m mesh) judge(i installed) map[string][]string {
	all := map[string][]string{}
	if len(i.deployments) != 1 || i.deployments[0].Name != m.deployment() || i.deployments[0].Namespace != m.profile.Istio.Namespace {
		all["deployment"] = []string{fmt.Sprintf("%d Deployments, want one, %s", len(i.deployments), m.deployment())}
		return all
	}
	for _, c := range checks() {
		if found := c.judge(m, i, i.deployments[0]); len(found) > 0 {
			all[c.name] = found
		}
	}
	return all
}

// differ is a complaint where a value is not the wanted one.
func differ(what string, got, want any) []string {
	if fmt.Sprint(got) == fmt.Sprint(want) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v, want %v", what, got, want)}
}

// planned is the value of a decision; nil where there is none.
func (m mesh) planned(subject string) any { return m.plan[subject].Value }

// replicas belong to the autoscaler, and the manifest has none.
func replicas(_ mesh, _ installed, d *appsv1.Deployment) []string {
	if d.Spec.Replicas == nil {
		return nil
	}
	return []string{fmt.Sprintf("spec.replicas is %d: each sync would reset the autoscaler's", *d.Spec.Replicas)}
}

// autoscaler is one: the ScaledObject, on the chart's Deployment.
func autoscaler(m mesh, i installed, d *appsv1.Deployment) []string {
	found := differ("autoscalers of the chart", i.scalers, []string(nil))
	if len(i.scaled) != 1 {
		return append(found, fmt.Sprintf("%d ScaledObjects, want 1", len(i.scaled)))
	}
	object := i.scaled[0]
	target := object.Spec.ScaleTargetRef
	return slices.Concat(found,
		differ("the ScaledObject's namespace", object.Metadata.Namespace, d.Namespace),
		differ("its target", target, struct{ APIVersion, Kind, Name string }{"apps/v1", "Deployment", d.Name}),
		differ("its floor", object.Spec.MinReplicaCount, m.planned("istiod.replicas.min")),
		differ("its ceiling", object.Spec.MaxReplicaCount, m.planned("istiod.replicas.max")),
	)
}

func rollout(m mesh, _ installed, d *appsv1.Deployment) []string {
	of := d.Spec.Strategy.RollingUpdate
	if of == nil {
		return []string{"no rolling update"}
	}
	return append(
		differ("maxSurge", of.MaxSurge.String(), m.planned("istiod.rollout.maxSurge")),
		differ("maxUnavailable", of.MaxUnavailable.String(), "0")...,
	)
}

// resources are whole cores and the profile's memory, requested in full. A
// request above its limit would be refused by the API server.
func resources(m mesh, _ installed, d *appsv1.Deployment) []string {
	of := discovery(d).Resources
	memory := resource.MustParse(m.profile.Istiod.Resources.Memory)
	var found []string
	for what, list := range map[string]corev1.ResourceList{"requests": of.Requests, "limits": of.Limits} {
		found = slices.Concat(found,
			differ(what+".cpu in thousandths", list.Cpu().MilliValue(), 1000*m.planned("istiod.cpu").(float64)),
			differ(what+".memory", list.Memory().Value(), memory.Value()),
		)
	}
	return found
}

// discovery is istiod's container.
func discovery(d *appsv1.Deployment) corev1.Container {
	at := slices.IndexFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "discovery" })
	return d.Spec.Template.Spec.Containers[at]
}

// ageFlag is the argument of istiod that the connection age is in.
const ageFlag = "--keepaliveMaxServerConnectionAge"

func connectionAge(m mesh, _ installed, d *appsv1.Deployment) []string {
	args := discovery(d).Args
	at := slices.Index(args, ageFlag)
	if at < 0 || at+1 == len(args) {
		return []string{ageFlag + " is missing"}
	}
	return differ(ageFlag, args[at+1], m.planned("istiod.keepaliveMaxServerConnectionAge"))
}

// placement is what the scheduler makes of affinity, node selector and
// tolerations: a pod may stand on the pools that are open to istiod by the
// profile, and on no other. Where a label tells a closed pool from the open ones,
// the affinity keeps pods off without the taint's help.
func placement(m mesh, _ installed, d *appsv1.Deployment) []string {
	pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	var found []string
	for _, zone := range m.profile.Zones {
		for _, pool := range zone.NodePools {
			node := newNode(zone.Name, pool)
			matches, err := affinity.Match(node)
			if err != nil {
				return []string{err.Error()}
			}
			open := tolerated(node, m.tolerations())
			where := zone.Name + "/" + pool.Name
			found = slices.Concat(found, differ(where+" may hold istiod", matches && tolerated(node, pod.Spec.Tolerations), open))
			if !open && m.toldApart(pool) {
				found = slices.Concat(found, differ(where+" is what the affinity wants", matches, false))
			}
		}
	}
	return found
}

// newNode is a node of a pool.
func newNode(zone string, pool cluster.NodePool) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyZone: zone, corev1.LabelOSStable: "linux"}}}
	for key, value := range pool.Labels {
		node.Labels[key] = value
	}
	for _, taint := range pool.Taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	return node
}

// tolerated reports whether tolerations open a node to pods.
func tolerated(node *corev1.Node, tolerations []corev1.Toleration) bool {
	hard := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	_, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, tolerations, hard, false)
	return !untolerated
}

func (m mesh) tolerations() []corev1.Toleration {
	var all []corev1.Toleration
	for _, t := range m.profile.Istiod.Tolerations {
		all = append(all, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return all
}

// toldApart reports whether a label of a closed pool is on none that is open.
func (m mesh) toldApart(closed cluster.NodePool) bool {
	own := labels.Set(closed.Labels)
	for key, value := range own {
		shared := false
		for _, zone := range m.profile.Zones {
			for _, pool := range zone.NodePools {
				shared = shared || pool.Labels[key] == value && tolerated(newNode(zone.Name, pool), m.tolerations())
			}
		}
		if !shared {
			return true
		}
	}
	return false
}

func priority(m mesh, _ installed, d *appsv1.Deployment) []string {
	want := m.profile.Istiod.PriorityClassName
	if want == "" {
		want = "system-cluster-critical"
	}
	return differ("priorityClassName", d.Spec.Template.Spec.PriorityClassName, want)
}

// spread is as planned, counts istiod's own pods by revision of the template, and
// does not wait for nodes that pods may not use where it is hard.
func spread(m mesh, _ installed, d *appsv1.Deployment) []string {
	var got []any
	var found []string
	for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
		got = append(got, fmt.Sprintf("%s %s %d", c.TopologyKey, c.WhenUnsatisfiable, c.MaxSkew))
		found = append(found, differ(c.TopologyKey+" counts its own pods", selects(c.LabelSelector, d), true)...)
		found = append(found, differ(c.TopologyKey+" counts by", c.MatchLabelKeys, []string{appsv1.DefaultDeploymentUniqueLabelKey})...)
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && (c.NodeTaintsPolicy == nil || *c.NodeTaintsPolicy != corev1.NodeInclusionPolicyHonor) {
			found = append(found, c.TopologyKey+" waits for tainted nodes")
		}
	}
	return append(found, differ("constraints", got, m.planned("istiod.topologySpreadConstraints"))...)
}

// selects reports whether a selector is for the Deployment's pods.
func selects(selector *metav1.LabelSelector, d *appsv1.Deployment) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(d.Spec.Template.Labels))
}

// budget is one for istiod's pods, of the planned size.
func budget(m mesh, i installed, d *appsv1.Deployment) []string {
	var ours []*policyv1.PodDisruptionBudget
	for _, b := range i.budgets {
		if b.Namespace == d.Namespace && selects(b.Spec.Selector, d) {
			ours = append(ours, b)
		}
	}
	if len(ours) != 1 || ours[0].Spec.MaxUnavailable == nil {
		return []string{fmt.Sprintf("%d budgets for istiod's pods, want one by maxUnavailable", len(ours))}
	}
	return differ("maxUnavailable", ours[0].Spec.MaxUnavailable.String(), m.planned("istiod.podDisruptionBudget.maxUnavailable"))
}

// lines are complaints one below another.
func lines(found map[string][]string) string {
	var all []string
	for name, complaints := range found {
		for _, c := range complaints {
			all = append(all, name+": "+c)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
