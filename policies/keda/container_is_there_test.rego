package meshgen.keda.container_is_there_test

import data.lib.examples_test as examples
import data.meshgen.keda.container_is_there as policy

_named(container) := examples.shop("ScaledObject", {"spec": {"triggers": [object.union(
	examples.cpu,
	{"metadata": {"containerName": container}},
)]}})

test_deny_another_name if {
	wanted := examples.shop_denies(
		"ScaledObject",
		"cart",
		"trigger 0 (cpu): Deployment/shop/cart has no container server",
	)
	policy.deny == wanted with input.objects as [examples.shop("Deployment", {}), _named("server")]
}

test_allow_a_container_and_the_proxy if {
	policy.deny == set() with input.objects as [examples.shop("Deployment", {}), _named("app")]
	policy.deny == set() with input.objects as [examples.shop("Deployment", {}), _named("istio-proxy")]
}

test_allow_a_native_sidecar if {
	native := {"spec": {"template": {"spec": {"initContainers": [{"name": "cache", "restartPolicy": "Always"}]}}}}
	policy.deny == set() with input.objects as [examples.shop("Deployment", native), _named("cache")]
}

test_allow_a_workload_that_is_elsewhere if {
	policy.deny == set() with input.objects as [_named("server")]
}
