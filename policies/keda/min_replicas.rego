# METADATA
# scope: package
# title: What serves the mesh is never scaled to nothing
# description: Without minReplicaCount KEDA scales to zero, and nothing in the mesh holds a call until
#   a pod is back. istiod needs two - one cannot be drained without a gap, and without istiod no pod
#   of the mesh can start.
# custom:
#   severity: error
#   remedy: set spec.minReplicaCount to 1 or more, to 2 or more for istiod, and no idleReplicaCount where
#     a Service has the pods behind it
#   source: istio#12602, istio#53909, istio#54976, KEDA scaledobject_types.go (minReplicaCount is 0
#     unless given)
package meshgen.keda.min_replicas

import data.lib.istiod
import data.lib.objects
import data.lib.pods
import data.lib.scaling

deny contains v if {
	some s in istiod.scaled_objects
	least := object.get(s.object, ["spec", "minReplicaCount"], 0)
	least < 2
	v := objects.violation(s, sprintf("minReplicaCount is %d, want at least 2", [least]))
}

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	not s.object.spec.minReplicaCount
	not s in istiod.scaled_objects
	v := objects.violation(s, "minReplicaCount is not set: KEDA scales to 0, want at least 1")
}

# A worker that nothing calls may be scaled to nothing by whoever says so.
deny contains v if {
	some s in objects.of_kind("ScaledObject")
	s.object.spec.minReplicaCount == 0
	not s in istiod.scaled_objects
	some service in _in_front(s)
	v := objects.violation(s, sprintf("minReplicaCount is 0 and %s sends calls, want at least 1", [
		objects.subject(service),
	]))
}

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	idle := s.object.spec.idleReplicaCount
	count(_in_front(s) | _control_plane(s)) > 0
	v := objects.violation(s, sprintf("idleReplicaCount is %d, want none", [idle]))
}

_control_plane(s) := {s | s in istiod.scaled_objects}

# _in_front are the Services that call the pods which a ScaledObject scales.
_in_front(s) := {service |
	some w in objects.at(scaling.target(s))
	some service in objects.of_kind("Service")
	pods.selected_by(w, service)
}
