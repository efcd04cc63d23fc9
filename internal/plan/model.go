package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// minor is the minor of a version "1.24".
func minor(version string) int {
	_, text, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(text)
	return n
}

// judgeModelAge warns when the memory model was fitted on another Istio, or
// while proxies saw more or less than they do now.
func (b *builder) judgeModelAge() {
	model, runs := b.spec().Istiod.MemoryModel, b.spec().Istio.Version
	switch model.IstioVersion {
	case runs:
	case "":
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/model-version", Subject: "istiod.connectionThreshold",
			Message: "the memory model does not say on which Istio it was fitted",
			Hint:    "give spec.istiod.memoryModel.istioVersion: a minor has cost up to 6 times the memory (istio#58180)",
		}, "spec.istiod.memoryModel")
	default:
		b.find(diag.Finding{
			Severity: diag.Warning, ID: "plan/model-version", Subject: "istiod.connectionThreshold",
			Message: fmt.Sprintf("the memory model was fitted on Istio %s, the cluster runs %s", model.IstioVersion, runs),
			Hint:    "fit it again: a minor has cost up to 6 times the memory (istio#58180)",
		}, "spec.istiod.memoryModel.istioVersion")
	}
	b.judgeModelScope(model.Scoped)
}

func (b *builder) judgeModelScope(fittedScoped bool) {
	live := slices.ContainsFunc(b.spec().Namespaces, func(n profile.Namespace) bool { return n.SidecarScope.Rollout == "live" })
	message := ""
	switch {
	case live && !fittedScoped:
		message = "Sidecar scopes are live, the memory model was fitted without them: it asks for more pods than are needed"
	case !live && fittedScoped:
		message = "the memory model was fitted with Sidecar scopes, none is live: it asks for fewer pods than are needed"
	default:
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/model-scope", Subject: "istiod.connectionThreshold",
		Message: message,
		Hint:    "fit the model again under the scopes that are live, and say so in spec.istiod.memoryModel.scoped",
	}, "spec.istiod.memoryModel")
}
