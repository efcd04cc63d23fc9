package meshgen.service.implied_locality_test

import data.lib.examples_test as examples
import data.meshgen.service.implied_locality as policy

_rule(policy) := examples.shop("DestinationRule", {"spec": {"trafficPolicy": policy}})

_detecting := {"outlierDetection": {"consecutive5xxErrors": 5}}

test_deny_detection_alone if {
	wanted := examples.shop_denies("DestinationRule", "cart", concat("", [
		"outlierDetection alone keeps calls of Service/shop/cart in their zone",
	]))
	policy.deny == wanted with input.objects as [examples.shop("Service", {}), _rule(_detecting)]
}

test_allow_what_is_said if {
	service := examples.shop("Service", {})
	off := {"loadBalancer": {"localityLbSetting": {"enabled": false}}}
	policy.deny == set() with input.objects as [service, _rule(object.union(_detecting, off))]
	preferring := examples.shop("Service", {"spec": {"trafficDistribution": "PreferClose"}})
	policy.deny == set() with input.objects as [preferring, _rule(_detecting)]
}

test_allow_no_detection if {
	policy.deny == set() with input.objects as [examples.shop("Service", {}), _rule({})]
}
