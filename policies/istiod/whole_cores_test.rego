package meshgen.istiod.whole_cores_test

import data.lib.examples_test as examples
import data.meshgen.istiod.whole_cores as policy

test_deny_what_is_not_whole if {
	every limit in ["600m", "2500m", "1", 1.5, "two"] {
		wanted := examples.denies("Deployment", sprintf("the CPU limit is %v, want whole cores, at least 2", [limit]))
		policy.deny == wanted with input.objects as [examples.discovery({"resources": {"limits": {"cpu": limit}}})]
	}
}

test_deny_no_limit if {
	wanted := examples.denies("Deployment", "the CPU limit is not set, want whole cores, at least 2")
	policy.deny == wanted with input.objects as [examples.pod({"containers": [{"name": "discovery"}]})]
}

test_allow_whole_cores if {
	every limit in [2, "2", "4000m"] {
		policy.deny == set() with input.objects as [examples.discovery({"resources": {"limits": {"cpu": limit}}})]
	}
}
