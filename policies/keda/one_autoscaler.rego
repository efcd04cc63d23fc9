# METADATA
# scope: package
# title: One autoscaler scales a workload, and a ScaledObject istiod
# description: Two autoscalers on one workload undo each other. The istiod chart's own
#   HorizontalPodAutoscaler follows CPU, which moves with pushes and not with connections.
# custom:
#   severity: error
#   remedy: keep one autoscaler for the workload - a ScaledObject takes over a HorizontalPodAutoscaler
#     that is deleted from the manifests - and set autoscaleEnabled of the istiod chart to false
#   source: keda#3646, keda#4457, istio#42634 (a CPU autoscaler thrashed between 5 and 30 pods)
package meshgen.keda.one_autoscaler

import data.lib.istiod
import data.lib.objects
import data.lib.scaling

deny contains v if {
	some d in istiod.deployments
	scalers := istiod.autoscalers(d)
	not _one(scalers)
	v := objects.violation(d, sprintf("scaled by %s, want one ScaledObject alone", [objects.listing(scalers)]))
}

# The violation stands at each of the autoscalers: what they scale need not be
# among the objects.
deny contains v if {
	some target, _ in scaling.by_target
	not target in _istiods
	scalers := scaling.of(target)
	count(scalers) > 1
	some s in scalers
	v := objects.violation(s, sprintf("%s is scaled by %s, want one alone", [target, objects.listing(scalers)]))
}

_istiods := {objects.subject(d) | some d in istiod.deployments}

_one(scalers) if {
	count(scalers) == 1
	every s in scalers {
		s.object.kind == "ScaledObject"
	}
}
