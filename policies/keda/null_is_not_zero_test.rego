package meshgen.keda.null_is_not_zero_test

import data.lib.examples_test as examples
import data.meshgen.keda.null_is_not_zero as policy

test_deny_the_default if {
	wanted := examples.denies("ScaledObject", `trigger 0 (connections): ignoreNullValues is not set, want "false"`)
	trigger := json.remove(examples.connections, ["/metadata/ignoreNullValues"])
	policy.deny == wanted with input.objects as examples.triggered([trigger])
}

test_deny_true if {
	wanted := examples.denies("ScaledObject", `trigger 1 (event_sale): ignoreNullValues is true, want "false"`)
	event := object.union(examples.event(46), {"metadata": {"ignoreNullValues": "true"}})
	policy.deny == wanted with input.objects as examples.triggered([examples.connections, event])
}

test_allow_false if {
	policy.deny == set() with input.objects as examples.triggered([examples.connections, examples.lunch])
}
