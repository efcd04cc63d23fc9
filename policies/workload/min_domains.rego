# METADATA
# scope: package
# title: The loss of a zone leaves room in the others
# description: With fewer zones than minDomains the scheduler takes the emptiest as having no pod.
#   Where minDomains is the number of zones, the day one is lost nothing can be placed in any. How
#   many zones there are, manifests do not say.
# custom:
#   severity: warning
#   remedy: remove minDomains from the hard constraint over zones, or keep it below their number
#   source: kubernetes#115320, kubernetes/enhancements#6211
package meshgen.workload.min_domains

import data.lib.objects
import data.lib.pods

deny contains v if {
	some w in pods.spread
	some i, c in pods.constraints(w)
	pods.on_zones(c)
	pods.hard(c)
	least := object.get(c, "minDomains", 1)
	least != 1
	v := objects.violation(w, sprintf("constraint %d: minDomains is %v: of so many zones none may go", [i, least]))
}
