# METADATA
# scope: package
# title: A Service prefers its zone as planned
# description: The plan weighed every reachable placement before it let a Service prefer its own
#   zone, or found that none is safe. An overlay that sets the field again, or keeps an annotation
#   that beats it, undoes that.
# custom:
#   severity: error
#   remedy: let no overlay patch spec.trafficDistribution or the topology annotations of the Service;
#     change the Service in the profile
#   source: kubernetes/enhancements#4003, k8s.io/endpointslice reconciler.go (canUseTrafficDistribution)
#   needs: [plan]
package meshgen.service.planned_route

import data.lib.objects

deny contains v if {
	some r in input.plan.routes
	count(objects.at(_service(r))) == 0
	v := objects.missing(_service(r), r.subject)
}

deny contains v if {
	some r in input.plan.routes
	some s in objects.at(_service(r))
	given := object.get(s.object, ["spec", "trafficDistribution"], "")
	given != r.trafficDistribution
	v := objects.decided(s, r.subject, sprintf("spec.trafficDistribution is %s, planned was %s", [
		_words(given),
		_words(r.trafficDistribution),
	]))
}

deny contains v if {
	some r in input.plan.routes
	some s in objects.at(_service(r))
	some name in ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"]
	value := s.object.metadata.annotations[name]
	v := objects.decided(s, r.subject, sprintf("%s is %v, planned was to delete it", [name, value]))
}

_service(r) := sprintf("Service/%s/%s", [r.namespace, r.name])

_words("") := "not set"

_words(value) := sprintf("%v", [value]) if value != ""
