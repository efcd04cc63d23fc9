# METADATA
# scope: package
# title: The autoscaler owns the number of istiod pods
# description: A spec.replicas in the manifest is written back by every sync, and drops istiod
#   from its autoscaler's number to the manifest's.
# custom:
#   severity: error
#   remedy: set replicaCount to 0, with which the chart leaves spec.replicas out
#   source: keda#5572, kubernetes#25238
package meshgen.istiod.replicas_owned_by_autoscaler

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	replicas := d.object.spec.replicas
	v := objects.violation(d, sprintf("spec.replicas is %v, and every sync would scale istiod to it", [replicas]))
}
