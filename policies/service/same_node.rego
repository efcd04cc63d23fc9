# METADATA
# scope: package
# title: Only pods that stand on every node are called on their node
# description: PreferSameNode gives the pods of a node all calls of that node. Spread constraints
#   cannot promise that every node has enough of them, so that the load of a pod is whatever its
#   node brings. It is made for DaemonSets.
# custom:
#   severity: warning
#   remedy: set spec.trafficDistribution to PreferSameZone, or remove it
#   source: kubernetes/enhancements#3015, envoyproxy/gateway#9537 (read as a zone elsewhere)
package meshgen.service.same_node

import data.lib.objects
import data.lib.pods

deny contains v if {
	some s in objects.of_kind("Service")
	s.object.spec.trafficDistribution == "PreferSameNode"
	not _on_every_node(s)
	v := objects.violation(s, "trafficDistribution is PreferSameNode, and no DaemonSet puts its pods on every node")
}

_on_every_node(s) if {
	some d in objects.of_kind("DaemonSet")
	pods.selected_by(d, s)
}
