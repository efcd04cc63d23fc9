package meshgen.istiod.planned_deployment_test

import data.lib.examples_test as examples
import data.meshgen.istiod.planned_deployment as policy

_plan := {"istiod": {"namespace": "istio-system", "deployment": "istiod-canary"}}

test_deny_another_revision if {
	wanted := {{
		"subject": "Deployment/istio-system/istiod-canary",
		"message": "the istiod of the plan is there 0 times, want once; there is Deployment/istio-system/istiod",
	}}
	policy.deny == wanted with input as {"plan": _plan, "objects": [examples.changed("Deployment", {})]}
}

test_deny_no_object_at_all if {
	wanted := {{
		"subject": "Deployment/istio-system/istiod-canary",
		"message": "the istiod of the plan is there 0 times, want once; there is nothing",
	}}
	policy.deny == wanted with input as {"plan": _plan, "objects": []}
}

test_allow_the_planned_name if {
	objects := [examples.changed("Deployment", {"metadata": {"name": "istiod-canary"}})]
	policy.deny == set() with input as {"plan": _plan, "objects": objects}
}
