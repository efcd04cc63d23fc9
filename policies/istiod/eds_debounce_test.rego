package meshgen.istiod.eds_debounce_test

import data.lib.examples_test as examples
import data.meshgen.istiod.eds_debounce as policy

_env(variable) := [examples.discovery({"env": [object.union({"name": "PILOT_ENABLE_EDS_DEBOUNCE"}, variable)]})]

test_deny_off if {
	wanted := examples.denies("Deployment", "PILOT_ENABLE_EDS_DEBOUNCE is false, want true or nothing")
	policy.deny == wanted with input.objects as _env({"value": "false"})
}

test_deny_what_cannot_be_read if {
	wanted := examples.denies("Deployment", "PILOT_ENABLE_EDS_DEBOUNCE is taken from elsewhere, want true or nothing")
	policy.deny == wanted with input.objects as _env({"valueFrom": {"configMapKeyRef": {"name": "tuning", "key": "eds"}}})
}

test_allow_the_default if {
	policy.deny == set() with input.objects as [examples.changed("Deployment", {})]
	policy.deny == set() with input.objects as _env({"value": "true"})
}
