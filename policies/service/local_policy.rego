# METADATA
# scope: package
# title: Node-local calls and a preferred zone exclude each other
# description: With internalTrafficPolicy Local a call never leaves its node, and is dropped where
#   the node has no pod. trafficDistribution beside it has no effect on calls inside the cluster,
#   so whoever wrote both counts on a fallback that is not there.
# custom:
#   severity: error
#   remedy: remove internalTrafficPolicy for a preference that falls back, or trafficDistribution for
#     calls that stay on the node
#   source: kubernetes/enhancements#4444, kubernetes/enhancements#2086, Kubernetes pkg/proxy/serviceport.go
package meshgen.service.local_policy

import data.lib.objects

deny contains v if {
	some s in objects.of_kind("Service")
	policy := object.get(s.object, ["spec", "internalTrafficPolicy"], "Cluster")
	policy != "Cluster"
	preference := s.object.spec.trafficDistribution

	# From outside, the preference still counts.
	object.get(s.object.spec, "type", "ClusterIP") == "ClusterIP"
	v := objects.violation(s, sprintf("trafficDistribution is %v, without effect beside internalTrafficPolicy %v", [
		preference,
		policy,
	]))
}
