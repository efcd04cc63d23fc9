package meshgen.pdb.max_unavailable_test

import data.lib.examples_test as examples
import data.meshgen.pdb.max_unavailable as policy

test_deny_the_charts_budget if {
	wanted := examples.denies(
		"PodDisruptionBudget",
		"maxUnavailable is not set and minAvailable is 1, want maxUnavailable of 1 to 2 for at least 24 pods",
	)
	chart := {"file": "poddisruptionbudget.yaml", "object": object.union(
		json.remove(examples.of_kind.PodDisruptionBudget, ["/spec/maxUnavailable"]),
		{"spec": {"minAvailable": 1}},
	)}
	policy.deny == wanted with input.objects as array.concat(examples.scaled({}), [chart])
}

test_deny_numbers_out_of_range if {
	every n in [0, 3, "10%"] {
		wanted := examples.denies("PodDisruptionBudget", concat(" ", [
			sprintf("maxUnavailable is %v and minAvailable is not set,", [n]),
			"want maxUnavailable of 1 to 2 for at least 24 pods",
		]))
		policy.deny == wanted with input.objects as examples.budgeted({"spec": {"maxUnavailable": n}})
	}
}

test_deny_two_where_nothing_keeps_a_floor if {
	wanted := examples.denies(
		"PodDisruptionBudget",
		"maxUnavailable is 2 and minAvailable is not set, want maxUnavailable of 1 to 1 for at least 0 pods",
	)
	objects := [examples.changed("Deployment", {}), examples.changed("PodDisruptionBudget", {})]
	policy.deny == wanted with input.objects as objects
}

test_deny_a_budget_of_every_pod if {
	wanted := examples.denies(
		"PodDisruptionBudget",
		"it counts every pod of the namespace, want a selector of istiod's",
	)
	everything := {"file": "poddisruptionbudget.yaml", "object": object.union(
		json.remove(examples.of_kind.PodDisruptionBudget, ["/spec/selector"]),
		{"spec": {"selector": {}}},
	)}
	policy.deny == wanted with input.objects as array.concat(examples.scaled({}), [everything])
}

test_allow_a_tenth if {
	policy.deny == set() with input.objects as examples.budgeted({})
	policy.deny == set() with input.objects as examples.budgeted({"spec": {"maxUnavailable": 1}})
}
