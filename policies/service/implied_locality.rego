# METADATA
# scope: package
# title: Outlier detection does not choose zones by the way
# description: Istio prefers the caller's zone as soon as a DestinationRule has outlierDetection,
#   whatever the Service says. The pods of a zone then carry all calls from it.
# custom:
#   severity: warning
#   remedy: say what is meant beside outlierDetection - loadBalancer.localityLbSetting.enabled false, or
#     spec.trafficDistribution of the Service
#   source: istio#39477, istio#28570, istio#23914 (pods in other zones got no traffic)
package meshgen.service.implied_locality

import data.lib.objects
import data.lib.rules

deny contains v if {
	some r in objects.of_kind("DestinationRule")
	rules.detects_outliers(r)
	not rules.weighs_localities(r)
	some s in rules.services(r)
	not s.object.spec.trafficDistribution
	v := objects.violation(r, sprintf("outlierDetection alone keeps calls of %s in their zone", [objects.subject(s)]))
}
