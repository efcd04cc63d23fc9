package meshgen.sidecar.control_plane_visible_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.control_plane_visible as policy

_seeing(hosts) := examples.shop("Sidecar", {"spec": {"egress": [{"hosts": hosts}]}})

test_deny_a_scope_without_it if {
	wanted := examples.shop_denies("Sidecar", "default", "no egress host is of istio-system")
	every hosts in [["./*"], ["./*", "istio-systems/*"], ["~/*"], []] {
		policy.deny == wanted with input.objects as [_seeing(hosts)]
	}
}

test_deny_the_usual_name_where_istiod_is_elsewhere if {
	wanted := {"no egress host is of mesh"}
	istiod := examples.changed("Deployment", {"metadata": {"namespace": "mesh"}})
	wanted == examples.says(policy.deny) with input.objects as [istiod, _seeing(["./*", "istio-system/*"])]
}

test_allow_hosts_of_it if {
	every host in ["istio-system/*", "istio-system/zipkin.istio-system.svc.cluster.local", "*/*"] {
		policy.deny == set() with input.objects as [_seeing([host])]
	}
}

test_allow_its_own_namespace if {
	own := examples.shop("Sidecar", {"metadata": {"namespace": "istio-system"}, "spec": {"egress": [{"hosts": ["./*"]}]}})
	policy.deny == set() with input.objects as [own]
}
