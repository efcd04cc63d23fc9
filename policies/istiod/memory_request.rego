# METADATA
# scope: package
# title: istiod requests the memory that it may use
# description: The chart merges its own request of 2048Mi under a limit that is given alone; a
#   request that is not the limit lets a node promise the same memory twice.
# custom:
#   severity: error
#   remedy: write resources.requests.memory of the istiod chart, equal to resources.limits.memory
#   source: istio chart istiod values.yaml (requests.memory 2048Mi), github.com/idoyo7/study-hugo
#     09-istiod-scaling-connections
package meshgen.istiod.memory_request

import data.lib.istiod
import data.lib.objects
import data.lib.quantities

deny contains v if {
	some d in istiod.deployments
	not _equal(d)
	request := istiod.resource(d, "requests", "memory")
	limit := istiod.resource(d, "limits", "memory")
	v := objects.violation(d, sprintf("the memory request is %v and the limit is %v, want both, equal", [request, limit]))
}

_equal(d) if {
	request := quantities.number(istiod.resource(d, "requests", "memory"))
	limit := quantities.number(istiod.resource(d, "limits", "memory"))
	request == limit
}
