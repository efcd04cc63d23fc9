package meshgen.keda.metric_type_test

import data.lib.examples_test as examples
import data.meshgen.keda.metric_type as policy

_typed(metric_type) := examples.triggered([object.union(examples.lunch, {"metricType": metric_type})])

test_deny_a_value if {
	wanted := examples.denies("ScaledObject", "trigger 0 (event_lunch): metricType is Value, want AverageValue")
	policy.deny == wanted with input.objects as _typed("Value")
}

test_deny_a_value_of_an_event if {
	wanted := examples.denies("ScaledObject", "trigger 0 (event_sale): metricType is Value, want AverageValue")
	event := object.union(examples.event(46), {"metricType": "Value"})
	policy.deny == wanted with input.objects as examples.triggered([event])
}

test_allow_an_average if {
	policy.deny == set() with input.objects as _typed("AverageValue")
	policy.deny == set() with input.objects as examples.triggered([examples.lunch])
}
