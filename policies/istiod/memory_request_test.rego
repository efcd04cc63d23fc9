package meshgen.istiod.memory_request_test

import data.lib.examples_test as examples
import data.meshgen.istiod.memory_request as policy

test_deny_the_charts_own_request if {
	wanted := examples.denies("Deployment", "the memory request is 2048Mi and the limit is 800Mi, want both, equal")
	policy.deny == wanted with input.objects as [examples.discovery({"resources": {"requests": {"memory": "2048Mi"}}})]
}

test_deny_no_limit if {
	wanted := examples.denies("Deployment", "the memory request is not set and the limit is not set, want both, equal")
	policy.deny == wanted with input.objects as [examples.pod({"containers": [{"name": "discovery"}]})]
}

test_allow_equal if {
	resources := {"limits": {"memory": "1Gi"}, "requests": {"memory": "1024Mi"}}
	policy.deny == set() with input.objects as [examples.discovery({"resources": resources})]
}
