# METADATA
# scope: package
# title: A rollout of istiod takes no pod away first, and adds a quarter at most
# description: Every replaced pod drops its connections at one instant. Taking pods away first
#   loads the rest beyond the plan; the chart's surge of 100 % doubles the pods.
# custom:
#   severity: error
#   remedy: set rollingMaxUnavailable of the istiod chart to 0 and rollingMaxSurge to 25% or less
#   source: istio#7878 (a rolling deploy left 120 to 140 % of the load on one pod), istio#35046
package meshgen.istiod.rollout_surge

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	lost := _setting(d, "maxUnavailable")
	not lost in [0, "0", "0%"]
	v := objects.violation(d, sprintf("maxUnavailable of the rollout is %v, want 0", [lost]))
}

deny contains v if {
	some d in istiod.deployments
	surge := _setting(d, "maxSurge")
	not _gentle(surge)
	v := objects.violation(d, sprintf("maxSurge of the rollout is %v, want 1%% to 25%%, or 1", [surge]))
}

_setting(d, name) := object.get(d.object, ["spec", "strategy", "rollingUpdate", name], "not set")

_gentle(surge) if surge == 1

_gentle(surge) if {
	regex.match(`^[0-9]+%$`, sprintf("%v", [surge]))
	percent := to_number(trim_suffix(surge, "%"))
	percent > 0
	percent <= 25
}
