# METADATA
# scope: package
# title: A preference for zones is said once
# description: localityLbSetting of a DestinationRule replaces the Service's trafficDistribution for
#   the proxies of the mesh alone, and without outlierDetection it does nothing. kube-proxy and
#   ztunnel then stay in the zone, sidecars do not, and either share of the load was not planned.
# custom:
#   severity: error
#   remedy: keep spec.trafficDistribution of the Service or localityLbSetting of the DestinationRule
#   source: istio#48084, istio#54715, Istio pilot loadbalancer.go
package meshgen.service.one_locality

import data.lib.objects
import data.lib.rules

deny contains v if {
	some r in objects.of_kind("DestinationRule")
	rules.weighs_localities(r)
	some s in rules.services(r)
	preference := s.object.spec.trafficDistribution
	v := objects.violation(r, sprintf("localityLbSetting replaces trafficDistribution %v of %s for sidecars alone", [
		preference,
		objects.subject(s),
	]))
}
