package meshgen.workload.revisions_apart_test

import data.lib.examples_test as examples
import data.meshgen.workload.revisions_apart as policy

test_deny_a_deployment_without_keys if {
	wanted := examples.shop_denies(
		"Deployment",
		"cart",
		"constraint 0: matchLabelKeys is [], want pod-template-hash among them",
	)
	objects := [examples.shop_spread([json.remove(examples.zones, ["/matchLabelKeys"])])]
	policy.deny == wanted with input.objects as objects
}

test_deny_a_set_with_the_label_of_a_deployment if {
	wanted := examples.shop_denies(
		"StatefulSet",
		"cart",
		`constraint 0: matchLabelKeys is ["pod-template-hash"], want controller-revision-hash among them`,
	)
	policy.deny == wanted with input.objects as [examples.shop(
		"StatefulSet",
		{"spec": {"template": {"spec": {"topologySpreadConstraints": [examples.zones]}}}},
	)]
}

test_allow_the_label_of_the_kind if {
	policy.deny == set() with input.objects as [examples.shop("Deployment", {}), examples.shop("StatefulSet", {})]
}

test_deny_istiod_too if {
	bare := json.remove(examples.zones, ["/matchLabelKeys"])
	count(policy.deny) == 1 with input.objects as [examples.pod({"topologySpreadConstraints": [bare]})]
}
