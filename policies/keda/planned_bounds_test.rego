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
			"ScaledObject/istio-system/istiod: spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleUp.",
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

_taken_over := {
	"name": "cart",
	"hpa": "web",
	"extends": false,
	"min": 6,
	"max": 60,
	"fallback": 20,
}

_cart(bounds, objects) := {"objects": objects, "plan": {"workloads": [{
	"subject": "workload/shop/cart",
	"namespace": "shop",
	"name": "cart",
	"kind": "Deployment",
	"scaling": [bounds],
}]}}

_sound := examples.shop("ScaledObject", {
	"metadata": {"annotations": {"scaledobject.keda.sh/transfer-hpa-ownership": "true"}},
	"spec": {
		"fallback": {"replicas": 20},
		"advanced": {"horizontalPodAutoscalerConfig": {"name": "web"}},
	},
})

_deployment := examples.shop("Deployment", {})

_changed(path, value) := {"file": _sound.file, "object": object.union(_sound.object, {"spec": {path: value}})}

test_deny_no_autoscaler_of_a_workload if {
	wanted := {{
		"subject": "workload/shop/cart.replicas.min",
		"message": "ScaledObject/shop/cart is not among the objects",
		"file": "",
	}}
	policy.deny == wanted with input as _cart(_taken_over, [_deployment])
}

test_deny_other_bounds_of_a_workload if {
	every path, said in {
		"minReplicaCount": ["replicas.min", "spec.minReplicaCount is 7, planned was 6"],
		"maxReplicaCount": ["replicas.max", "spec.maxReplicaCount is 7, planned was 60"],
	} {
		[decision, message] := said
		wanted := {{
			"subject": sprintf("workload/shop/cart.%s", [decision]),
			"message": sprintf("ScaledObject/shop/cart: %s", [message]),
			"file": "scaledobject.yaml",
		}}
		policy.deny == wanted with input as _cart(_taken_over, [_deployment, _changed(path, 7)])
	}
}

test_deny_another_fallback_of_a_workload if {
	wanted := {"ScaledObject/shop/cart: spec.fallback.replicas is 6, planned was 20"}
	objects := [_deployment, _changed("fallback", {"replicas": 6})]
	wanted == examples.says(policy.deny) with input as _cart(_taken_over, objects)
}

test_deny_a_fallback_that_was_not_planned if {
	wanted := {"ScaledObject/shop/cart: spec.fallback.replicas is 20, planned was not set"}
	bounds := object.union(_taken_over, {"fallback": 0})
	wanted == examples.says(policy.deny) with input as _cart(bounds, [_deployment, _sound])
}

test_deny_an_autoscaler_that_is_not_taken_over if {
	wanted := {
		"ScaledObject/shop/cart: spec.advanced.horizontalPodAutoscalerConfig.name is not set, planned was web",
		concat("", [
			"ScaledObject/shop/cart: metadata.annotations.scaledobject.keda.sh/transfer-hpa-ownership ",
			"is not set, planned was true",
		]),
	}
	bare := examples.shop("ScaledObject", {"spec": {"fallback": {"replicas": 20}}})
	wanted == examples.says(policy.deny) with input as _cart(_taken_over, [_deployment, bare])
}

test_deny_another_target if {
	wanted := {
		"ScaledObject/shop/cart: it scales Deployment/shop/basket, planned was Deployment/shop/cart",
		"Deployment/shop/basket, which it scales, is not among the objects",
	}
	objects := [_deployment, _changed("scaleTargetRef", {"name": "basket"})]
	wanted == examples.says(policy.deny) with input as _cart(_taken_over, objects)
}

test_deny_a_target_that_was_renamed if {
	wanted := examples.shop_denies(
		"ScaledObject",
		"cart",
		"Deployment/shop/cart, which it scales, is not among the objects",
	)
	renamed := examples.shop("Deployment", {"metadata": {"name": "eu-cart"}})
	policy.deny == wanted with input as _cart(_taken_over, [renamed, _sound])
}

test_allow_the_planned_of_a_workload if {
	policy.deny == set() with input as _cart(_taken_over, [_deployment, _sound])
}

test_allow_the_users_own_fallback_and_name if {
	bounds := object.union(_taken_over, {"extends": true, "hpa": "", "fallback": 0})
	policy.deny == set() with input as _cart(bounds, [_deployment, _sound])
}
