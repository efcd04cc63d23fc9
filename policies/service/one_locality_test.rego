package meshgen.service.one_locality_test

import data.lib.examples_test as examples
import data.meshgen.service.one_locality as policy

_rule(host) := examples.shop("DestinationRule", {"spec": {
	"host": host,
	"trafficPolicy": {"loadBalancer": {"localityLbSetting": {"enabled": true}}},
}})

_service := examples.shop("Service", {"spec": {"trafficDistribution": "PreferClose"}})

test_deny_both if {
	wanted := examples.shop_denies("DestinationRule", "cart", concat("", [
		"localityLbSetting replaces trafficDistribution PreferClose of Service/shop/cart for sidecars alone",
	]))
	every host in ["cart", "cart.shop.svc.cluster.local", "cart.shop.svc"] {
		policy.deny == wanted with input.objects as [_service, _rule(host)]
	}
}

test_allow_one_of_them if {
	policy.deny == set() with input.objects as [examples.shop("Service", {}), _rule("cart")]
	policy.deny == set() with input.objects as [_service, examples.shop("DestinationRule", {})]
}

test_allow_rules_of_other_hosts if {
	every host in ["cart.platform.svc.cluster.local", "cart.shop", "*.shop.svc.cluster.local", "auth"] {
		policy.deny == set() with input.objects as [_service, _rule(host)]
	}
}
