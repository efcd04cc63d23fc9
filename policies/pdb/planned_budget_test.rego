package meshgen.pdb.planned_budget_test

import data.lib.examples_test as examples
import data.meshgen.pdb.planned_budget as policy

_plan(revision) := {
	"istiod": {"deployment": "istiod", "revision": revision},
	"decisions": {"istiod.podDisruptionBudget.maxUnavailable": {"value": 2}},
}

_labels := {"app": "istiod", "istio.io/rev": "default"}

_objects(labels, patch) := [
	examples.changed("Deployment", {"spec": {"template": {"metadata": {"labels": labels}}}}),
	_budget(labels, patch),
]

_budget(labels, patch) := examples.changed("PodDisruptionBudget", object.union(
	{"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": {"matchLabels": labels}}},
	patch,
))

_denied(message) := {{
	"subject": "istiod.podDisruptionBudget.maxUnavailable",
	"message": sprintf("PodDisruptionBudget/istio-system/istiod: %s", [message]),
	"file": "poddisruptionbudget.yaml",
}}

test_deny_another_number if {
	objects := _objects(_labels, {"spec": {"maxUnavailable": 1}})
	wanted := _denied("spec.maxUnavailable is 1, planned was 2")
	policy.deny == wanted with input as {"plan": _plan(""), "objects": objects}
}

test_deny_a_broken_pod_that_holds_up_drains if {
	objects := _objects(_labels, {"spec": {"unhealthyPodEvictionPolicy": "IfHealthyBudget"}})
	wanted := _denied("spec.unhealthyPodEvictionPolicy is IfHealthyBudget, planned was AlwaysAllow")
	policy.deny == wanted with input as {"plan": _plan(""), "objects": objects}
}

test_deny_fewer_labels if {
	every label in ["app", "istio.io/rev"] {
		path := sprintf("object/spec/selector/matchLabels/%s", [replace(label, "/", "~1")])
		fewer := json.remove(_budget(_labels, {}), [path])
		objects := array.concat(array.slice(_objects(_labels, {}), 0, 1), [fewer])
		found := policy.deny with input as {"plan": _plan(""), "objects": objects}
		count(found) == 1
	}
}

test_deny_another_revision if {
	wanted := _denied(concat("", [
		`spec.selector is {"matchLabels": {"app": "istiod", "istio.io/rev": "default"}}, `,
		`planned was {"matchLabels": {"app": "istiod", "istio.io/rev": "1-31"}}`,
	]))
	policy.deny == wanted with input as {"plan": _plan("1-31"), "objects": _objects(_labels, {})}
}

test_allow_the_planned_one if {
	policy.deny == set() with input as {"plan": _plan(""), "objects": _objects(_labels, {})}
	canary := {"app": "istiod", "istio.io/rev": "1-31"}
	policy.deny == set() with input as {"plan": _plan("1-31"), "objects": _objects(canary, {})}
}
