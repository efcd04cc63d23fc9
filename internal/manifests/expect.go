package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
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

// add is an error where the user's values files have the path, at the top or in
// the legacy block, else where the profile lists the files, else at istiod.
func (j *judge) add(id, message, hint string, path ...any) {
	field := "spec.istiod"
	if len(j.in.Values) > 0 {
		field = "spec.istiod.values"
	}
	f := diag.Finding{
		Severity: diag.Error, ID: id, Pos: j.in.Pos(field), Subject: "Deployment/" + j.in.Plan.Istiod.Namespace + "/" + j.in.Plan.Istiod.Deployment,
		Message: message, Hint: hint,
	}
	for _, under := range [][]any{path, append([]any{"pilot"}, path...)} {
		if at, ok := locate(j.in.Values, under, len(under)); ok && len(path) > 0 {
			f.Pos = at.pos
		}
	}
	j.found = append(j.found, f)
}

// yours is a hint about the user's values files; without any it is the chart that
// does so by itself.
func (j *judge) yours(hint string) string {
	if len(j.in.Values) > 0 {
		return hint
	}
	return "the profile lists no values files: the chart does so by itself; give the one that the cluster installs with --chart"
}

func (o Object) isIstiod(in Input) bool {
	return o.kind() == "Deployment" && o.name() == in.Plan.Istiod.Deployment && o.text("metadata", "namespace") == in.Plan.Istiod.Namespace
}

func hasDeployment(in Input, objects []Object) bool {
	return slices.ContainsFunc(objects, func(o Object) bool { return o.isIstiod(in) })
}

// deployment is istiod's, read strictly: a field that the API does not know is
// a misspelt key inside a map that the chart passes through.
func (j *judge) deployment() (*appsv1.Deployment, bool) {
	i := slices.IndexFunc(j.objects, func(o Object) bool { return o.isIstiod(j.in) })
	if i < 0 {
		j.add("manifests/no-deployment", fmt.Sprintf("the chart renders no Deployment %s in %s, which is what would be scaled", j.in.Plan.Istiod.Deployment, j.in.Plan.Istiod.Namespace),
			j.yours("a values file of yours sets another revision, or turns the local istiod off; spec.istio.revision says which one runs"), "revision")
		return nil, false
	}
	d := &appsv1.Deployment{}
	text, err := json.Marshal(j.objects[i].Object) // which is YAML
	if err == nil {
		err = yaml.UnmarshalStrict(text, d)
	}
	if err != nil {
		j.add("manifests/unknown-field", fmt.Sprintf("the rendered istiod Deployment would be refused: %s", reason(err)),
			j.yours("a key inside resources, affinity, tolerations or topologySpreadConstraints of the values is misspelt"))
	}
	return d, err == nil
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
			j.yours("remove replicaCount from your values files"), "replicaCount")
	}
	for _, o := range j.objects {
		if o.kind() == "HorizontalPodAutoscaler" && at(o.Object, "spec", "scaleTargetRef", "name") == d.Name {
			j.add("manifests/chart-hpa", "the chart renders an HPA for istiod beside the ScaledObject: the two would fight",
				j.yours("remove autoscaleEnabled, autoscaleMin and autoscaleMax from your values files"), "autoscaleEnabled")
		}
	}
}

func (j *judge) container(d *appsv1.Deployment) {
	i := slices.IndexFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "discovery" })
	if i < 0 {
		j.add("manifests/no-deployment", "the rendered istiod has no container discovery", "the chart given with --chart is not one of istiod's")
		return
	}
	c := d.Spec.Template.Spec.Containers[i]
	j.age(c)
	j.resources("requests", c.Resources.Requests)
	j.resources("limits", c.Resources.Limits)
}

const ageFlag = "--keepaliveMaxServerConnectionAge"

// age judges every flag that sets it: istiod takes the last.
func (j *judge) age(c corev1.Container) {
	want, _ := j.in.Plan.Text("istiod.keepaliveMaxServerConnectionAge")
	got := flags(c.Args, ageFlag)
	if len(got) > 0 && !slices.ContainsFunc(got, func(value string) bool { return value != want }) {
		return
	}
	field := "keepaliveMaxServerConnectionAge"
	if len(got) > 1 {
		field = "extraContainerArgs"
	}
	j.add("manifests/differs", fmt.Sprintf("the rendered istiod gets %s %s, planned is %s", ageFlag, strings.Join(got, " and "), want),
		j.yours("remove keepaliveMaxServerConnectionAge and its flag in extraContainerArgs from your values files"), field)
}

// flags are the values that a flag has among the arguments, in both spellings.
func flags(args []string, flag string) []string {
	var values []string
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			values = append(values, value)
		}
		if arg == flag && i+1 < len(args) {
			values = append(values, args[i+1])
		}
	}
	return values
}

func (j *judge) resources(name string, list corev1.ResourceList) {
	want := j.in.Plan.Istiod
	if equals(list.Cpu(), want.CPU) && equals(list.Memory(), want.Memory) {
		return
	}
	j.add("manifests/differs", fmt.Sprintf("the rendered istiod's %s are cpu %s, memory %s, planned are %s and %s", name, given(list, corev1.ResourceCPU), given(list, corev1.ResourceMemory), want.CPU, want.Memory),
		j.yours("remove resources from your values files: the plan's memory limit is what every number rests on"), "resources")
}

func given(list corev1.ResourceList, name corev1.ResourceName) string {
	quantity, ok := list[name]
	if !ok {
		return "not set"
	}
	return quantity.String()
}

func equals(got *resource.Quantity, planned string) bool {
	want, err := resource.ParseQuantity(planned)
	return err == nil && got.Cmp(want) == 0
}

// placement judges that nothing in the user's values leads istiod onto a pool
// that the plan counts as closed.
func (j *judge) placement(pod corev1.PodSpec) {
	for _, pool := range j.in.Plan.Istiod.DedicatedPools {
		if !j.selects(pod, pool) && len(pool.Labels) > 0 && !ruledOut(pod, pool) {
			j.add("manifests/dedicated-pool", fmt.Sprintf("no node affinity of the rendered istiod rules out the dedicated pool %s, where it cannot scale out", pool.Name),
				j.yours("remove affinity from your values files"), "affinity")
		}
	}
	for _, t := range pod.Tolerations {
		if !j.planned(t) {
			j.add("manifests/toleration", fmt.Sprintf("the rendered istiod tolerates %s, which spec.istiod.tolerations does not list: the plan counts the pools with that taint as closed to it", taints(t)),
				"list it under spec.istiod.tolerations, or remove it from the tolerations of your values files", "tolerations")
		}
	}
}

// selects reports, and adds, a node selector that asks for the pool.
func (j *judge) selects(pod corev1.PodSpec, pool plan.DedicatedPool) bool {
	asked := false
	for _, key := range slices.Sorted(maps.Keys(pool.Labels)) {
		if pod.NodeSelector[key] != pool.Labels[key] {
			continue
		}
		asked = true
		j.add("manifests/dedicated-pool",
			fmt.Sprintf("the rendered istiod's nodeSelector %s: %s puts it on the dedicated pool %s, where it cannot scale out", key, pool.Labels[key], pool.Name),
			fmt.Sprintf("maps of values merge, so the selector survives ours: remove nodeSelector.%s, or set it to null in a later values file", key), "nodeSelector", key)
	}
	return asked
}

// ruledOut follows the scheduler: the terms of a required node affinity are
// alternatives, so each must exclude the pool's nodes.
func ruledOut(pod corev1.PodSpec, pool plan.DedicatedPool) bool {
	for key, value := range pool.Labels {
		if got, given := pod.NodeSelector[key]; given && got != value {
			return true
		}
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil || pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return excludes(r, pool.Labels) })
	})
}

func excludes(r corev1.NodeSelectorRequirement, pool map[string]string) bool {
	value, has := pool[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpNotIn:
		return has && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpIn:
		return has && !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpDoesNotExist:
		return has
	}
	return false
}

// planned reports whether the profile lists the toleration. The chart always
// adds the one of the CNI plugin, which no pool keeps.
func (j *judge) planned(t corev1.Toleration) bool {
	return t.Key == "cni.istio.io/not-ready" || slices.ContainsFunc(j.in.Plan.Istiod.Tolerations, func(want plan.Toleration) bool {
		return t.Key == want.Key && operator(string(t.Operator)) == operator(want.Operator) && t.Value == want.Value && string(t.Effect) == want.Effect
	})
}

func operator(given string) string {
	if given == "" {
		return string(corev1.TolerationOpEqual)
	}
	return given
}

func taints(t corev1.Toleration) string {
	if t.Key == "" {
		return "every taint"
	}
	return fmt.Sprintf("the taint %q", t.Key)
}

// budgets judges that exactly one budget selects istiod's pods: with two the
// eviction API refuses, and every drain hangs (istio#23075, kubernetes#75957).
func (j *judge) budgets(d *appsv1.Deployment) {
	n := 0
	for _, o := range j.objects {
		if o.kind() == "PodDisruptionBudget" && o.text("metadata", "namespace") == d.Namespace && protects(o, d.Spec.Template.Labels) {
			n++
		}
	}
	if n != 1 {
		j.add("manifests/budgets", fmt.Sprintf("%d PodDisruptionBudgets select istiod's pods, between the chart and the overlay; it must be 1", n),
			j.yours("remove pdb and global.defaultPodDisruptionBudget from your values files"), "global", "defaultPodDisruptionBudget")
	}
}

// protects reports whether the budget selects a pod with these labels.
func protects(o Object, pod map[string]string) bool {
	var budget policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &budget); err != nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod))
}
