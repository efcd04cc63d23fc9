# METADATA
# scope: package
# title: istiod has at least two pods
# description: Without minReplicaCount KEDA scales to zero. One pod cannot be drained without a
#   gap, and without istiod no pod of the mesh can start.
# custom:
#   severity: error
#   remedy: set spec.minReplicaCount of istiod's ScaledObject to 2 or more, and no idleReplicaCount
#   source: istio#12602, istio#53909, istio#54976
package meshgen.keda.min_replicas

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some s in istiod.scaled_objects
	least := object.get(s.object, ["spec", "minReplicaCount"], 0)
	least < 2
	v := objects.violation(s, sprintf("minReplicaCount is %d, want at least 2", [least]))
}

deny contains v if {
	some s in istiod.scaled_objects
	idle := s.object.spec.idleReplicaCount
	v := objects.violation(s, sprintf("idleReplicaCount is %d, want none", [idle]))
}
