// Package argocd has the annotations by which Argo CD orders what it applies, and
// the waves of a first adoption, all in one place.
package argocd

import (
	"strconv"
	"strings"

	"github.com/meshgen/meshgen/internal/plan"
)

// The annotations that Argo CD reads.
const (
	syncWave    = "argocd.argoproj.io/sync-wave"
	syncOptions = "argocd.argoproj.io/sync-options"
)

// Waves within an Application. What carries none has wave 0: istiod's chart, and
// the user's own manifests. Argo CD waits until a wave is healthy.
const (
	Budget     = -1 // before anything restarts
	Autoscaler = 1  // its threshold counts on the pods that the waves before brought up
)

// Waves of the Applications, for the app of apps that syncs them.
const (
	Project     = -1 // with the freezes
	Istiod      = 0
	Workloads   = 1
	FirstScopes = 2 // each namespace has a wave of its own
)

// Kept is for what is not deleted unless somebody confirms it: with a ScaledObject
// goes the HPA, and nothing scales the workload any more.
const Kept = "Prune=confirm,Delete=confirm"

// Replaced is for what is written as a whole: fields that another tool has set go.
const Replaced = "Replace=true"

// Annotations are those of a resource of a wave. They never change by themselves,
// for KEDA copies a ScaledObject's to its HPA.
func Annotations(wave int, options ...string) map[string]string {
	all := map[string]string{syncWave: strconv.Itoa(wave)}
	if len(options) > 0 {
		all[syncOptions] = strings.Join(options, ",")
	}
	return all
}

// Resource is Annotations where Argo CD applies the plan, and nil where the
// profile does not speak of it.
func Resource(p *plan.Plan, wave int, options ...string) map[string]string {
	if p.ArgoCD == nil {
		return nil
	}
	return Annotations(wave, options...)
}
