package plan

import "fmt"

// fieldValue is the value of spec.trafficDistribution that every caller reads,
// and why; empty where some caller reads none. Kubernetes knows PreferClose from
// 1.31 (KEP-4444 beta) and PreferSameZone from 1.34 (KEP-3015 beta). Sidecars
// read the field from Istio 1.25 and know PreferSameZone from 1.27.
func fieldValue(kubernetes, istio, callers string) (value, reason string) {
	k, i := minor(kubernetes), minor(istio)
	switch {
	case k < 31:
		return "", fmt.Sprintf("Kubernetes %s does not have the field", kubernetes)
	case callers != "kube-proxy" && i < 25:
		return "", fmt.Sprintf("the sidecars of Istio %s do not read the field, which they do from 1.25 on", istio)
	case k < 34:
		return "PreferClose", fmt.Sprintf("Kubernetes %s knows no other value than PreferClose", kubernetes)
	case callers != "kube-proxy" && i < 27:
		return "PreferClose", fmt.Sprintf("the sidecars of Istio %s know no other value than PreferClose", istio)
	case callers == "kube-proxy":
		return "PreferSameZone", fmt.Sprintf("Kubernetes %s knows PreferSameZone", kubernetes)
	}
	return "PreferSameZone", fmt.Sprintf("Kubernetes %s and the sidecars of Istio %s know PreferSameZone", kubernetes, istio)
}
