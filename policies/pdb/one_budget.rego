# METADATA
# scope: package
# title: One PodDisruptionBudget selects istiod
# description: With two budgets on a pod the eviction API refuses, and drains hang; the chart
#   brings its own. With none a drain may take every istiod at once.
# custom:
#   severity: error
#   remedy: keep one PodDisruptionBudget for istiod and set
#     global.defaultPodDisruptionBudget.enabled of the istiod chart to false
#   source: istio#23075, kubernetes#75957, github.com/idoyo7/study-hugo 09-istiod-scaling-connections (20 of 24 pods
#     gone within 90 s)
package meshgen.pdb.one_budget

import data.lib.istiod
import data.lib.labels
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	budgets := {b |
		some b in objects.of_kind("PodDisruptionBudget")
		objects.namespace(b) == objects.namespace(d)
		labels.selects(b.object.spec.selector, istiod.pod_labels(d))
	}
	count(budgets) != 1
	v := objects.violation(d, sprintf("selected by %s, want one PodDisruptionBudget", [objects.listing(budgets)]))
}
