# METADATA
# scope: package
# title: istiod outranks what it serves
# description: Without a priority class istiod is preempted, and evicted under pressure, like any
#   workload; then no pod of the mesh can start, for its injection webhook fails closed.
# custom:
#   severity: error
#   remedy: set global.priorityClassName of the istiod chart, such as to system-cluster-critical
#   source: gardener#5468, openservicemesh/osm#4201 (a mesh's controller and injector evicted from
#     busy clusters)
package meshgen.istiod.priority_class

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	object.get(istiod.pod(d), "priorityClassName", "") == ""
	v := objects.violation(d, "istiod has no priority class")
}
