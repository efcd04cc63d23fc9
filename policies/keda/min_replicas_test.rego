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
