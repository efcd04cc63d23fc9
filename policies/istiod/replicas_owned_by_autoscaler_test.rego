package meshgen.istiod.replicas_owned_by_autoscaler_test

import data.lib.examples_test as examples
import data.meshgen.istiod.replicas_owned_by_autoscaler as policy

test_deny_one_replica_of_the_chart if {
	wanted := examples.denies("Deployment", "spec.replicas is 1, and every sync would scale istiod to it")
	policy.deny == wanted with input.objects as [examples.changed("Deployment", {"spec": {"replicas": 1}})]
}

test_allow_no_replicas if {
	policy.deny == set() with input.objects as [examples.changed("Deployment", {})]
}
