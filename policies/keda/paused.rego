# METADATA
# scope: package
# title: No autoscaler is paused
# description: A pause deletes the HorizontalPodAutoscaler, and what was meant for an hour stays
#   in Git. An event is not scaled for.
# custom:
#   severity: error
#   remedy: remove the autoscaling.keda.sh/paused annotations from the ScaledObject
#   source: keda#6982, keda#7231, keda#4253
package meshgen.keda.paused

import data.lib.objects

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some name, value in object.get(s.object, ["metadata", "annotations"], {})
	is_string(name)
	startswith(name, "autoscaling.keda.sh/paused")
	value != "false"
	v := objects.violation(s, sprintf("%s is %v", [name, value]))
}
