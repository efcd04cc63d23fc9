package meshgen.keda.fallback_test

import data.lib.examples_test as examples
import data.meshgen.keda.fallback as policy

_sale := [examples.connections, examples.event(46)]

test_deny_no_fallback if {
	objects := [examples.changed("Deployment", {}), examples.without("ScaledObject", "/spec/fallback")]
	wanted := {
		"the fallback's behavior is not set, want currentReplicasIfHigher",
		"the fallback's replicas are not set, want at least 24",
		"there is no fallback with a failureThreshold",
	}
	wanted == {v.message | some v in policy.deny} with input.objects as objects
}

test_deny_a_static_fallback if {
	wanted := examples.denies("ScaledObject", "the fallback's behavior is static, want currentReplicasIfHigher")
	policy.deny == wanted with input.objects as examples.scaled({"spec": {"fallback": {"behavior": "static"}}})
}

test_deny_fewer_than_an_event if {
	wanted := examples.denies("ScaledObject", "the fallback's replicas are 24, want at least 46")
	objects := examples.scaled({"spec": {"fallback": {"replicas": 24}, "triggers": _sale}})
	policy.deny == wanted with input.objects as objects
}

test_deny_fewer_than_the_minimum if {
	wanted := examples.denies("ScaledObject", "the fallback's replicas are 6, want at least 24")
	policy.deny == wanted with input.objects as examples.scaled({"spec": {"fallback": {"replicas": 6}}})
}

test_allow_the_largest_event if {
	policy.deny == set() with input.objects as examples.triggered(_sale)
}

test_deny_an_event_of_a_workload_without_fallback if {
	scaled := examples.shop("ScaledObject", {"spec": {"triggers": [examples.cpu, examples.event(20)]}})
	wanted := {
		"the fallback's behavior is not set, want currentReplicasIfHigher",
		"the fallback's replicas are not set, want at least 20",
		"there is no fallback with a failureThreshold",
	}
	wanted == examples.says(policy.deny) with input.objects as [scaled]
}

test_allow_a_workload_that_does_not_ask_prometheus if {
	policy.deny == set() with input.objects as [examples.shop("ScaledObject", {"spec": {"triggers": [examples.cpu]}})]
	policy.deny == set() with input.objects as [examples.shop("ScaledObject", {"spec": {"triggers": [examples.lunch]}})]
}
