package meshgen.keda.deduplicated_connections_test

import data.lib.examples_test as examples
import data.meshgen.keda.deduplicated_connections as policy

_asking(query) := examples.triggered([object.union(examples.connections, {"metadata": {"query": query}})])

_wanted := examples.denies("ScaledObject", concat(" ", [
	"trigger 0 (connections):",
	"the query counts series and not connections, want max by (pod, version)",
]))

test_deny_bare_sums if {
	every query in [
		`sum(pilot_xds)`,
		`sum(max by (pod) (last_over_time(pilot_xds[1m])))`,
		`sum by (pod, version) (pilot_xds)`,
	] {
		policy.deny == _wanted with input.objects as _asking(query)
	}
}

test_allow_each_once if {
	every query in [
		`sum(max by (pod, version) (pilot_xds))`,
		`160 * ceil(sum(max by(version,pod)(last_over_time(pilot_xds[1m]))) / 160)`,
		`sum(max(pilot_xds) by (namespace, pod, version))`,
	] {
		policy.deny == set() with input.objects as _asking(query)
	}
}
