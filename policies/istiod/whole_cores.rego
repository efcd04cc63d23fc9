# METADATA
# scope: package
# title: istiod has whole cores, at least two
# description: The Go runtime rounds a CPU limit up to whole threads, so that a fraction is
#   throttled while it looks idle.
# custom:
#   severity: error
#   remedy: set resources.limits.cpu of the istiod chart to a whole number of cores, 2 or more
#   source: github.com/idoyo7/study-hugo 09-istiod-scaling-connections (a limit of 600m was throttled in 31 % of its
#     periods), istio#46253
package meshgen.istiod.whole_cores

import data.lib.istiod
import data.lib.objects
import data.lib.quantities

deny contains v if {
	some d in istiod.deployments
	not _whole(d)
	limit := istiod.resource(d, "limits", "cpu")
	v := objects.violation(d, sprintf("the CPU limit is %v, want whole cores, at least 2", [limit]))
}

_whole(d) if {
	cores := quantities.number(istiod.resource(d, "limits", "cpu"))
	cores >= 2
	cores == floor(cores)
}
