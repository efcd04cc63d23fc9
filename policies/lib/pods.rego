# METADATA
# scope: package
# title: Pods
# description: Workloads, and the pods that they make.
package lib.pods

import data.lib.labels as selectors
import data.lib.objects

# spread are the workloads whose pods the scheduler places by constraints.
spread contains w if {
	some kind in ["Deployment", "StatefulSet"]
	some w in objects.of_kind(kind)
}

# labels are those of a workload's pods.
labels(w) := found if {
	found := w.object.spec.template.metadata.labels
	is_object(found)
} else := {}

# containers are the names of a workload's containers: its own, and the proxy that
# Istio injects.
containers(w) := {"istio-proxy"} | {c.name |
	some list in ["containers", "initContainers"]
	some c in w.object.spec.template.spec[list]
}

# constraints are a workload's topology spread constraints.
constraints(w) := [c |
	some c in w.object.spec.template.spec.topologySpreadConstraints
	is_object(c)
]

# on_zones holds for a constraint over the zones.
on_zones(c) if c.topologyKey == "topology.kubernetes.io/zone"

# hard holds for a constraint that leaves pods pending.
hard(c) if c.whenUnsatisfiable == "DoNotSchedule"

# revision is the label by which a workload's controller tells its revisions.
revision(w) := {"Deployment": "pod-template-hash", "StatefulSet": "controller-revision-hash"}[w.object.kind]

# selected_by holds when a Service sends its calls to a workload's pods.
selected_by(w, service) if {
	selector := service.object.spec.selector
	is_object(selector)
	count(selector) > 0
	objects.namespace(service) == objects.namespace(w)
	selectors.match(selector, labels(w))
}
