package meshgen.keda.min_replicas_test

import data.lib.examples_test as examples
import data.meshgen.keda.min_replicas as policy

test_deny_one if {
	wanted := examples.denies("ScaledObject", "minReplicaCount is 1, want at least 2")
	policy.deny == wanted with input.objects as examples.scaled({"spec": {"minReplicaCount": 1}})
}

test_deny_the_default if {
	wanted := examples.denies("ScaledObject", "minReplicaCount is 0, want at least 2")
	objects := [examples.changed("Deployment", {}), examples.without("ScaledObject", "/spec/minReplicaCount")]
	policy.deny == wanted with input.objects as objects
}

test_deny_idling if {
	wanted := examples.denies("ScaledObject", "idleReplicaCount is 0, want none")
	policy.deny == wanted with input.objects as examples.scaled({"spec": {"idleReplicaCount": 0}})
}

test_allow_two if {
	policy.deny == set() with input.objects as examples.scaled({"spec": {"minReplicaCount": 2}})
}

test_deny_a_default_of_any_workload if {
	wanted := examples.shop_denies(
		"ScaledObject",
		"cart",
		"minReplicaCount is not set: KEDA scales to 0, want at least 1",
	)
	policy.deny == wanted with input.objects as [examples.shop_without("ScaledObject", "/spec/minReplicaCount")]
}

test_deny_nothing_behind_a_service if {
	wanted := {
		"minReplicaCount is 0 and Service/shop/cart sends calls, want at least 1",
		"idleReplicaCount is 0, want none",
	}
	scaled := examples.shop("ScaledObject", {"spec": {"minReplicaCount": 0, "idleReplicaCount": 0}})
	objects := [examples.shop("Deployment", {}), examples.shop("Service", {}), scaled]
	wanted == examples.says(policy.deny) with input.objects as objects
}

test_allow_a_worker_that_nothing_calls if {
	scaled := examples.shop("ScaledObject", {"spec": {"minReplicaCount": 0, "idleReplicaCount": 0}})
	service := examples.shop("Service", {"spec": {"selector": {"app": "auth"}}})
	policy.deny == set() with input.objects as [examples.shop("Deployment", {}), service, scaled]
}
