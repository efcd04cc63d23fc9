# METADATA
# scope: package
# title: One ScaledObject scales istiod, and nothing else
# description: Two autoscalers on one Deployment undo each other. The chart's own
#   HorizontalPodAutoscaler follows CPU, which moves with pushes and not with connections.
# custom:
#   severity: error
#   remedy: keep one ScaledObject for istiod and set autoscaleEnabled of the istiod chart to false
#   source: keda#3646, keda#4457, istio#42634 (a CPU autoscaler thrashed between 5 and 30 pods)
package meshgen.keda.one_autoscaler

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	scalers := istiod.autoscalers(d)
	not _one(scalers)
	v := objects.violation(d, sprintf("scaled by %s, want one ScaledObject alone", [objects.listing(scalers)]))
}

_one(scalers) if {
	count(scalers) == 1
	every s in scalers {
		s.object.kind == "ScaledObject"
	}
}
