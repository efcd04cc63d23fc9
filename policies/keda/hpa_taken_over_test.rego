package meshgen.keda.hpa_taken_over_test

import data.lib.examples_test as examples
import data.meshgen.keda.hpa_taken_over as policy

_taking(value, spec) := [examples.shop("ScaledObject", {
	"metadata": {"annotations": {"scaledobject.keda.sh/transfer-hpa-ownership": value}},
	"spec": spec,
})]

test_deny_no_name if {
	wanted := examples.shop_denies(
		"ScaledObject",
		"cart",
		"it takes over a HorizontalPodAutoscaler and does not say which",
	)
	policy.deny == wanted with input.objects as _taking("true", {})
}

test_allow_a_name if {
	named := {"advanced": {"horizontalPodAutoscalerConfig": {"name": "cart"}}}
	policy.deny == set() with input.objects as _taking("true", named)
}

test_allow_nothing_taken_over if {
	policy.deny == set() with input.objects as _taking("false", {})
	policy.deny == set() with input.objects as [examples.shop("ScaledObject", {})]
}
