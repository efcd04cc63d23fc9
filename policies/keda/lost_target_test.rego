package meshgen.keda.lost_target_test

import data.lib.examples_test as examples
import data.meshgen.keda.lost_target as policy

test_deny_a_renamed_deployment if {
	wanted := examples.denies("ScaledObject", concat(" ", [
		"it counts istiod's connections and scales istiod;",
		"the istiods are Deployment/istio-system/blue-istiod",
	]))
	renamed := examples.changed("Deployment", {"metadata": {"name": "blue-istiod"}})
	objects := [renamed, examples.changed("ScaledObject", {})]
	policy.deny == wanted with input.objects as objects
}

test_allow_its_target if {
	policy.deny == set() with input.objects as examples.scaled({})
}

test_allow_what_does_not_count_connections if {
	policy.deny == set() with input.objects as [examples.changed("ScaledObject", {"spec": {"triggers": [examples.lunch]}})]
}

test_allow_an_istiod_that_is_not_among_the_objects if {
	policy.deny == set() with input.objects as [examples.changed("ScaledObject", {})]
}
