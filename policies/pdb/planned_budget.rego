# METADATA
# scope: package
# title: istiod's budget is the planned one
# description: A budget that selects by fewer labels counts pods of another revision or of a gateway
#   as well, and one that minds pods which serve nobody lets a broken istiod hold up every drain.
# custom:
#   severity: error
#   remedy: let no overlay patch istiod's PodDisruptionBudget, and render again
#   source: kubernetes/enhancements#3017, istio#12602
#   needs: [plan]
package meshgen.pdb.planned_budget

import data.lib.istiod
import data.lib.labels
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	objects.name(d) == input.plan.istiod.deployment
	some b in objects.of_kind("PodDisruptionBudget")
	objects.namespace(b) == objects.namespace(d)
	labels.selects(b.object.spec.selector, istiod.pod_labels(d))
	some field, planned in _planned
	found := object.get(b.object, ["spec", field], "not set")
	found != planned
	v := objects.decided(b, _decision, sprintf("spec.%s is %v, planned was %v", [field, found, planned]))
}

_decision := "istiod.podDisruptionBudget.maxUnavailable"

_planned := {
	"maxUnavailable": input.plan.decisions[_decision].value,
	"unhealthyPodEvictionPolicy": "AlwaysAllow",
	"selector": {"matchLabels": {"app": "istiod", "istio.io/rev": _revision}},
}

_revision := "default" if input.plan.istiod.revision == ""

_revision := input.plan.istiod.revision if input.plan.istiod.revision != ""
