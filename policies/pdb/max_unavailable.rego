# METADATA
# scope: package
# title: A drain takes a tenth of the istiods at most
# description: The chart's minAvailable 1 lets a drain evict all pods but one, and blocks every
#   drain of a single pod. A percentage grows with the pods of an event and rounds up.
# custom:
#   severity: error
#   remedy: select istiod's pods and set spec.maxUnavailable to a number of at least 1 and at most
#     a tenth of minReplicaCount
#   source: istio#12602, istio#53909, istio#54976
package meshgen.pdb.max_unavailable

import data.lib.istiod
import data.lib.labels
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	some b in objects.of_kind("PodDisruptionBudget")
	objects.namespace(b) == objects.namespace(d)
	labels.selects(b.object.spec.selector, istiod.pod_labels(d))
	most := max([1, floor(_floor(d) / 10)])
	not _between(object.get(b.object, ["spec", "maxUnavailable"], null), most)
	wanted := sprintf("want maxUnavailable of 1 to %d for at least %d pods", [most, _floor(d)])
	v := objects.violation(b, sprintf("%s, %s", [_words(b), wanted]))
}

deny contains v if {
	some d in istiod.deployments
	some b in objects.of_kind("PodDisruptionBudget")
	objects.namespace(b) == objects.namespace(d)
	labels.selects(b.object.spec.selector, istiod.pod_labels(d))
	not labels.names(b.object.spec.selector)
	v := objects.violation(b, "it counts every pod of the namespace, want a selector of istiod's")
}

_between(n, most) if {
	is_number(n)
	n >= 1
	n <= most
}

# _floor is the least number of pods that an autoscaler keeps.
_floor(d) := min({n |
	some s in istiod.autoscalers(d)
	n := s.object.spec.minReplicaCount
	is_number(n)
}) if {
	some s in istiod.autoscalers(d)
	is_number(s.object.spec.minReplicaCount)
} else := 0

_words(b) := concat(" and ", [sprintf("%s is %v", [field, value]) |
	some field in ["maxUnavailable", "minAvailable"]
	value := object.get(b.object, ["spec", field], "not set")
])
