# METADATA
# scope: package
# title: A trigger on a container names one of the workload's
# description: Without its container the autoscaler has no metric at all, and a workload that has only
#   this one stays as it is for as long as the name is wrong.
# custom:
#   severity: error
#   remedy: make containerName of the trigger the name of a container of the workload
#   source: KEDA cpu_memory_scaler.go, Kubernetes podautoscaler replica_calculator.go (a container that is
#     not present in the metrics of a pod is an error)
package meshgen.keda.container_is_there

import data.lib.objects
import data.lib.pods
import data.lib.scaling
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some i, t in triggers.of(s)
	name := t.metadata.containerName
	some w in objects.at(scaling.target(s))
	not name in pods.containers(w)
	v := objects.violation(s, sprintf("%s: %s has no container %v", [triggers.label(i, t), objects.subject(w), name]))
}
