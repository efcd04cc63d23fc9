package meshgen.service.local_policy_test

import data.lib.examples_test as examples
import data.meshgen.service.local_policy as policy

_local(patch) := [examples.shop("Service", {"spec": object.union({"internalTrafficPolicy": "Local"}, patch)})]

test_deny_both if {
	wanted := examples.shop_denies("Service", "cart", concat("", [
		"trafficDistribution is PreferClose, without effect beside internalTrafficPolicy Local",
	]))
	policy.deny == wanted with input.objects as _local({"trafficDistribution": "PreferClose"})
}

test_allow_one_of_them if {
	policy.deny == set() with input.objects as _local({})
	preferring := {"spec": {"trafficDistribution": "PreferClose", "internalTrafficPolicy": "Cluster"}}
	policy.deny == set() with input.objects as [examples.shop("Service", preferring)]
}

test_allow_both_where_calls_come_from_outside if {
	policy.deny == set() with input.objects as _local({"trafficDistribution": "PreferClose", "type": "LoadBalancer"})
}
