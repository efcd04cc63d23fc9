package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// differences are where the rendered istiod is not what was planned. Most are
// left by the user's values files, which merge under ours.
func differences(in Input, objects []Object) diag.List {
	j := judge{in: in, objects: objects}
	deployment, ok := j.deployment()
	if !ok {
		return j.found
	}
	j.owned(deployment)
	j.container(deployment)
	j.placement(deployment.Spec.Template.Spec)
	j.budgets(deployment)
	return j.found
}

type judge struct {
	in      Input
	objects []Object
	found   diag.List
}

// add is an error at the user's values files, or at istiod in the profile when
// there are none.
func (j *judge) add(id, message, hint string) {
	field := "spec.istiod"
	if len(j.in.Values) > 0 {
		field = "spec.istiod.values"
	}
	j.found = append(j.found, diag.Finding{
		Severity: diag.Error, ID: id, Pos: j.in.Pos(field), Subject: "Deployment/" + j.in.Plan.Istiod.Namespace + "/" + j.in.Plan.Istiod.Deployment,
		Message: message, Hint: hint,
	})
}

// deployment is istiod's, read strictly: a field that the API does not know is
// a misspelt key inside a map that the chart passes through.
func (j *judge) deployment() (*appsv1.Deployment, bool) {
	want := j.in.Plan.Istiod
	for _, o := range j.objects {
		if o.kind() != "Deployment" || o.name() != want.Deployment {
			continue
		}
		d := &appsv1.Deployment{}
		text, err := yaml.Marshal(o.Object)
		if err == nil {
			err = yaml.UnmarshalStrict(text, d)
		}
		if err != nil {
			j.add("manifests/unknown-field", fmt.Sprintf("the rendered istiod Deployment would be refused: %s", reason(err)),
				"a key inside resources, affinity, tolerations or topologySpreadConstraints of the values is misspelt")
		}
		return d, err == nil
	}
	j.add("manifests/no-deployment", fmt.Sprintf("the chart renders no Deployment %s, which is what would be scaled", want.Deployment),
		"a values file of yours sets another revision, or turns the local istiod off; spec.istio.revision says which one runs")
	return nil, false
}

// reason is what a decoder says, without the ladder of what it was doing.
func reason(err error) string {
	text := firstLine(err.Error())
	if _, said, ok := strings.Cut(text, "JSON: json: "); ok {
		return said
	}
	return text
}

// owned judges that the autoscaler alone decides the replicas.
func (j *judge) owned(d *appsv1.Deployment) {
	if d.Spec.Replicas != nil {
		j.add("manifests/replicas", fmt.Sprintf("the rendered istiod has spec.replicas %d: each sync would reset what the autoscaler set", *d.Spec.Replicas),
			"remove replicaCount from your values files")
	}
	for _, o := range j.objects {
		if o.kind() == "HorizontalPodAutoscaler" && at(o.Object, "spec", "scaleTargetRef", "name") == d.Name {
			j.add("manifests/chart-hpa", "the chart renders an HPA for istiod beside the ScaledObject: the two would fight",
				"remove autoscaleEnabled, autoscaleMin and autoscaleMax from your values files")
		}
	}
}

func (j *judge) container(d *appsv1.Deployment) {
	i := slices.IndexFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "discovery" })
	if i < 0 {
		j.add("manifests/no-deployment", "the rendered istiod has no container discovery", "the chart given with --chart is not one of istiod's")
		return
	}
	c, want := d.Spec.Template.Spec.Containers[i], j.in.Plan.Istiod
	age, _ := j.in.Plan.Text("istiod.keepaliveMaxServerConnectionAge")
	at := slices.Index(c.Args, "--keepaliveMaxServerConnectionAge")
	if at < 0 || at+1 >= len(c.Args) || c.Args[at+1] != age {
		j.add("manifests/differs", fmt.Sprintf("the rendered istiod does not get --keepaliveMaxServerConnectionAge %s", age),
			"remove keepaliveMaxServerConnectionAge and its flag in extraContainerArgs from your values files")
	}
	for name, list := range map[string]corev1.ResourceList{"limits": c.Resources.Limits, "requests": c.Resources.Requests} {
		if list.Cpu().String() != want.CPU || list.Memory().String() != want.Memory {
			j.add("manifests/differs", fmt.Sprintf("the rendered istiod's %s are cpu %s, memory %s, planned are %s and %s", name, list.Cpu(), list.Memory(), want.CPU, want.Memory),
				"remove resources from your values files: the plan's memory limit is what every number rests on")
		}
	}
}

// placement judges that nothing in the user's values leads istiod onto a pool
// that the plan counts as closed.
func (j *judge) placement(pod corev1.PodSpec) {
	for _, pool := range j.in.Plan.Istiod.DedicatedPools {
		for _, key := range slices.Sorted(maps.Keys(pool.Labels)) {
			if pod.NodeSelector[key] == pool.Labels[key] {
				j.selects(pool, key)
			}
		}
	}
	for _, t := range pod.Tolerations {
		ours := slices.ContainsFunc(j.in.Plan.Istiod.Tolerations, func(want plan.Toleration) bool {
			return t.Key == want.Key && string(t.Operator) == want.Operator && t.Value == want.Value && string(t.Effect) == want.Effect
		})
		if !ours && t.Key != "cni.istio.io/not-ready" {
			j.add("manifests/toleration", fmt.Sprintf("the rendered istiod tolerates the taint %q, which the plan counts as closing a pool", t.Key),
				"remove tolerations from your values files, or list them under spec.istiod.tolerations")
		}
	}
}

func (j *judge) selects(pool plan.DedicatedPool, key string) {
	j.add("manifests/dedicated-pool",
		fmt.Sprintf("the rendered istiod's nodeSelector %s: %s puts it on the dedicated pool %s, where it cannot scale out", key, pool.Labels[key], pool.Name),
		"maps of values merge, so the selector survives ours: remove nodeSelector."+key+" from your values files")
	f := &j.found[len(j.found)-1]
	for _, file := range j.in.Values {
		for _, path := range [][]any{{"nodeSelector", key}, {"pilot", "nodeSelector", key}} {
			if line, column, ok := locate(file.Data, path); ok {
				f.Pos = diag.Pos{File: file.Name, Line: line, Column: column}
			}
		}
	}
}

// budgets judges that exactly one budget selects istiod's pods: with two the
// eviction API refuses, and every drain hangs (istio#23075, kubernetes#75957).
func (j *judge) budgets(d *appsv1.Deployment) {
	n := 0
	for _, o := range j.objects {
		if o.kind() == "PodDisruptionBudget" && o.text("metadata", "namespace") == j.in.Plan.Istiod.Namespace && selects(o, d.Spec.Template.Labels) {
			n++
		}
	}
	if n != 1 {
		j.add("manifests/budgets", fmt.Sprintf("%d PodDisruptionBudgets select istiod's pods, between the chart and the overlay; it must be 1", n),
			"remove pdb and global.defaultPodDisruptionBudget from your values files")
	}
}

func selects(o Object, labels map[string]string) bool {
	selector, _ := at(o.Object, "spec", "selector", "matchLabels").(map[string]any)
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}
