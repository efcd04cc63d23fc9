// Package istiod owns a cluster's istiod folder: the Helm values for the istiod
// chart, the ScaledObject that scales it and the PodDisruptionBudget that
// protects it.
package istiod

import (
	"path"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
)

const owner = "istiod"

// Render lays out the control plane's decisions.
func Render(p *plan.Plan) ([]artifact.File, error) {
	folder := path.Join(p.Cluster, "istiod")
	w := writer{plan: p, folder: folder}
	scaled, budget := "scaledobject-"+p.Istiod.Deployment+".yaml", "poddisruptionbudget-"+p.Istiod.Deployment+".yaml"
	w.values()
	w.scaledObject(scaled)
	w.budget(budget)
	w.add("kustomization.yaml", kustomization{"kustomize.config.k8s.io/v1beta1", "Kustomization", []string{budget, scaled}}, nil)
	return w.files, w.err
}

// kustomization is the little that is needed of kustomize's type, whose package
// belongs to the proof.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
}

// writer collects files; the first failure stays.
type writer struct {
	plan   *plan.Plan
	folder string
	files  []artifact.File
	err    error
}

func (w *writer) add(name string, object any, reasons map[string]string) {
	f, err := artifact.YAML(path.Join(w.folder, name), owner, object, reasons)
	w.fail(err)
	w.files = append(w.files, f)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// number is the whole value of a decision.
func (w *writer) number(subject string) int32 {
	n, err := w.plan.Int(subject)
	w.fail(err)
	return int32(n)
}

func (w *writer) text(subject string) string {
	s, err := w.plan.Text(subject)
	w.fail(err)
	return s
}

func (w *writer) reason(subject string) string {
	d, _ := w.plan.Decision(subject)
	return d.Reason
}

// podLabels single out the pods of this revision's istiod.
func (w *writer) podLabels() map[string]string {
	revision := w.plan.Istiod.Revision
	if revision == "" {
		revision = "default"
	}
	return map[string]string{"app": "istiod", "istio.io/rev": revision}
}
