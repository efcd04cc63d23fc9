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
