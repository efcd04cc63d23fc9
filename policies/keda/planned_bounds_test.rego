package meshgen.keda.planned_bounds_test

import data.lib.examples_test as examples
import data.meshgen.keda.planned_bounds as policy

_plan := {"decisions": {
	"istiod.replicas.min": {"value": 24},
	"istiod.replicas.max": {"value": 92},
	"istiod.fallback.replicas": {"value": 46},
	"istiod.scaleUp.stabilizationWindow": {"value": "75s"},
}}

_scaled(patch) := examples.scaled(object.union(window, patch)) if {
	up := {"scaleUp": {"stabilizationWindowSeconds": 75}}
	window := {"spec": {"advanced": {"horizontalPodAutoscalerConfig": {"behavior": up}}}}
}

test_deny_no_window if {
	wanted := {{
		"subject": "istiod.scaleUp.stabilizationWindow",
		"message": concat("", [
			"ScaledObject/istio-system/istiod: advanced.horizontalPodAutoscalerConfig.behavior.scaleUp.",
			"stabilizationWindowSeconds is not set, planned was 75s",
		]),
		"file": "scaledobject.yaml",
	}}
	policy.deny == wanted with input as {"plan": _plan, "objects": examples.scaled({})}
}

test_deny_a_lowered_ceiling if {
	wanted := {{
		"subject": "istiod.replicas.max",
		"message": "ScaledObject/istio-system/istiod: spec.maxReplicaCount is 5, planned was 92",
		"file": "scaledobject.yaml",
	}}
	objects := _scaled({"spec": {"maxReplicaCount": 5}})
	policy.deny == wanted with input as {"plan": _plan, "objects": objects}
}

test_deny_a_lost_floor if {
	wanted := {{
		"subject": "istiod.replicas.min",
		"message": "ScaledObject/istio-system/istiod: spec.minReplicaCount is not set, planned was 24",
		"file": "scaledobject.yaml",
	}}
	objects := [json.remove(o, ["/object/spec/minReplicaCount"]) | some o in _scaled({})]
	policy.deny == wanted with input as {"plan": _plan, "objects": objects}
}

test_allow_the_planned if {
	policy.deny == set() with input as {"plan": _plan, "objects": _scaled({})}
}
