# METADATA
# scope: package
# title: The number of pods has one owner
# description: A spec.replicas in the manifest of what an autoscaler scales is written back by every
#   sync, and drops the workload from its autoscaler's number to the manifest's.
# custom:
#   severity: error
#   remedy: take spec.replicas out of the manifest; istiod's chart leaves it out with replicaCount 0
#   source: keda#5572, kubernetes#25238, argo-cd#28590
package meshgen.workload.replicas_owned_by_autoscaler

import data.lib.istiod
import data.lib.objects
import data.lib.pods
import data.lib.scaling

deny contains v if {
	some w in pods.spread
	_scaled(w)
	replicas := w.object.spec.replicas
	v := objects.violation(w, sprintf("spec.replicas is %v, and every sync would scale it to that", [replicas]))
}

_scaled(w) if count(scaling.of(objects.subject(w))) > 0

# istiod is always scaled, by whatever is not among the objects too.
_scaled(w) if w in istiod.deployments
