package meshgen.pdb.one_budget_test

import data.lib.examples_test as examples
import data.meshgen.pdb.one_budget as policy

test_deny_the_charts_own_beside_it if {
	chart := examples.changed("PodDisruptionBudget", {"metadata": {"name": "istiod-chart"}})
	wanted := examples.denies("Deployment", concat(" ", [
		"selected by PodDisruptionBudget/istio-system/istiod and PodDisruptionBudget/istio-system/istiod-chart,",
		"want one PodDisruptionBudget",
	]))
	policy.deny == wanted with input.objects as array.concat(examples.budgeted({}), [chart])
}

test_deny_none if {
	wanted := examples.denies("Deployment", "selected by nothing, want one PodDisruptionBudget")
	policy.deny == wanted with input.objects as [examples.changed("Deployment", {})]
}

test_deny_selectors_of_nothing if {
	wanted := examples.denies("Deployment", "selected by nothing, want one PodDisruptionBudget")
	every selector in [
		{"matchLabels": {"app": "pilot"}},
		{"matchExpressions": [{"key": "istio", "operator": "NotIn", "values": ["pilot"]}]},
		{"matchExpressions": [{"key": "team", "operator": "Exists"}]},
	] {
		policy.deny == wanted with input.objects as examples.budgeted({"spec": {"selector": selector}})
	}
	objects := [examples.changed("Deployment", {}), examples.without("PodDisruptionBudget", "/spec/selector")]
	policy.deny == wanted with input.objects as objects
}

test_allow_one if {
	policy.deny == set() with input.objects as examples.budgeted({})
	expressions := [
		{"key": "istio", "operator": "In", "values": ["pilot"]},
		{"key": "team", "operator": "DoesNotExist"},
	]
	policy.deny == set() with input.objects as examples.budgeted({"spec": {"selector": {"matchExpressions": expressions}}})
}
