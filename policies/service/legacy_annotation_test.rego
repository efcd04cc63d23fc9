package meshgen.service.legacy_annotation_test

import data.lib.examples_test as examples
import data.meshgen.service.legacy_annotation as policy

test_deny_the_annotation_beside_the_field if {
	wanted := examples.shop_denies("Service", "cart", concat("", [
		"service.kubernetes.io/topology-mode is Auto: ",
		"trafficDistribution PreferSameZone is ignored",
	]))
	policy.deny == wanted with input.objects as [examples.shop("Service", {
		"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "Auto"}},
		"spec": {"trafficDistribution": "PreferSameZone"},
	})]
}

test_deny_the_older_annotation_alone if {
	wanted := examples.shop_denies("Service", "cart", "service.kubernetes.io/topology-aware-hints is auto")
	annotations := {"service.kubernetes.io/topology-aware-hints": "auto"}
	policy.deny == wanted with input.objects as [examples.shop("Service", {"metadata": {"annotations": annotations}})]
}

test_allow_no_annotation_and_one_that_is_off if {
	policy.deny == set() with input.objects as [examples.shop("Service", {"spec": {"trafficDistribution": "PreferClose"}})]
	annotations := {"service.kubernetes.io/topology-mode": "Disabled"}
	policy.deny == set() with input.objects as [examples.shop("Service", {"metadata": {"annotations": annotations}})]
}
