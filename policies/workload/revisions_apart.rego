# METADATA
# scope: package
# title: A rollout counts its own pods
# description: Without the label of the revision a constraint counts the pods that the rollout is
#   about to take away, and the new ones end up where those were not.
# custom:
#   severity: warning
#   remedy: 'set matchLabelKeys on the constraint: [pod-template-hash] for a Deployment,
#     [controller-revision-hash] for a StatefulSet'
#   source: kubernetes#98215, kubernetes#105661, kubernetes#121284 (3 pods with maxSkew 2 ended 3/0),
#     karpenter#2257
package meshgen.workload.revisions_apart

import data.lib.objects
import data.lib.pods

deny contains v if {
	some w in pods.spread
	some i, c in pods.constraints(w)
	pods.on_zones(c)
	keys := object.get(c, "matchLabelKeys", [])
	not pods.revision(w) in keys
	v := objects.violation(w, sprintf("constraint %d: matchLabelKeys is %v, want %s among them", [
		i,
		keys,
		pods.revision(w),
	]))
}
