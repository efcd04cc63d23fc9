package meshgen.workload.replicas_owned_by_autoscaler_test

import data.lib.examples_test as examples
import data.meshgen.workload.replicas_owned_by_autoscaler as policy

test_deny_one_replica_of_the_chart if {
	wanted := examples.denies("Deployment", "spec.replicas is 1, and every sync would scale it to that")
	policy.deny == wanted with input.objects as [examples.changed("Deployment", {"spec": {"replicas": 1}})]
}

test_deny_replicas_of_what_is_scaled if {
	wanted := examples.shop_denies("Deployment", "cart", "spec.replicas is 3, and every sync would scale it to that")
	deployment := examples.shop("Deployment", {"spec": {"replicas": 3}})
	every kind in ["ScaledObject", "HorizontalPodAutoscaler"] {
		policy.deny == wanted with input.objects as [deployment, examples.shop(kind, {})]
	}
}

test_deny_replicas_of_a_set if {
	wanted := examples.shop_denies("StatefulSet", "cart", "spec.replicas is 3, and every sync would scale it to that")
	policy.deny == wanted with input.objects as [
		examples.shop("StatefulSet", {"spec": {"replicas": 3}}),
		examples.shop("ScaledObject", {"spec": {"scaleTargetRef": {"kind": "StatefulSet"}}}),
	]
}

test_allow_no_replicas if {
	policy.deny == set() with input.objects as [examples.changed("Deployment", {})]
	policy.deny == set() with input.objects as [examples.shop("Deployment", {}), examples.shop("ScaledObject", {})]
}

test_allow_replicas_of_what_nothing_scales if {
	policy.deny == set() with input.objects as [
		examples.shop("Deployment", {"spec": {"replicas": 3}}),
		examples.shop("ScaledObject", {"metadata": {"namespace": "platform"}}),
	]
}
