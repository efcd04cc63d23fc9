package argocd

import (
	"fmt"
	"path"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/meshgen/meshgen/internal/argocd"
	"github.com/meshgen/meshgen/internal/plan"
)

// istiod is the chart under our values, and beside it the budget and the
// autoscaler. One Application has both, so that Argo CD waits for istiod's
// Deployment between their waves.
func (w *writer) istiod() {
	i := w.plan.Istiod
	folder := path.Join(w.Folder, "istiod")
	a := w.application("istiod", i.Namespace, argocd.Istiod)
	a.Spec.Sources = []source{
		{
			RepoURL: w.Chart.Repository, Chart: "istiod", TargetRevision: w.Chart.Version,
			Helm: &helm{ReleaseName: i.Deployment, ValueFiles: w.valueFiles(path.Join(folder, "values.yaml"))},
		},
		{RepoURL: w.Repository, TargetRevision: w.Revision, Path: folder, Ref: "values"},
	}
	a.Spec.IgnoreDifferences = []difference{
		replicas("Deployment", i.Namespace, i.Deployment),
		{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", JQPathExpressions: []string{".webhooks[]?.failurePolicy"}},
	}
	w.write(a, map[string]string{
		"spec.sources[0].targetRevision":  "pinned: a range would roll istiod out by itself",
		"spec.sources[0].helm.valueFiles": "the last file wins",
		"spec.ignoreDifferences[0]":       "the autoscaler owns the replicas",
		"spec.ignoreDifferences[1]":       "istiod sets it to Fail once it serves",
	})
}

// valueFiles are the user's under ours, as Argo CD finds them from the top of the
// repository.
func (w *writer) valueFiles(ours string) []string {
	var all []string
	for _, name := range w.Values {
		all = append(all, "$values/"+name)
	}
	return append(all, "$values/"+ours)
}

// workloads is the user's own kustomization of a namespace, built with the
// Component.
func (w *writer) workloads(o plan.Overlay) {
	component := path.Join(w.Folder, "workloads", o.Namespace)
	below, err := filepath.Rel(o.Folder, component)
	if err != nil {
		w.err = err
		return
	}
	a := w.application("workloads-"+o.Namespace, o.Namespace, argocd.Workloads)
	a.Spec.Source = &source{
		RepoURL: w.Repository, TargetRevision: w.Revision, Path: o.Folder,
		Kustomize: &kustomize{Components: []string{filepath.ToSlash(below)}},
	}
	reasons := map[string]string{"spec.source.kustomize": "the Component from " + component}
	for _, s := range o.Scaled {
		a.Spec.IgnoreDifferences = append(a.Spec.IgnoreDifferences, replicas(s.Kind, o.Namespace, s.Name))
		reasons["spec.ignoreDifferences"] = "autoscalers own the replicas"
	}
	w.write(a, reasons)
}

// scopes are the Sidecars of one namespace: an Application each, for nothing but
// people can tell whether a namespace still calls what it did, and that takes
// longer than a wave.
func (w *writer) scopes(namespace string, wave int) {
	a := w.application("mesh-"+namespace, namespace, wave)
	a.Spec.Source = &source{RepoURL: w.Repository, TargetRevision: w.Revision, Path: path.Join(w.Folder, "mesh", namespace)}
	w.write(a, map[string]string{"metadata.annotations": "one namespace after the other: a call that a scope lacks is lost"})
}

func (w *writer) application(part, namespace string, wave int) *application {
	return &application{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: "Application"},
		Metadata: w.meta(w.plan.Application(part), wave),
		Spec: applicationSpec{
			Project:     w.Project,
			Destination: destination{Server: w.Server, Name: w.Name, Namespace: namespace},
			SyncPolicy:  syncPolicy{Automated: w.automated()},
		},
	}
}

// meta has no finalizer: where an Application goes, what it has applied stays.
func (w *writer) meta(name string, wave int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: w.Namespace,
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "meshgen"},
		Annotations: argocd.Annotations(wave),
	}
}

func (w *writer) automated() *automated {
	if !w.Automated {
		return nil
	}
	return &automated{Prune: true, SelfHeal: true}
}

// write adds the options that every Application has to its own.
func (w *writer) write(a *application, reasons map[string]string) {
	option := func(name, reason string) {
		options := &a.Spec.SyncPolicy.SyncOptions
		reasons[fmt.Sprintf("spec.syncPolicy.syncOptions[%d]", len(*options))] = reason
		*options = append(*options, name)
	}
	option("ServerSideApply=true", "fields that another tool has set are taken over, and lists merge by their keys")
	if len(a.Spec.IgnoreDifferences) > 0 {
		option("RespectIgnoreDifferences=true", "without it a sync writes what is ignored")
	}
	if a.Spec.Source != nil && a.Spec.Source.Kustomize != nil {
		option("PruneLast=true", "an HPA that KEDA takes over goes when KEDA has it, and comes back")
	}
	w.resource("application-"+a.Metadata.Name+".yaml", a, reasons)
}

// replicas leaves the number of pods to who scales them.
func replicas(kind, namespace, name string) difference {
	return difference{Group: "apps", Kind: kind, Namespace: namespace, Name: name, JSONPointers: []string{"/spec/replicas"}}
}
