# METADATA
# scope: package
# title: No Service asks for topology hints by annotation
# description: The hints follow the CPU of the cluster's nodes and not where pods or callers are,
#   come and go with it, and strand endpoints. The annotation beats trafficDistribution even while
#   it achieves nothing, and proxies of the mesh read neither it nor the hints.
# custom:
#   severity: error
#   remedy: delete service.kubernetes.io/topology-mode and service.kubernetes.io/topology-aware-hints
#     from the Service; where its pods are spread evenly, use spec.trafficDistribution
#   source: kubernetes#121516, kubernetes#122437, k8s.io/endpointslice reconciler.go
#     (canUseTrafficDistribution)
package meshgen.service.legacy_annotation

import data.lib.objects

deny contains v if {
	some s in objects.of_kind("Service")
	some name in ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"]
	value := objects.field(s, ["metadata", "annotations", name])
	value in {"Auto", "auto"}
	v := objects.violation(s, sprintf("%s is %v%s", [name, value, _beaten(s)]))
}

_beaten(s) := sprintf(": trafficDistribution %v is ignored", [field]) if {
	field := s.object.spec.trafficDistribution
} else := ""
