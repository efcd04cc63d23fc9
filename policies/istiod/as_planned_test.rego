package meshgen.istiod.as_planned_test

import data.lib.examples_test as examples
import data.meshgen.istiod.as_planned as policy

_plan := {
	"istiod": {"cpu": "2", "memory": "800Mi", "priorityClass": "system-cluster-critical"},
	"decisions": {"istiod.keepaliveMaxServerConnectionAge": {"value": "15m"}},
}

_denied(subject, message) := {{
	"subject": subject,
	"message": sprintf("Deployment/istio-system/istiod: %s", [message]),
	"file": "deployment.yaml",
}}

test_deny_an_age_that_won if {
	objects := [examples.discovery({"args": ["--keepaliveMaxServerConnectionAge", "10m"]})]
	wanted := _denied("istiod.keepaliveMaxServerConnectionAge", "keepaliveMaxServerConnectionAge is 10m, planned was 15m")
	policy.deny == wanted with input as {"plan": _plan, "objects": objects}
}

test_deny_less_memory if {
	objects := [examples.discovery({"resources": {"limits": {"memory": "768Mi"}}})]
	wanted := _denied("istiod.connectionThreshold", "memory of limits is 768Mi, planned was 800Mi")
	policy.deny == wanted with input as {"plan": _plan, "objects": objects}
}

test_deny_no_cpu_request if {
	objects := [examples.pod({"containers": [json.remove(examples.container, ["/resources/requests/cpu"])]})]
	wanted := _denied("istiod.cpu", "cpu of requests is not set, planned was 2")
	policy.deny == wanted with input as {"plan": _plan, "objects": objects}
}

test_deny_another_priority_class if {
	wanted := examples.denies("Deployment", "priorityClassName is mesh, planned was system-cluster-critical")
	objects := [examples.pod({"priorityClassName": "mesh"})]
	policy.deny == wanted with input as {"plan": _plan, "objects": objects}
}

test_allow_the_same_in_other_words if {
	objects := [examples.discovery({
		"args": ["--keepaliveMaxServerConnectionAge=900s"],
		"resources": {"limits": {"cpu": "2000m"}},
	})]
	policy.deny == set() with input as {"plan": _plan, "objects": objects}
}

_zones := {"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}

_hosts := {"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}

_spread_plan := object.union(_plan, {"decisions": {"istiod.topologySpreadConstraints": {"value": [
	"topology.kubernetes.io/zone DoNotSchedule 1",
	"kubernetes.io/hostname ScheduleAnyway 1",
]}}})

test_deny_constraints_that_are_not_the_planned_ones if {
	every constraints in [
		[],
		[_zones],
		[_zones, object.union(_hosts, {"maxSkew": 2})],
		[_zones, object.union(_hosts, {"whenUnsatisfiable": "DoNotSchedule"})],
		[_zones, _hosts, object.union(_hosts, {"topologyKey": "rack"})],
	] {
		objects := [examples.pod({"topologySpreadConstraints": constraints})]
		some v in policy.deny with input as {"plan": _spread_plan, "objects": objects}
		v.subject == "istiod.topologySpreadConstraints"
	}
}

test_allow_the_planned_constraints if {
	objects := [examples.pod({"topologySpreadConstraints": [_zones, _hosts]})]
	policy.deny == set() with input as {"plan": _spread_plan, "objects": objects}
}
