package meshgen.istiod.off_dedicated_pools_test

import data.lib.examples_test as examples
import data.meshgen.istiod.off_dedicated_pools as policy

_plan := {"istiod": {
	"dedicatedPools": [{"name": "edge", "labels": {"pool": "edge"}}, {"name": "gpu", "labels": {}}],
	"tolerations": [{"key": "shared", "operator": "", "value": "yes", "effect": "NoSchedule"}],
}}

_affinity(operator, values) := {"affinity": {"nodeAffinity": node}} if {
	expression := {"key": "pool", "operator": operator, "values": values}
	terms := {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
	node := {"requiredDuringSchedulingIgnoredDuringExecution": terms}
}

_on_edge := examples.denies("Deployment", "istiod may stand on node pool edge, which is dedicated to others")

test_deny_a_selector_of_the_pool if {
	objects := [examples.pod({"nodeSelector": {"pool": "edge"}})]
	policy.deny == _on_edge with input as {"plan": _plan, "objects": objects}
}

test_deny_nothing_ruled_out if {
	every patch in [{}, _affinity("NotIn", ["gpu"]), _affinity("In", ["edge", "general"])] {
		policy.deny == _on_edge with input as {"plan": _plan, "objects": [examples.pod(patch)]}
	}
}

test_deny_a_toleration_of_everything if {
	patch := object.union(_affinity("NotIn", ["edge"]), {"tolerations": [{"operator": "Exists"}]})
	wanted := examples.denies("Deployment", "istiod tolerates every taint, which the profile does not list")
	policy.deny == wanted with input as {"plan": _plan, "objects": [examples.pod(patch)]}
}

test_allow_the_pool_ruled_out if {
	every patch in [
		_affinity("NotIn", ["edge"]),
		_affinity("DoesNotExist", []),
		_affinity("In", ["general"]),
		{"nodeSelector": {"pool": "general"}},
	] {
		policy.deny == set() with input as {"plan": _plan, "objects": [examples.pod(patch)]}
	}
}

test_allow_the_charts_and_the_profiles_tolerations if {
	patch := object.union(_affinity("NotIn", ["edge"]), {"tolerations": [
		{"key": "cni.istio.io/not-ready", "operator": "Exists"},
		{"key": "shared", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
	]})
	policy.deny == set() with input as {"plan": _plan, "objects": [examples.pod(patch)]}
}
