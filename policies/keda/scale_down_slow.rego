# METADATA
# scope: package
# title: istiod scales in slowly
# description: A pod that is scaled in drops its connections at one instant, and no
#   PodDisruptionBudget holds it. The default takes all surplus pods at once when an event ends.
# custom:
#   severity: error
#   remedy: set behavior.scaleDown of the HorizontalPodAutoscaler to at most 10 percent in 60 s
#     after 600 s
#   source: istio#42634, keda#5688, github.com/idoyo7/study-hugo 09-istiod-scaling-connections (new pods were scaled in
#     before they got a connection)
package meshgen.keda.scale_down_slow

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some s in istiod.scaled_objects
	not _slow(_behavior(s))
	v := objects.violation(s, "scaling in is faster than 10 % of the pods a minute, or begins before 600 s of less load")
}

_behavior(s) := object.get(s.object.spec, ["advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleDown"], {})

_slow(behavior) if behavior.selectPolicy == "Disabled"

_slow(behavior) if {
	behavior.stabilizationWindowSeconds >= 600
	is_array(behavior.policies)
	count(behavior.policies) > 0
	every p in behavior.policies {
		p.type == "Percent"
		is_number(p.value)
		is_number(p.periodSeconds)
		p.value * 60 <= 10 * p.periodSeconds
	}
}
