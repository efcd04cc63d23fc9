# METADATA
# scope: package
# title: A constraint counts the pods that it places
# description: A constraint whose selector does not match the pod's own labels never counts it, and
#   lets every one of them into the same zone. A selector that is empty or missing counts no pod.
# custom:
#   severity: error
#   remedy: make labelSelector of the constraint match the labels of the pod's own template
#   source: Kubernetes podtopologyspread filtering.go (selfMatchNum), KEP-895 (kubernetes/enhancements#895)
package meshgen.workload.own_labels

import data.lib.labels
import data.lib.objects
import data.lib.pods

deny contains v if {
	some w in pods.spread
	some i, c in pods.constraints(w)
	not _counts_itself(c, w)
	v := objects.violation(w, sprintf("constraint %d over %v: its selector does not match the pod's own labels", [
		i,
		object.get(c, "topologyKey", "nothing"),
	]))
}

_counts_itself(c, w) if {
	labels.names(c.labelSelector)
	labels.selects(c.labelSelector, pods.labels(w))
}
