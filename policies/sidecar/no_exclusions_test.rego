package meshgen.sidecar.no_exclusions_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.no_exclusions as policy

_seeing(hosts) := [examples.shop("Sidecar", {"spec": {"egress": [{"hosts": hosts}]}})]

test_deny_a_tilde if {
	every host in ["~/*", "~team/*"] {
		wanted := examples.shop_denies(
			"Sidecar",
			"default",
			sprintf("egress host %s means another thing before Istio 1.31 and from it on", [host]),
		)
		policy.deny == wanted with input.objects as _seeing(["./*", host])
	}
}

test_allow_hosts if {
	policy.deny == set() with input.objects as _seeing(["./*", "istio-system/*", "*/api.example.com"])
}
