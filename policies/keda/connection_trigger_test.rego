package meshgen.keda.connection_trigger_test

import data.lib.examples_test as examples
import data.meshgen.keda.connection_trigger as policy

test_deny_cpu_alone if {
	wanted := examples.denies("ScaledObject", "none of the 1 triggers asks Prometheus for pilot_xds")
	cpu := {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "80"}}
	policy.deny == wanted with input.objects as examples.triggered([cpu])
}

test_deny_no_triggers if {
	wanted := examples.denies("ScaledObject", "none of the 0 triggers asks Prometheus for pilot_xds")
	policy.deny == wanted with input.objects as examples.triggered([])
}

test_allow_connections if {
	policy.deny == set() with input.objects as examples.scaled({})
}
