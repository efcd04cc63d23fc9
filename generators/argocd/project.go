package argocd

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/meshgen/meshgen/internal/argocd"
)

// chartKinds are what the istiod chart has outside of namespaces.
var chartKinds = []groupKind{
	{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
	{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
	{"rbac.authorization.k8s.io", "ClusterRole"},
	{"rbac.authorization.k8s.io", "ClusterRoleBinding"},
}

// project may do what the Applications need, and nothing in a freeze.
func (w *writer) project() {
	p := appProject{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: "AppProject"},
		Metadata: w.meta(w.Project, argocd.Project),
		Spec: projectSpec{
			Description:              "The mesh of " + w.plan.Cluster,
			SourceRepos:              []string{w.Chart.Repository, w.Repository},
			Destinations:             w.destinations(),
			ClusterResourceWhitelist: w.clusterKinds(),
		},
	}
	reasons := map[string]string{"spec.clusterResourceWhitelist": "what the Applications have outside of namespaces"}
	for i, f := range w.plan.Freezes {
		schedule, duration := f.Window()
		p.Spec.SyncWindows = append(p.Spec.SyncWindows, syncWindow{
			Kind: "deny", Schedule: schedule, Duration: duration, TimeZone: "UTC",
			Applications: []string{w.plan.Application("istiod"), w.plan.Application("mesh-*")},
			SyncOverrun:  w.Overruns,
			Description:  fmt.Sprintf("event %s of %d: no istiod rollout and no new scope", f.Event, f.End.UTC().Year()),
		})
		reasons[fmt.Sprintf("spec.syncWindows[%d]", i)] = fmt.Sprintf("for %d alone, and cron has no year: the window stays until event %s is deleted from the profile", f.End.UTC().Year(), f.Event)
		reasons[fmt.Sprintf("spec.syncWindows[%d].manualSync", i)] = "people's syncs are stopped too; `argocd proj windows enable-manual-sync` breaks the glass"
		if w.Overruns {
			reasons[fmt.Sprintf("spec.syncWindows[%d].syncOverrun", i)] = "a sync that has begun ends: half of one is an istiod without its autoscaler"
		}
	}
	w.resource("appproject-"+w.Project+".yaml", p, reasons)
}

// clusterKinds are those of the chart; a namespace's own kustomization may hold
// the namespace too.
func (w *writer) clusterKinds() []groupKind {
	if len(w.Overlays) == 0 {
		return chartKinds
	}
	return append([]groupKind{{"", "Namespace"}}, chartKinds...)
}

// destinations are the namespaces that the Applications write to.
func (w *writer) destinations() []destination {
	names := append([]string{w.plan.Istiod.Namespace}, w.plan.ScopedNamespaces()...)
	for _, o := range w.Overlays {
		names = append(names, o.Namespace)
	}
	slices.Sort(names)
	var all []destination
	for _, name := range slices.Compact(names) {
		all = append(all, destination{Server: w.Server, Name: w.Name, Namespace: name})
	}
	return all
}
