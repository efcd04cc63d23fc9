package meshgen.istiod.priority_class_test

import data.lib.examples_test as examples
import data.meshgen.istiod.priority_class as policy

test_deny_no_class if {
	wanted := examples.denies("Deployment", "istiod has no priority class")
	policy.deny == wanted with input.objects as [examples.pod({"priorityClassName": ""})]
	policy.deny == wanted with input.objects as [examples.without("Deployment", "/spec/template/spec/priorityClassName")]
}

test_allow_a_class if {
	policy.deny == set() with input.objects as [examples.changed("Deployment", {})]
}
