# METADATA
# scope: package
# title: No trigger asks for more than the maximum
# description: KEDA and the HorizontalPodAutoscaler cut what a trigger asks for at
#   maxReplicaCount, 100 by default, without a word.
# custom:
#   severity: error
#   remedy: raise spec.maxReplicaCount above what every trigger and the fallback ask for
#   source: istio#14205 (a maximum of 5 for 5000 containers, 180 restarts a day), KEDA
#     cron_scaler.go
package meshgen.keda.max_covers_triggers

import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some i, t in triggers.of(s)
	n := triggers.replicas(t)
	n > _most(s)
	who := triggers.label(i, t)
	v := objects.violation(s, sprintf("%s asks for %d replicas, and maxReplicaCount is %d", [who, n, _most(s)]))
}

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	n := s.object.spec.fallback.replicas
	n > _most(s)
	v := objects.violation(s, sprintf("the fallback asks for %d replicas, and maxReplicaCount is %d", [n, _most(s)]))
}

_most(s) := object.get(s.object, ["spec", "maxReplicaCount"], 100)
