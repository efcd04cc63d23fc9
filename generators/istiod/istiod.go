// Package istiod owns a cluster's istiod folder: the Helm values for the istiod
// chart, the ScaledObject that scales it and the PodDisruptionBudget that
// protects it.
package istiod

import (
	"fmt"
	"math"
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
	w.add("kustomization.yaml", artifact.KustomizationOf([]string{budget, scaled}), nil)
	if w.err != nil {
		return nil, w.err
	}
	return w.files, nil
}

// writer collects files; the first failure stays.
type writer struct {
	plan   *plan.Plan
	folder string
	files  []artifact.File
	err    error
}

func (w *writer) add(name string, object any, reasons map[string]string) {
	if w.err != nil {
		return
	}
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
	if n < 0 || n > math.MaxInt32 {
		w.fail(fmt.Errorf("plan of %s: %s is %d, more or less than a Kubernetes object can hold", w.plan.Cluster, subject, n))
	}
	return int32(n)
}

func (w *writer) text(subject string) string {
	s, err := w.plan.Text(subject)
	w.fail(err)
	return s
}

// reason is why a decision is what it is; the encoder refuses one without words.
func (w *writer) reason(subject string) string {
	d, ok := w.plan.Decision(subject)
	if !ok {
		w.fail(fmt.Errorf("plan of %s: no decision %s", w.plan.Cluster, subject))
	}
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
