package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// provenDays is for how long calls must have been observed at least: what runs
// weekly has run twice. Whoever has rarer jobs observes for longer.
const provenDays = 14

// provenRollout is the namespace's rollout, or report where an error was found.
func (b *builder) provenRollout(r *registry, i int) string {
	n := b.spec().Namespaces[i]
	path := fmt.Sprintf("spec.namespaces[%d].sidecarScope", i)
	asked := n.SidecarScope.Rollout
	sound := true
	switch {
	case asked == "report":
	case n.Name == b.spec().Istio.Namespace:
		sound = b.refuseRoot(n, path)
	case asked == "canary":
		sound = b.canaryHolds(r, n, path)
	default:
		sound = b.liveHolds(r, n, path)
	}
	if !sound {
		return "report"
	}
	return asked
}

func (b *builder) refuseRoot(n profile.Namespace, path string) bool {
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/scope-root-namespace", Subject: "sidecar/" + n.Name,
		Message: fmt.Sprintf("rollout %s of a scope in %s: a Sidecar of the root namespace is the default of every namespace, and its proxies are gateways or the control plane's", n.SidecarScope.Rollout, n.Name),
		Hint:    "set rollout: report there; scopes are rolled out namespace by namespace",
	}, path+".rollout")
	return false
}

// liveHolds judges what a live scope needs: nothing that it cuts may be unknown.
func (b *builder) liveHolds(r *registry, n profile.Namespace, path string) bool {
	sound := b.proven(r, n, path)
	if n.SidecarScope.Level != "workload" {
		return sound
	}
	in := r.members[n.Name]
	b.warnOfLoose(r, n, in, path)
	index := b.labelIndex(in)
	for _, w := range in.workloads {
		sound = b.selects(index, w, in) && sound
	}
	return sound
}

func (b *builder) proven(r *registry, n profile.Namespace, path string) bool {
	failed := b.unproven(r, n)
	if len(failed) == 0 {
		return true
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/scope-not-provable", Subject: "sidecar/" + n.Name,
		Message: fmt.Sprintf("the scope of %s cannot go live: %s; %s", n.Name, strings.Join(failed, "; "), b.listedShare(r.listed)),
		Hint:    "set rollout: report, or canary to try it on one workload, until the profile says all of it",
	}, path+".rollout")
	return false
}

// unproven are the conditions of a live scope that fail, in words.
func (b *builder) unproven(r *registry, n profile.Namespace) []string {
	mesh := b.spec().Mesh
	var failed []string
	if mesh.CallGraph != "complete" {
		failed = append(failed, fmt.Sprintf("spec.mesh.callGraph is %s, and a call that it lacks would be cut", mesh.CallGraph))
	}
	if mesh.OutboundTrafficPolicy == "unknown" {
		failed = append(failed, "spec.mesh.outboundTrafficPolicy is unknown, and it says what becomes of such a call")
	}
	if n.ObservedDays < provenDays {
		failed = append(failed, fmt.Sprintf("its calls were observed for %s, fewer than %d", plural(n.ObservedDays, "day"), provenDays))
	}
	if len(r.members[n.Name].services) == 0 {
		failed = append(failed, "none of its workloads is listed")
	}
	return failed
}

// canaryHolds judges whether the workload that tries the scope can be selected,
// alone.
func (b *builder) canaryHolds(r *registry, n profile.Namespace, path string) bool {
	in := r.members[n.Name]
	at, known := b.deployed[n.Name+"/"+n.SidecarScope.Canary]
	if !known {
		b.unknownCanary(n, in, path)
		return false
	}
	if !b.selects(b.labelIndex(in), at, in) {
		return false
	}
	if b.spec().Mesh.CallGraph != "complete" {
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/canary-unproven", Subject: "sidecar/" + n.Name + "/" + n.SidecarScope.Canary,
			Message: fmt.Sprintf("canary %s/%s is scoped by a call graph that is not complete: a call that it lacks %s; %s",
				n.Name, n.SidecarScope.Canary, b.fateOfCalls(), b.listedShare(r.listed)),
			Hint: "watch this workload's requests to PassthroughCluster and BlackHoleCluster; deleting its Sidecar takes the scope away",
		}, path+".canary")
	}
	return true
}

// fateOfCalls is what becomes of a call outside a proxy's scope.
func (b *builder) fateOfCalls() string {
	switch b.spec().Mesh.OutboundTrafficPolicy {
	case "REGISTRY_ONLY":
		return "is refused (REGISTRY_ONLY)"
	case "ALLOW_ANY":
		return "leaves without mutual TLS, and fails where that is STRICT"
	}
	return "is refused or leaves without mutual TLS, by the mesh's outboundTrafficPolicy"
}

func (b *builder) unknownCanary(n profile.Namespace, in members, path string) {
	var names []string
	for _, w := range in.workloads {
		names = append(names, b.workloads[w].Name)
	}
	hint := fmt.Sprintf("the profile names %s in %s", plural(int64(len(names)), "workload"), n.Name)
	if len(names) > 0 && len(names) <= 12 {
		hint += ": " + strings.Join(names, ", ")
	}
	if near, ok := diag.Nearest(n.SidecarScope.Canary, names); ok {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/unknown-canary", Subject: "sidecar/" + n.Name,
		Message: fmt.Sprintf("canary %q is no workload of %s in this profile", n.SidecarScope.Canary, n.Name),
		Hint:    hint,
	}, path+".canary")
}

// label is one label of a workload's pods.
type label struct{ key, value string }

// labelIndex lists the workloads of a namespace by each of their labels.
func (b *builder) labelIndex(in members) map[label][]int {
	index := map[label][]int{}
	for _, w := range in.workloads {
		for key, value := range b.workloads[w].Labels {
			index[label{key, value}] = append(index[label{key, value}], w)
		}
	}
	return index
}

// selects judges whether a workload's labels select its pods, and no other
// workload's: of two Sidecars that match a pod Istio takes the older.
func (b *builder) selects(index map[label][]int, at int, in members) bool {
	w := b.workloads[at]
	path := servicePath(w.services[0]) + ".workload"
	if len(w.Labels) == 0 {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/scope-without-labels", Subject: "sidecar/" + w.Namespace + "/" + w.Name,
			Message: fmt.Sprintf("workload %s/%s has no labels by which a Sidecar of its own could select it", w.Namespace, w.Name),
			Hint:    "give its pods' labels, as its selector has them, or scope the namespace with level: namespace",
		}, path)
		return false
	}
	other, also := b.alsoSelected(index, at)
	if !also {
		return true
	}
	b.find(diag.Finding{
		Severity: diag.Error, ID: "plan/scope-selects-others", Subject: "sidecar/" + w.Namespace + "/" + w.Name,
		Message: fmt.Sprintf("the labels of workload %s/%s select the pods of %s too: two Sidecars would match them, and Istio takes the older", w.Namespace, w.Name, other),
		Hint:    "give a label that only this workload's pods have, or scope the namespace with level: namespace",
	}, path+".labels")
	return false
}

// alsoSelected is the first other workload whose pods have all the labels too,
// sought among those that share the rarest of them.
func (b *builder) alsoSelected(index map[label][]int, at int) (name string, ok bool) {
	w := b.workloads[at]
	var rarest []int
	for key, value := range w.Labels {
		if sharing := index[label{key, value}]; rarest == nil || len(sharing) < len(rarest) {
			rarest = sharing
		}
	}
	for _, i := range rarest {
		if i != at && contains(b.workloads[i].Labels, w.Labels) {
			return b.workloads[i].Name, true
		}
	}
	return "", false
}

// contains reports whether a set of labels has all of another.
func contains(labels, all map[string]string) bool {
	for key, value := range all {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return true
}

// warnOfLoose names what stays without a scope where each workload has its own.
func (b *builder) warnOfLoose(r *registry, n profile.Namespace, in members, path string) {
	if len(in.loose) == 0 {
		return
	}
	var names []string
	for _, s := range in.loose {
		names = append(names, r.services[s].Name)
	}
	slices.Sort(names)
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/scope-missing", Subject: "sidecar/" + n.Name,
		Message: fmt.Sprintf("no scope in %s for %s without a workload: %s", n.Name, plural(int64(len(names)), "Service"), few(names)),
		Hint:    "name the workload and its labels; until then its proxies go on seeing everything",
	}, path)
}

// few lists names, and counts those beyond the first ten.
func few(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
