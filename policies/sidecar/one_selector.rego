# METADATA
# scope: package
# title: A workload has one scope of its own
# description: Of two Sidecars that select one workload Istio takes the older one, and nobody sees
#   which that is in Git. They do not merge.
# custom:
#   severity: error
#   remedy: narrow the workloadSelectors until no two select the same workload
#   source: Istio analysis IST0110, Istio pilot push_context.go
package meshgen.sidecar.one_selector

import data.lib.labels
import data.lib.objects
import data.lib.pods
import data.lib.sidecars

deny contains v if {
	some s in _contested
	others := {o | some rivals in _rivals; s in rivals; some o in rivals; o != s}
	v := objects.violation(s, sprintf("%s selects a workload of its as well, and the older one counts", [
		objects.listing(others),
	]))
}

_contested contains s if {
	some rivals in _rivals
	some s in rivals
}

# _rivals are Sidecars that select the same labels: those of a workload, or those
# that one of them asks for.
_rivals contains found if {
	some bearer in _bearers
	found := {s |
		some key, value in bearer.labels
		some s in objects.placed(_by_label, _label(bearer.namespace, key, value))
		labels.match(sidecars.selector(s), bearer.labels)
	}
	count(found) > 1
}

_bearers contains {"namespace": objects.namespace(w), "labels": pods.labels(w)} if {
	some kind in ["DaemonSet", "Deployment", "StatefulSet"]
	some w in objects.of_kind(kind)
}

_bearers contains {"namespace": objects.namespace(s), "labels": sidecars.selector(s)} if {
	some s in sidecars.all
}

# _by_label finds Sidecars by one of the labels that they ask for.
_by_label := object.union_n([{_label(objects.namespace(s), key, wanted[key]): {i: true}} |
	some i, s in input.objects
	s.object.kind == "Sidecar"
	wanted := sidecars.selector(s)
	count(wanted) > 0
	key := min(object.keys(wanted))
])

_label(namespace, key, value) := sprintf("%s %s=%v", [namespace, key, value])
