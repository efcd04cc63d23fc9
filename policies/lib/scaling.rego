# METADATA
# scope: package
# title: Scaling
# description: Autoscalers, found by what they scale.
package lib.scaling

import data.lib.objects

# of are the autoscalers of a subject: ScaledObjects and HorizontalPodAutoscalers.
of(subject) := {s | some s in objects.placed(by_target, subject)}

by_target := object.union_n([{target(s): {i: true}} |
	some i, s in input.objects
	s.object.kind in {"HorizontalPodAutoscaler", "ScaledObject"}
	not _made_by_keda(s)
])

# target is the subject of what an autoscaler scales, in its own namespace. KEDA
# takes a kind that is left out as a Deployment.
target(s) := objects.named(object.get(ref, "kind", "Deployment"), objects.namespace(s), ref.name) if {
	ref := s.object.spec.scaleTargetRef
	is_object(ref)
}

# KEDA owns the HorizontalPodAutoscaler that it makes for a ScaledObject; among
# objects that were read from a cluster it is no second autoscaler.
_made_by_keda(s) if {
	some owner in s.object.metadata.ownerReferences
	owner.kind == "ScaledObject"
}
