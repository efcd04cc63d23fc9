# METADATA
# scope: package
# title: istiod's autoscaler has the bounds that were planned
# description: An overlay that lowers a floor or a ceiling takes away the margin that the plan
#   computed. Without the window of scaling up, a rollout or a series that is scraped twice adds
#   pods at once.
# custom:
#   severity: error
#   remedy: let no overlay patch minReplicaCount, maxReplicaCount, fallback or behavior of
#     istiod's ScaledObject
#   source: istio#14205, github.com/idoyo7/study-hugo 05-vmagent-az-split
#   needs: [plan]
package meshgen.keda.planned_bounds

import data.lib.istiod
import data.lib.objects
import data.lib.quantities

deny contains v if {
	some s in istiod.scaled_objects
	some decision, path in _bounds
	planned := input.plan.decisions[decision].value
	found := object.get(s.object, path, "not set")
	found != planned
	v := objects.decided(s, decision, sprintf("%s is %v, planned was %v", [concat(".", path), found, planned]))
}

deny contains v if {
	some s in istiod.scaled_objects
	decision := "istiod.scaleUp.stabilizationWindow"
	planned := input.plan.decisions[decision].value
	path := ["advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleUp", "stabilizationWindowSeconds"]
	found := object.get(s.object.spec, path, "not set")
	found != quantities.seconds(planned)
	v := objects.decided(s, decision, sprintf("%s is %v, planned was %s", [concat(".", path), found, planned]))
}

_bounds := {
	"istiod.replicas.min": ["spec", "minReplicaCount"],
	"istiod.replicas.max": ["spec", "maxReplicaCount"],
	"istiod.fallback.replicas": ["spec", "fallback", "replicas"],
}
