# METADATA
# scope: package
# title: istiod's zones are spread as the plan relies on
# description: A plan that survives the loss of a zone counts on no zone holding more than its
#   share of the pods. Without nodeTaintsPolicy Honor, tainted nodes count as room and leave pods
#   pending.
# custom:
#   severity: error
#   remedy: write one topology.kubernetes.io/zone constraint with maxSkew 1, DoNotSchedule,
#     nodeTaintsPolicy Honor, and a selector of istiod's pods
#   source: kubernetes#107464, kubernetes#116118, kubernetes/enhancements#6211
#   needs: [plan]
package meshgen.istiod.zone_spread

import data.lib.istiod
import data.lib.labels
import data.lib.objects

deny contains v if {
	input.plan.istiod.hardZoneSpread
	some d in istiod.deployments
	not _hard(d)
	v := objects.decided(d, "istiod.topologySpreadConstraints", concat("", [
		"no constraint holds istiod to one more pod in a zone than in another, ",
		"on nodes that it may use, when a zone is lost as well",
	]))
}

_hard(d) if {
	some c in istiod.pod(d).topologySpreadConstraints
	c.topologyKey == "topology.kubernetes.io/zone"
	c.whenUnsatisfiable == "DoNotSchedule"
	c.maxSkew == 1
	c.nodeTaintsPolicy == "Honor"
	object.get(c, "minDomains", 1) == 1
	labels.names(c.labelSelector)
	labels.selects(c.labelSelector, istiod.pod_labels(d))
}
