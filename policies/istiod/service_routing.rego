# METADATA
# scope: package
# title: Every istiod is as near as any other
# description: The plan counts on connections being spread over all istiods at random. Zone
#   routing and affinity on istiod's Service pile them up where the proxies are.
# custom:
#   severity: error
#   remedy: remove trafficDistribution and serviceAnnotations about topology from the istiod
#     chart's values
#   source: istio#56556 (the chart takes trafficDistribution), kubernetes#64580
package meshgen.istiod.service_routing

import data.lib.istiod
import data.lib.objects
import data.lib.pods

deny contains v if {
	some d in istiod.deployments
	count(_services(d)) == 0
	v := objects.violation(d, "no Service selects istiod's pods")
}

deny contains v if {
	some d in istiod.deployments
	some s in _services(d)
	some field, value in _skews(s)
	v := objects.violation(s, sprintf("%s is %v: connections would not be spread over every istiod", [field, value]))
}

_services(d) := {s |
	some s in objects.of_kind("Service")
	pods.selected_by(d, s)
}

_skews(s) := object.union(_fields(s), _annotations(s))

_fields(s) := {field: value |
	some field in ["trafficDistribution", "sessionAffinity", "internalTrafficPolicy"]
	value := s.object.spec[field]
	not value in {"None", "Cluster"}
}

_annotations(s) := {name: value |
	some name in ["service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints"]
	value := s.object.metadata.annotations[name]
	not value in {"disabled", "Disabled"}
}
