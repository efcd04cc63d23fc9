package meshgen.istiod.as_planned_test

import data.lib.examples_test as examples
import data.meshgen.istiod.as_planned as policy

_plan := {
	"istiod": {"cpu": "2", "memory": "800Mi"},
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

test_allow_the_same_in_other_words if {
	objects := [examples.discovery({
		"args": ["--keepaliveMaxServerConnectionAge=900s"],
		"resources": {"limits": {"cpu": "2000m"}},
	})]
	policy.deny == set() with input as {"plan": _plan, "objects": objects}
}
