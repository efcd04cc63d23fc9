# METADATA
# scope: package
# title: istiod runs with what the plan computed with
# description: The chart merges a legacy pilot block over every other value, so that an old values
#   file wins without a word, and the threshold no longer fits the pod.
# custom:
#   severity: error
#   remedy: remove the setting from the values files that are merged over or beside meshgen's,
#     above all from a pilot block
#   source: istio chart istiod templates/zzy_descope_legacy.yaml, istio#14205
#   needs: [plan]
package meshgen.istiod.as_planned

import data.lib.istiod
import data.lib.objects
import data.lib.pods
import data.lib.quantities

deny contains v if {
	some d in istiod.deployments
	some kind in ["limits", "requests"]
	some resource in ["cpu", "memory"]
	planned := input.plan.istiod[resource]
	found := istiod.resource(d, kind, resource)
	not _same(found, planned)
	message := sprintf("%s of %s is %v, planned was %s", [resource, kind, found, planned])
	v := objects.decided(d, _decision[resource], message)
}

deny contains v if {
	some d in istiod.deployments
	subject := "istiod.keepaliveMaxServerConnectionAge"
	planned := input.plan.decisions[subject].value
	found := istiod.age(d)
	not quantities.seconds(found) == quantities.seconds(planned)
	v := objects.decided(d, subject, sprintf("keepaliveMaxServerConnectionAge is %v, planned was %s", [found, planned]))
}

deny contains v if {
	some d in istiod.deployments
	subject := "istiod.topologySpreadConstraints"
	planned := input.plan.decisions[subject].value
	found := [_words(c) | some c in pods.constraints(d)]
	found != planned
	v := objects.decided(d, subject, sprintf("topologySpreadConstraints are %v, planned were %v", [found, planned]))
}

deny contains v if {
	some d in istiod.deployments
	planned := input.plan.istiod.priorityClass
	found := object.get(istiod.pod(d), "priorityClassName", "not set")
	found != planned
	v := objects.violation(d, sprintf("priorityClassName is %v, planned was %s", [found, planned]))
}

_words(c) := sprintf("%v %v %v", [object.get(c, field, "none") |
	some field in ["topologyKey", "whenUnsatisfiable", "maxSkew"]
])

_decision := {"cpu": "istiod.cpu", "memory": "istiod.connectionThreshold"}

_same(found, planned) if quantities.number(found) == quantities.number(planned)
