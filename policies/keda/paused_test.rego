package meshgen.keda.paused_test

import data.lib.examples_test as examples
import data.meshgen.keda.paused as policy

_annotated(name, value) := examples.scaled({"metadata": {"annotations": {name: value}}})

test_deny_a_pause if {
	wanted := examples.denies("ScaledObject", "autoscaling.keda.sh/paused-replicas is 24")
	policy.deny == wanted with input.objects as _annotated("autoscaling.keda.sh/paused-replicas", "24")
}

test_allow_no_pause if {
	policy.deny == set() with input.objects as examples.scaled({})
	policy.deny == set() with input.objects as _annotated("autoscaling.keda.sh/paused", "false")
}
