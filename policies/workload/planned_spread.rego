# METADATA
# scope: package
# title: Workloads are spread by the constraints that were planned
# description: Constraints merge by key and kind, so that one of a base survives beside ours. One
#   that is left over, or selects other pods, makes the promise of so many pods in each zone void.
# custom:
#   severity: error
#   remedy: let no overlay patch topologySpreadConstraints of the workload; list what has to stay in the
#     profile
#   source: kubernetes#98215, kubernetes#105661, kustomize strategic merge (the list's merge key is
#     topologyKey with whenUnsatisfiable)
#   needs: [plan]
package meshgen.workload.planned_spread

import data.lib.objects
import data.lib.pods

deny contains v if {
	some w in input.plan.workloads
	w.ownsSpread
	count(objects.at(_workload(w))) == 0
	v := objects.missing(_workload(w), _decision(w))
}

deny contains v if {
	some w in input.plan.workloads
	w.ownsSpread
	some o in objects.at(_workload(w))
	given := count(pods.constraints(o))
	given != count(w.spread)
	v := objects.decided(o, _decision(w), sprintf("there are %d constraints, planned were %d", [given, count(w.spread)]))
}

deny contains v if {
	some w in input.plan.workloads
	w.ownsSpread
	some o in objects.at(_workload(w))
	some i, c in pods.constraints(o)
	some field, planned in _expected(w, o, w.spread[i])
	given := object.get(c, field, "not set")
	given != planned
	v := objects.decided(o, _decision(w), sprintf("constraint %d: %s is %v, planned was %v", [i, field, given, planned]))
}

_workload(w) := sprintf("%s/%s/%s", [w.kind, w.namespace, w.name])

_decision(w) := sprintf("%s.topologySpreadConstraints", [w.subject])

_expected(w, o, c) := {
	"topologyKey": c.topologyKey,
	"whenUnsatisfiable": c.whenUnsatisfiable,
	"maxSkew": c.maxSkew,
	"minDomains": "not set",
	"nodeTaintsPolicy": "Honor",
	"matchLabelKeys": [pods.revision(o)],
	"labelSelector": {"matchLabels": w.labels},
}
