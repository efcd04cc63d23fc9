package meshgen.istiod.connection_age_test

import data.lib.examples_test as examples
import data.meshgen.istiod.connection_age as policy

test_deny_ages if {
	every age in ["0", "0s", "900", "2m", "1h"] {
		wanted := examples.denies("Deployment", sprintf("keepaliveMaxServerConnectionAge is %s, want 5m to 30m", [age]))
		policy.deny == wanted with input.objects as [examples.discovery({"args": ["--keepaliveMaxServerConnectionAge", age]})]
	}
}

test_deny_the_last_of_two if {
	args := ["--keepaliveMaxServerConnectionAge", "15m", "--keepaliveMaxServerConnectionAge=24h"]
	wanted := examples.denies("Deployment", "keepaliveMaxServerConnectionAge is 24h, want 5m to 30m")
	policy.deny == wanted with input.objects as [examples.discovery({"args": args})]
}

test_deny_the_binarys_default if {
	wanted := examples.denies("Deployment", "keepaliveMaxServerConnectionAge is not set, want 5m to 30m")
	policy.deny == wanted with input.objects as [examples.discovery({"args": ["discovery"]})]
}

test_allow_a_quarter_of_an_hour if {
	policy.deny == set() with input.objects as [examples.changed("Deployment", {})]
	policy.deny == set() with input.objects as [examples.discovery({"args": ["--keepaliveMaxServerConnectionAge=900s"]})]
}
