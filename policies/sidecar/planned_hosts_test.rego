package meshgen.sidecar.planned_hosts_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.planned_hosts as policy

_hosts := ["./*", "istio-system/*"]

_judge(written, selector, objects) := {"objects": objects, "plan": {"scopes": [{
	"subject": "sidecar/shop.hosts",
	"namespace": "shop",
	"name": "default",
	"written": written,
	"selector": selector,
	"hosts": _hosts,
}]}}

_says(message) := {{
	"subject": "sidecar/shop.hosts",
	"message": sprintf("Sidecar/shop/default: %s", [message]),
	"file": "sidecar.yaml",
}}

test_deny_no_sidecar if {
	wanted := {{
		"subject": "sidecar/shop.hosts",
		"message": "Sidecar/shop/default is not among the objects",
		"file": "",
	}}
	policy.deny == wanted with input as _judge(true, {}, [])
}

test_deny_a_host_less if {
	narrow := examples.shop("Sidecar", {"spec": {"egress": [{"hosts": ["./*"]}]}})
	wanted := _says(concat("", [
		`spec.egress is [{"hosts": ["./*"]}], `,
		`planned was [{"hosts": ["./*", "istio-system/*"]}]`,
	]))
	policy.deny == wanted with input as _judge(true, {}, [narrow])
}

test_deny_a_selector_that_was_not_planned if {
	selecting := examples.shop("Sidecar", {"spec": {"workloadSelector": {"labels": {"app": "cart"}}}})
	wanted := _says(`spec.workloadSelector is {"labels": {"app": "cart"}}, planned was not set`)
	policy.deny == wanted with input as _judge(true, {}, [selecting])
}

test_deny_a_planned_selector_that_is_lost if {
	wanted := _says(`spec.workloadSelector is not set, planned was {"labels": {"app": "cart"}}`)
	policy.deny == wanted with input as _judge(true, {"app": "cart"}, [examples.shop("Sidecar", {})])
}

test_deny_what_else_a_sidecar_can_say if {
	every field, value in {"outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"}, "ingress": []} {
		wanted := _says(sprintf("spec.%s is %v, planned was not set", [field, value]))
		policy.deny == wanted with input as _judge(true, {}, [examples.shop("Sidecar", {"spec": {field: value}})])
	}
}

test_deny_a_sidecar_that_is_reported_only if {
	wanted := examples.shop_denies("Sidecar", "default", "the plan has no such Sidecar")
	policy.deny == wanted with input as _judge(false, {}, [examples.shop("Sidecar", {})])
}

test_allow_the_planned if {
	policy.deny == set() with input as _judge(true, {}, [examples.shop("Sidecar", {})])
	policy.deny == set() with input as _judge(false, {}, [])
}
