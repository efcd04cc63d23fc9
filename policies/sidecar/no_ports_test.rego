package meshgen.sidecar.no_ports_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.no_ports as policy

_listening(patch) := [examples.shop("Sidecar", {"spec": {"egress": [object.union({"hosts": ["./*"]}, patch)]}})]

test_deny_each_field if {
	every field, value in {"port": {"number": 8080}, "bind": "127.0.0.1", "captureMode": "NONE"} {
		wanted := examples.shop_denies(
			"Sidecar",
			"default",
			sprintf("egress 0: %s is %v, want hosts alone", [field, value]),
		)
		policy.deny == wanted with input.objects as _listening({field: value})
	}
}

test_allow_hosts_alone if {
	policy.deny == set() with input.objects as _listening({})
}
