# METADATA
# scope: package
# title: Sidecars
# description: Istio's Sidecar scopes.
package lib.sidecars

import data.lib.istiod
import data.lib.objects

all := objects.of_kind("Sidecar")

# defaults are the Sidecars that mean every proxy of their namespace.
defaults contains s if {
	some s in all
	count(selector(s)) == 0
}

# selector is the labels of the workloads that a Sidecar means.
selector(s) := found if {
	found := s.object.spec.workloadSelector.labels
	is_object(found)
} else := {}

# hosts are what a Sidecar lets its proxies see, as namespace/name.
hosts(s) := {host |
	some listener in s.object.spec.egress
	some host in listener.hosts
	is_string(host)
}

# control_planes are the namespaces that hold an istiod; Istio's own name for it
# where no istiod is among the objects.
control_planes := found if {
	found := {objects.namespace(d) | some d in istiod.deployments}
	count(found) > 0
} else := {"istio-system"}
