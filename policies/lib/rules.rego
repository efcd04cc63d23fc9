# METADATA
# scope: package
# title: Rules
# description: Istio's DestinationRules, and the Services that they are about.
package lib.rules

import data.lib.objects

# weighs_localities holds for a rule with a word about zones and regions.
weighs_localities(r) if r.object.spec.trafficPolicy.loadBalancer.localityLbSetting

detects_outliers(r) if r.object.spec.trafficPolicy.outlierDetection

# services are the Services of a rule's host: a short name is of the rule's own
# namespace, a full one is name.namespace.svc and the cluster's domain.
services(r) := objects.at(objects.named("Service", host[0], host[1])) if {
	host := _host(r)
}

_host(r) := [objects.namespace(r), host] if {
	host := r.object.spec.host
	is_string(host)
	not contains(host, ".")
}

_host(r) := [parts[1], parts[0]] if {
	host := r.object.spec.host
	is_string(host)
	parts := split(host, ".")
	parts[2] == "svc"
}
