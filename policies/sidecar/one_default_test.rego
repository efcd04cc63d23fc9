package meshgen.sidecar.one_default_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.one_default as policy

_default := examples.shop("Sidecar", {})

test_deny_two if {
	wanted := {
		"Sidecar/shop/default is a default of the namespace as well, and the older one counts",
		"Sidecar/shop/team is a default of the namespace as well, and the older one counts",
	}
	second := examples.shop("Sidecar", {"metadata": {"name": "team"}})
	wanted == examples.says(policy.deny) with input.objects as [_default, second]
}

test_allow_one_of_each_namespace if {
	elsewhere := examples.shop("Sidecar", {"metadata": {"namespace": "platform"}})
	policy.deny == set() with input.objects as [_default, elsewhere]
}

test_allow_one_beside_a_selector if {
	own := {"metadata": {"name": "cart"}, "spec": {"workloadSelector": {"labels": {"app": "cart"}}}}
	policy.deny == set() with input.objects as [_default, examples.shop("Sidecar", own)]
}
