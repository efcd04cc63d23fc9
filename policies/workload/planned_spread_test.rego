package meshgen.workload.planned_spread_test

import data.lib.examples_test as examples
import data.meshgen.workload.planned_spread as policy

_judge(owns, objects) := {"objects": objects, "plan": {"workloads": [{
	"subject": "workload/shop/cart",
	"namespace": "shop",
	"name": "cart",
	"kind": "Deployment",
	"labels": {"app": "cart"},
	"ownsSpread": owns,
	"spread": [{"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}],
}]}}

_says(message) := {{
	"subject": "workload/shop/cart.topologySpreadConstraints",
	"message": sprintf("Deployment/shop/cart: %s", [message]),
	"file": "deployment.yaml",
}}

test_deny_no_workload if {
	wanted := {{
		"subject": "workload/shop/cart.topologySpreadConstraints",
		"message": "Deployment/shop/cart is not among the objects",
		"file": "",
	}}
	policy.deny == wanted with input as _judge(true, [examples.shop("StatefulSet", {})])
}

test_deny_a_constraint_of_the_base if {
	hosts := object.union(examples.zones, {"topologyKey": "kubernetes.io/hostname"})
	objects := [examples.shop_spread([examples.zones, hosts])]
	wanted := _says("there are 2 constraints, planned were 1")
	policy.deny == wanted with input as _judge(true, objects)
}

test_deny_no_constraint if {
	wanted := _says("there are 0 constraints, planned were 1")
	policy.deny == wanted with input as _judge(true, [examples.shop_spread([])])
}

test_deny_each_difference if {
	every change, said in {
		{"topologyKey": "zone"}: "constraint 0: topologyKey is zone, planned was topology.kubernetes.io/zone",
		{"maxSkew": 2}: "constraint 0: maxSkew is 2, planned was 1",
		{"minDomains": 2}: "constraint 0: minDomains is 2, planned was not set",
		{"nodeTaintsPolicy": "Ignore"}: "constraint 0: nodeTaintsPolicy is Ignore, planned was Honor",
		{"whenUnsatisfiable": "ScheduleAnyway"}: concat("", [
			"constraint 0: whenUnsatisfiable is ScheduleAnyway, ",
			"planned was DoNotSchedule",
		]),
		{"matchLabelKeys": ["version"]}: concat("", [
			`constraint 0: matchLabelKeys is ["version"], `,
			`planned was ["pod-template-hash"]`,
		]),
		{"labelSelector": {"matchLabels": {"team": "buying"}}}: concat("", [
			`constraint 0: labelSelector is {"matchLabels": {"app": "cart", "team": "buying"}}, `,
			`planned was {"matchLabels": {"app": "cart"}}`,
		]),
	} {
		objects := [examples.shop_spread([object.union(examples.zones, change)])]
		policy.deny == _says(said) with input as _judge(true, objects)
	}
}

test_allow_the_planned if {
	policy.deny == set() with input as _judge(true, [examples.shop("Deployment", {})])
}

test_allow_what_the_plan_leaves_alone if {
	policy.deny == set() with input as _judge(false, [examples.shop_spread([])])
	policy.deny == set() with input as _judge(false, [])
}
