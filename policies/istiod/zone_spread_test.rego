package meshgen.istiod.zone_spread_test

import data.lib.examples_test as examples
import data.meshgen.istiod.zone_spread as policy

_sound := {
	"topologyKey": "topology.kubernetes.io/zone",
	"whenUnsatisfiable": "DoNotSchedule",
	"maxSkew": 1,
	"nodeTaintsPolicy": "Honor",
	"labelSelector": {"matchLabels": {"app": "istiod"}},
}

_wanted := {{
	"subject": "istiod.topologySpreadConstraints",
	"message": concat("", [
		"Deployment/istio-system/istiod: no constraint holds istiod to one more pod in a zone than in another, ",
		"on nodes that it may use, when a zone is lost as well",
	]),
	"file": "deployment.yaml",
}}

test_deny_constraints_that_do_not_hold if {
	every change in [
		{"nodeTaintsPolicy": "Ignore"},
		{"whenUnsatisfiable": "ScheduleAnyway"},
		{"maxSkew": 2},
		{"minDomains": 2},
		{"labelSelector": {"matchLabels": {"app": "pilot"}}},
	] {
		objects := [examples.pod({"topologySpreadConstraints": [object.union(_sound, change)]})]
		policy.deny == _wanted with input as {"plan": {"istiod": {"hardZoneSpread": true}}, "objects": objects}
	}
}

test_deny_a_spread_of_every_pod if {
	everything := object.union(json.remove(_sound, ["/labelSelector"]), {"labelSelector": {}})
	objects := [examples.pod({"topologySpreadConstraints": [everything]})]
	policy.deny == _wanted with input as {"plan": {"istiod": {"hardZoneSpread": true}}, "objects": objects}
}

test_deny_no_constraint if {
	objects := [examples.changed("Deployment", {})]
	policy.deny == _wanted with input as {"plan": {"istiod": {"hardZoneSpread": true}}, "objects": objects}
}

test_allow_a_hard_constraint if {
	objects := [examples.pod({"topologySpreadConstraints": [_sound]})]
	policy.deny == set() with input as {"plan": {"istiod": {"hardZoneSpread": true}}, "objects": objects}
}

test_allow_none_where_the_plan_relies_on_none if {
	objects := [examples.changed("Deployment", {})]
	policy.deny == set() with input as {"plan": {"istiod": {"hardZoneSpread": false}}, "objects": objects}
}
