# METADATA
# scope: package
# title: Nodes that pods may not use are no room for them
# description: A hard constraint counts every node by default, also those whose taints the pods do
#   not tolerate, as those of a zone that has just died. Their zone stays at zero, and no other zone
#   may take a pod - all new ones stay pending.
# custom:
#   severity: error
#   remedy: 'set nodeTaintsPolicy: Honor on the constraint'
#   source: kubernetes#106127, kubernetes#107464, kubernetes#123019
package meshgen.workload.tainted_nodes

import data.lib.objects
import data.lib.pods

deny contains v if {
	some w in pods.spread
	some i, c in pods.constraints(w)
	pods.on_zones(c)
	pods.hard(c)
	policy := object.get(c, "nodeTaintsPolicy", "Ignore")
	policy != "Honor"
	v := objects.violation(w, sprintf("constraint %d: nodeTaintsPolicy is %v, want Honor", [i, policy]))
}
