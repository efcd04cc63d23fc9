# METADATA
# scope: package
# title: xDS connections end in 5 to 30 minutes
# description: Only the end of a connection moves it to another istiod. The binary's own default
#   is never; a value without a unit stops istiod at its start.
# custom:
#   severity: error
#   remedy: set keepaliveMaxServerConnectionAge of the istiod chart to a duration with a unit,
#     such as 15m
#   source: istio#7878, istio#10870, github.com/idoyo7/study-hugo 09-istiod-scaling-connections
package meshgen.istiod.connection_age

import data.lib.istiod
import data.lib.objects
import data.lib.quantities

deny contains v if {
	some d in istiod.deployments
	not _between(istiod.age(d))
	v := objects.violation(d, sprintf("keepaliveMaxServerConnectionAge is %v, want 5m to 30m", [istiod.age(d)]))
}

_between(age) if {
	seconds := quantities.seconds(age)
	seconds >= 300
	seconds <= 1800
}
