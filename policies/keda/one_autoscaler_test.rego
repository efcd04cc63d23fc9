package meshgen.keda.one_autoscaler_test

import data.lib.examples_test as examples
import data.meshgen.keda.one_autoscaler as policy

_deployment := examples.changed("Deployment", {})

_scaled_object := examples.changed("ScaledObject", {})

_hpa := examples.changed("HorizontalPodAutoscaler", {})

test_deny_the_charts_own_beside_it if {
	wanted := examples.denies("Deployment", concat(" ", [
		"scaled by HorizontalPodAutoscaler/istio-system/istiod and ScaledObject/istio-system/istiod,",
		"want one ScaledObject alone",
	]))
	policy.deny == wanted with input.objects as [_deployment, _scaled_object, _hpa]
}

test_deny_the_charts_own_alone if {
	wanted := examples.denies(
		"Deployment",
		"scaled by HorizontalPodAutoscaler/istio-system/istiod, want one ScaledObject alone",
	)
	policy.deny == wanted with input.objects as [_deployment, _hpa]
}

test_deny_two_scaled_objects if {
	second := examples.changed("ScaledObject", {"metadata": {"name": "istiod-events"}})
	wanted := examples.denies("Deployment", concat(" ", [
		"scaled by ScaledObject/istio-system/istiod and ScaledObject/istio-system/istiod-events,",
		"want one ScaledObject alone",
	]))
	policy.deny == wanted with input.objects as [_deployment, _scaled_object, second]
}

test_deny_none if {
	wanted := examples.denies("Deployment", "scaled by nothing, want one ScaledObject alone")
	policy.deny == wanted with input.objects as [_deployment]
}

test_allow_one if {
	elsewhere := examples.changed("ScaledObject", {"metadata": {"namespace": "shop"}})
	policy.deny == set() with input.objects as [_deployment, _scaled_object, elsewhere]
}

test_deny_an_autoscaler_beside_another_on_a_workload if {
	wanted := {sprintf("%s/shop/cart", [kind]): concat("", [
		"Deployment/shop/cart is scaled by HorizontalPodAutoscaler/shop/cart and ScaledObject/shop/cart, ",
		"want one alone",
	]) |
		some kind in ["HorizontalPodAutoscaler", "ScaledObject"]
	}
	objects := [examples.shop("ScaledObject", {}), examples.shop("HorizontalPodAutoscaler", {})]
	wanted == {v.subject: v.message | some v in policy.deny} with input.objects as objects
}

test_deny_two_scaled_objects_on_a_workload if {
	second := examples.shop("ScaledObject", {"metadata": {"name": "events"}})
	wanted := {"Deployment/shop/cart is scaled by ScaledObject/shop/cart and ScaledObject/shop/events, want one alone"}
	wanted == examples.says(policy.deny) with input.objects as [examples.shop("ScaledObject", {}), second]
}

test_allow_autoscalers_of_different_workloads if {
	other := examples.shop("HorizontalPodAutoscaler", {"spec": {"scaleTargetRef": {"kind": "StatefulSet"}}})
	policy.deny == set() with input.objects as [examples.shop("ScaledObject", {}), other]
}

test_allow_what_keda_made if {
	owned := {"metadata": {"ownerReferences": [{"kind": "ScaledObject", "name": "cart"}]}}
	made := examples.shop("HorizontalPodAutoscaler", owned)
	policy.deny == set() with input.objects as [examples.shop("ScaledObject", {}), made]
}
