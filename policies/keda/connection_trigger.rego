# METADATA
# scope: package
# title: istiod scales on connections
# description: istiod's CPU peaks with pushes and its memory follows connections; an autoscaler
#   without a trigger on pilot_xds is late for both.
# custom:
#   severity: error
#   remedy: add a prometheus trigger on pilot_xds to istiod's ScaledObject
#   source: istio#42634, istio#14205, github.com/idoyo7/study-hugo 09-istiod-scaling-connections
package meshgen.keda.connection_trigger

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in istiod.scaled_objects
	not _counts(s)
	v := objects.violation(s, sprintf("none of the %d triggers asks Prometheus for pilot_xds", [count(triggers.of(s))]))
}

_counts(s) if {
	some t in triggers.of(s)
	triggers.counts_connections(t)
}
