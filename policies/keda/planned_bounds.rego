# METADATA
# scope: package
# title: Autoscalers have the bounds that were planned
# description: An overlay that lowers a floor or a ceiling takes away the margin that the plan
#   computed. Without the window of scaling up, a rollout or a series that is scraped twice adds
#   istiods at once. A prefix on the workload alone leaves its ScaledObject without a target.
# custom:
#   severity: error
#   remedy: let no overlay patch scaleTargetRef, minReplicaCount, maxReplicaCount, fallback or
#     horizontalPodAutoscalerConfig of a planned ScaledObject
#   source: istio#14205, kustomize#5306, github.com/idoyo7/study-hugo 05-vmagent-az-split
#   needs: [plan]
package meshgen.keda.planned_bounds

import data.lib.istiod
import data.lib.objects
import data.lib.quantities
import data.lib.scaling

deny contains v if {
	some s in istiod.scaled_objects
	some decision, path in _bounds
	planned := input.plan.decisions[decision].value
	found := objects.field(s, path)
	found != planned
	v := objects.decided(s, decision, _says(path, found, planned))
}

deny contains v if {
	some s in istiod.scaled_objects
	decision := "istiod.scaleUp.stabilizationWindow"
	planned := input.plan.decisions[decision].value
	path := array.concat(_hpa, ["behavior", "scaleUp", "stabilizationWindowSeconds"])
	found := objects.field(s, path)
	found != quantities.seconds(planned)
	v := objects.decided(s, decision, _says(path, found, planned))
}

deny contains v if {
	some w in input.plan.workloads
	some bounds in w.scaling
	wanted := _scaled_object(w, bounds)
	count(objects.at(wanted)) == 0
	v := objects.missing(wanted, sprintf("%s.replicas.min", [w.subject]))
}

deny contains v if {
	some w in input.plan.workloads
	some bounds in w.scaling
	some s in objects.at(_scaled_object(w, bounds))
	some [decision, path, planned] in _planned(bounds)
	found := objects.field(s, path)
	found != planned
	v := objects.decided(s, sprintf("%s.%s", [w.subject, decision]), _says(path, found, planned))
}

deny contains v if {
	some w in input.plan.workloads
	some bounds in w.scaling
	some s in objects.at(_scaled_object(w, bounds))
	planned := sprintf("%s/%s/%s", [w.kind, w.namespace, w.name])
	found := _target(s)
	found != planned
	v := objects.decided(s, sprintf("%s.replicas.min", [w.subject]), sprintf("it scales %s, planned was %s", [
		found,
		planned,
	]))
}

deny contains v if {
	some w in input.plan.workloads
	some bounds in w.scaling
	some s in objects.at(_scaled_object(w, bounds))
	count(objects.at(_target(s))) == 0
	v := objects.violation(s, sprintf("%s, which it scales, is not among the objects", [_target(s)]))
}

_scaled_object(w, bounds) := sprintf("ScaledObject/%s/%s", [w.namespace, bounds.name])

_says(path, found, planned) := sprintf("%s is %v, planned was %v", [concat(".", path), found, planned])

_bounds := {
	"istiod.replicas.min": ["spec", "minReplicaCount"],
	"istiod.replicas.max": ["spec", "maxReplicaCount"],
	"istiod.fallback.replicas": _fallback,
}

_target(s) := scaling.target(s) if scaling.target(s)

else := "nothing"

# _planned are a decision, a path and the value that a workload's ScaledObject
# must have there.
_planned(bounds) := array.concat(_limits(bounds), array.concat(_outage(bounds), _takeover(bounds)))

_limits(bounds) := [
	["replicas.min", ["spec", "minReplicaCount"], bounds.min],
	["replicas.max", ["spec", "maxReplicaCount"], bounds.max],
]

_outage(bounds) := [["fallback.replicas", _fallback, bounds.fallback]] if {
	bounds.fallback > 0
} else := [["fallback.replicas", _fallback, "not set"]] if {
	not bounds.extends
} else := []

_takeover(bounds) := [
	["replicas.min", array.concat(_hpa, ["name"]), bounds.hpa],
	["replicas.min", ["metadata", "annotations", "scaledobject.keda.sh/transfer-hpa-ownership"], "true"],
] if {
	bounds.hpa != ""
} else := []

_fallback := ["spec", "fallback", "replicas"]

_hpa := ["spec", "advanced", "horizontalPodAutoscalerConfig"]
