package meshgen.keda.lost_metrics_test

import data.lib.examples_test as examples
import data.meshgen.keda.lost_metrics as policy

_asking(metadata) := [examples.shop("ScaledObject", {"spec": {"triggers": [{
	"type": "prometheus",
	"name": "load",
	"metadata": metadata,
}]}})]

test_deny_the_default if {
	wanted := examples.shop_denies(
		"ScaledObject",
		"cart",
		`trigger 0 (load): ignoreNullValues is not set, want "false"`,
	)
	policy.deny == wanted with input.objects as _asking({"query": "sum(rate(requests[2m]))"})
}

test_deny_true if {
	wanted := {`trigger 0 (load): ignoreNullValues is true, want "false"`}
	wanted == examples.says(policy.deny) with input.objects as _asking({"ignoreNullValues": "true"})
}

test_allow_false if {
	policy.deny == set() with input.objects as _asking({"ignoreNullValues": "false"})
}

test_allow_other_triggers_and_istiod if {
	policy.deny == set() with input.objects as [examples.shop("ScaledObject", {})]
	unset := json.remove(examples.connections, ["/metadata/ignoreNullValues"])
	policy.deny == set() with input.objects as examples.triggered([unset])
}
