package meshgen.service.planned_route_test

import data.lib.examples_test as examples
import data.meshgen.service.planned_route as policy

_judge(value, objects) := {"plan": {"routes": [route]}, "objects": objects} if {
	route := {"subject": _subject, "namespace": "shop", "name": "cart", "trafficDistribution": value}
}

_subject := "service/shop/cart.trafficDistribution"

_says(message) := {{
	"subject": _subject,
	"message": sprintf("Service/shop/cart: %s", [message]),
	"file": "service.yaml",
}}

_preferring := examples.shop("Service", {"spec": {"trafficDistribution": "PreferClose"}})

test_deny_no_service if {
	wanted := {{"subject": _subject, "message": "Service/shop/cart is not among the objects", "file": ""}}
	policy.deny == wanted with input as _judge("PreferClose", [])
}

test_deny_a_field_that_is_not_there if {
	wanted := _says("spec.trafficDistribution is not set, planned was PreferClose")
	policy.deny == wanted with input as _judge("PreferClose", [examples.shop("Service", {})])
}

test_deny_a_field_that_was_taken_away if {
	wanted := _says("spec.trafficDistribution is PreferClose, planned was not set")
	policy.deny == wanted with input as _judge("", [_preferring])
}

test_deny_any_annotation if {
	wanted := _says("service.kubernetes.io/topology-mode is Disabled, planned was to delete it")
	annotated := {"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "Disabled"}}}
	policy.deny == wanted with input as _judge("", [examples.shop("Service", annotated)])
}

test_allow_the_planned if {
	policy.deny == set() with input as _judge("PreferClose", [_preferring])
	policy.deny == set() with input as _judge("", [examples.shop("Service", {})])
}
