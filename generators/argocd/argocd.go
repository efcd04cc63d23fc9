// Package argocd owns a cluster's argocd folder: the Applications that apply what
// the other generators write, and the AppProject whose sync windows keep the
// freezes. Without spec.argocd there is no file.
package argocd

import (
	"path"

	"github.com/meshgen/meshgen/internal/argocd"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
)

const owner = "argocd"

// Render lays out the Applications in the order in which a first adoption is
// safe: istiod, then each namespace's workloads, then the scopes, namespace by
// namespace.
func Render(p *plan.Plan) ([]artifact.File, error) {
	if p.ArgoCD == nil {
		return nil, nil
	}
	w := writer{plan: p, ArgoCD: *p.ArgoCD}
	if w.ManagesProject {
		w.project()
	}
	w.istiod()
	for _, o := range w.Overlays {
		w.workloads(o)
	}
	for i, namespace := range p.ScopedNamespaces() {
		w.scopes(namespace, argocd.FirstScopes+i)
	}
	w.add("kustomization.yaml", artifact.KustomizationOf(w.resources), nil)
	if w.err != nil {
		return nil, w.err
	}
	return w.files, nil
}

// writer collects files; the first failure stays.
type writer struct {
	plan *plan.Plan
	plan.ArgoCD
	resources []string
	files     []artifact.File
	err       error
}

func (w *writer) resource(name string, object any, reasons map[string]string) {
	w.add(name, object, reasons)
	w.resources = append(w.resources, name)
}

func (w *writer) add(name string, object any, reasons map[string]string) {
	if w.err != nil {
		return
	}
	f, err := artifact.YAML(path.Join(w.plan.Cluster, owner, name), owner, object, reasons)
	w.files, w.err = append(w.files, f), err
}
