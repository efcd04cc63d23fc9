package meshgen.workload.own_labels_test

import data.lib.examples_test as examples
import data.meshgen.workload.own_labels as policy

_selected(selector) := [examples.shop_spread([object.union(
	json.remove(examples.zones, ["/labelSelector"]),
	{"labelSelector": selector},
)])]

_wanted := examples.shop_denies(
	"Deployment",
	"cart",
	"constraint 0 over topology.kubernetes.io/zone: its selector does not match the pod's own labels",
)

test_deny_other_pods if {
	every selector in [
		{},
		{"matchLabels": {"app": "basket"}},
		{"matchLabels": {"app": "cart", "version": "v1"}},
		{"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["buying"]}]},
	] {
		policy.deny == _wanted with input.objects as _selected(selector)
	}
}

test_deny_no_selector if {
	objects := [examples.shop_spread([json.remove(examples.zones, ["/labelSelector"])])]
	policy.deny == _wanted with input.objects as objects
}

test_allow_the_pods_own_labels if {
	policy.deny == set() with input.objects as [examples.shop("Deployment", {})]
	policy.deny == set() with input.objects as _selected({"matchExpressions": [{"key": "app", "operator": "Exists"}]})
}
