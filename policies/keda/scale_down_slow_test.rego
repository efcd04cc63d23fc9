package meshgen.keda.scale_down_slow_test

import data.lib.examples_test as examples
import data.meshgen.keda.scale_down_slow as policy

_behaving(down) := examples.scaled({"spec": {"advanced": {"horizontalPodAutoscalerConfig": config}}}) if {
	config := {"behavior": {"scaleDown": down}}
}

_percent(value, seconds) := [{"type": "Percent", "value": value, "periodSeconds": seconds}]

_wanted := examples.denies(
	"ScaledObject",
	"scaling in is faster than 10 % of the pods a minute, or begins before 600 s of less load",
)

test_deny_the_default if {
	policy.deny == _wanted with input.objects as examples.scaled({})
}

test_deny_what_is_fast if {
	every down in [
		{"stabilizationWindowSeconds": 300, "policies": _percent(10, 60)},
		{"stabilizationWindowSeconds": 600, "policies": _percent(100, 15)},
		{"stabilizationWindowSeconds": 600, "policies": _percent(10, 30)},
		{"stabilizationWindowSeconds": 600, "policies": []},
		{"stabilizationWindowSeconds": 600},
		{"stabilizationWindowSeconds": 600, "policies": [{"type": "Pods", "value": 10, "periodSeconds": 60}]},
	] {
		policy.deny == _wanted with input.objects as _behaving(down)
	}
}

test_allow_a_tenth_a_minute if {
	policy.deny == set() with input.objects as _behaving({"stabilizationWindowSeconds": 600, "policies": _percent(10, 60)})
	policy.deny == set() with input.objects as _behaving({"selectPolicy": "Disabled"})
}
