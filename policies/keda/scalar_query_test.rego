package meshgen.keda.scalar_query_test

import data.lib.examples_test as examples
import data.meshgen.keda.scalar_query as policy

_asking(query) := examples.triggered([object.union(examples.connections, {"metadata": {"query": query}})])

test_deny_scalars if {
	wanted := examples.denies("ScaledObject", "trigger 0 (connections): the query is a scalar, want vector(…)")
	every query in [
		`46 * (time() >= bool 1797665460) * (time() < bool 1797681600)`,
		`scalar(sum(pilot_xds))`,
		`46`,
		``,
	] {
		policy.deny == wanted with input.objects as _asking(query)
	}
}

test_allow_vectors if {
	every query in [
		`vector(46 * (time() >= bool 1797665460) * (time() < bool 1797681600))`,
		`sum(rate(x[2m])) * (1 + 0.5 * (time() >= bool 1797665460))`,
		`sum(max by (pod, version) (pilot_xds))`,
	] {
		policy.deny == set() with input.objects as _asking(query)
	}
}
