package meshgen.workload.min_domains_test

import data.lib.examples_test as examples
import data.meshgen.workload.min_domains as policy

_changed(change) := [examples.shop_spread([object.union(examples.zones, change)])]

test_deny_as_many_as_zones if {
	wanted := examples.shop_denies("Deployment", "cart", "constraint 0: minDomains is 3: of so many zones none may go")
	policy.deny == wanted with input.objects as _changed({"minDomains": 3})
}

test_allow_none_or_one if {
	policy.deny == set() with input.objects as _changed({})
	policy.deny == set() with input.objects as _changed({"minDomains": 1})
}

test_allow_minimum_of_hosts if {
	policy.deny == set() with input.objects as _changed({"minDomains": 3, "topologyKey": "kubernetes.io/hostname"})
}
