package meshgen.istiod.service_routing_test

import data.lib.examples_test as examples
import data.meshgen.istiod.service_routing as policy

_with_service(patch) := [examples.changed("Deployment", {}), examples.changed("Service", patch)]

test_deny_a_preference if {
	wanted := examples.denies(
		"Service",
		"trafficDistribution is PreferClose: connections would not be spread over every istiod",
	)
	policy.deny == wanted with input.objects as _with_service({"spec": {"trafficDistribution": "PreferClose"}})
}

test_deny_the_annotation if {
	wanted := examples.denies(
		"Service",
		"service.kubernetes.io/topology-mode is Auto: connections would not be spread over every istiod",
	)
	annotations := {"service.kubernetes.io/topology-mode": "Auto"}
	policy.deny == wanted with input.objects as _with_service({"metadata": {"annotations": annotations}})
}

test_deny_no_service if {
	wanted := examples.denies("Deployment", "no Service selects istiod's pods")
	policy.deny == wanted with input.objects as [examples.changed("Deployment", {})]
	policy.deny == wanted with input.objects as _with_service({"spec": {"selector": {"app": "pilot"}}})
}

test_allow_a_plain_service if {
	policy.deny == set() with input.objects as _with_service({})
	policy.deny == set() with input.objects as _with_service({"spec": {"sessionAffinity": "None"}})
}
