package meshgen.sidecar.one_selector_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.one_selector as policy

_selecting(name, labels) := examples.shop("Sidecar", {
	"metadata": {"name": name},
	"spec": {"workloadSelector": {"labels": labels}},
})

_cart := _selecting("cart", {"app": "cart"})

test_deny_two_that_select_one_workload if {
	wanted := {
		"Sidecar/shop/cart selects a workload of its as well, and the older one counts",
		"Sidecar/shop/buying selects a workload of its as well, and the older one counts",
	}
	objects := [_cart, _selecting("buying", {"team": "buying"}), examples.shop("Deployment", {})]
	wanted == examples.says(policy.deny) with input.objects as objects
}

test_deny_a_selector_within_another if {
	wanted := {
		"Sidecar/shop/cart selects a workload of its as well, and the older one counts",
		"Sidecar/shop/canary selects a workload of its as well, and the older one counts",
	}
	objects := [_cart, _selecting("canary", {"app": "cart", "version": "v2"})]
	wanted == examples.says(policy.deny) with input.objects as objects
}

test_allow_selectors_that_meet_nowhere if {
	objects := [_cart, _selecting("auth", {"app": "auth"}), examples.shop("Deployment", {})]
	policy.deny == set() with input.objects as objects
	policy.deny == set() with input.objects as [_cart, _selecting("buying", {"team": "buying"})]
}

test_allow_a_default_and_another_namespace if {
	elsewhere := examples.shop("Sidecar", {
		"metadata": {"name": "all", "namespace": "platform"},
		"spec": {"workloadSelector": {"labels": {"app": "cart"}}},
	})
	policy.deny == set() with input.objects as [_cart, examples.shop("Sidecar", {}), elsewhere]
}
