package meshgen.workload.tainted_nodes_test

import data.lib.examples_test as examples
import data.meshgen.workload.tainted_nodes as policy

_changed(change) := [examples.shop_spread([object.union(examples.zones, change)])]

test_deny_the_default if {
	wanted := examples.shop_denies("Deployment", "cart", "constraint 0: nodeTaintsPolicy is Ignore, want Honor")
	objects := [examples.shop_spread([json.remove(examples.zones, ["/nodeTaintsPolicy"])])]
	policy.deny == wanted with input.objects as objects
	policy.deny == wanted with input.objects as _changed({"nodeTaintsPolicy": "Ignore"})
}

test_deny_a_set if {
	wanted := examples.shop_denies("StatefulSet", "cart", "constraint 0: nodeTaintsPolicy is Ignore, want Honor")
	ignoring := object.union(examples.zones, {"nodeTaintsPolicy": "Ignore"})
	policy.deny == wanted with input.objects as [examples.shop(
		"StatefulSet",
		{"spec": {"template": {"spec": {"topologySpreadConstraints": [ignoring]}}}},
	)]
}

test_allow_soft_constraints_and_hosts if {
	every change in [{"whenUnsatisfiable": "ScheduleAnyway"}, {"topologyKey": "kubernetes.io/hostname"}] {
		policy.deny == set() with input.objects as _changed(object.union({"nodeTaintsPolicy": "Ignore"}, change))
	}
	policy.deny == set() with input.objects as _changed({})
}
