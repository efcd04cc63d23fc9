package meshgen.service.same_node_test

import data.lib.examples_test as examples
import data.meshgen.service.same_node as policy

_service := examples.shop("Service", {"spec": {"trafficDistribution": "PreferSameNode"}})

_wanted := examples.shop_denies(
	"Service",
	"cart",
	"trafficDistribution is PreferSameNode, and no DaemonSet puts its pods on every node",
)

test_deny_a_deployment if {
	policy.deny == _wanted with input.objects as [_service, examples.shop("Deployment", {})]
}

test_deny_a_daemon_set_of_others if {
	elsewhere := examples.shop("DaemonSet", {"metadata": {"namespace": "platform"}})
	other := examples.shop("DaemonSet", {"spec": {"template": {"metadata": {"labels": {"app": "agent"}}}}})
	policy.deny == _wanted with input.objects as [_service, elsewhere, other]
}

test_allow_a_daemon_set if {
	policy.deny == set() with input.objects as [_service, examples.shop("DaemonSet", {})]
}

test_allow_a_zone if {
	preferring := {"spec": {"trafficDistribution": "PreferSameZone"}}
	policy.deny == set() with input.objects as [examples.shop("Service", preferring)]
}
