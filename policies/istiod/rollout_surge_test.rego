package meshgen.istiod.rollout_surge_test

import data.lib.examples_test as examples
import data.meshgen.istiod.rollout_surge as policy

_rolling(surge, lost) := [examples.changed("Deployment", {"spec": {"strategy": {"rollingUpdate": {
	"maxSurge": surge,
	"maxUnavailable": lost,
}}}})]

test_deny_twice_the_pods if {
	wanted := examples.denies("Deployment", "maxSurge of the rollout is 100%, want 1% to 25%, or 1")
	policy.deny == wanted with input.objects as _rolling("100%", 0)
}

# With both at 0 the API server refuses the Deployment.
test_deny_no_surge if {
	every surge in ["0%", 0] {
		wanted := examples.denies("Deployment", sprintf("maxSurge of the rollout is %v, want 1%% to 25%%, or 1", [surge]))
		policy.deny == wanted with input.objects as _rolling(surge, 0)
	}
}

test_deny_taking_pods_away if {
	wanted := examples.denies("Deployment", "maxUnavailable of the rollout is 25%, want 0")
	policy.deny == wanted with input.objects as _rolling("25%", "25%")
}

test_deny_no_strategy if {
	count(policy.deny) == 2 with input.objects as [examples.without("Deployment", "/spec/strategy")]
}

test_allow_a_quarter if {
	policy.deny == set() with input.objects as _rolling("25%", 0)
	policy.deny == set() with input.objects as _rolling(1, "0%")
}
