# METADATA
# scope: package
# title: A namespace has one default scope
# description: Of two Sidecars without a workloadSelector Istio takes the older one, and nobody sees
#   which that is in Git. They do not merge.
# custom:
#   severity: error
#   remedy: keep one Sidecar without a workloadSelector in the namespace
#   source: Istio analysis IST0111, Istio pilot push_context.go
package meshgen.sidecar.one_default

import data.lib.objects
import data.lib.sidecars

deny contains v if {
	some s in sidecars.defaults
	others := {o | some o in objects.placed(_by_namespace, objects.namespace(s)); o != s}
	count(others) > 0
	v := objects.violation(s, sprintf("%s is a default of the namespace as well, and the older one counts", [
		objects.listing(others),
	]))
}

_by_namespace := object.union_n([{objects.namespace(s): {i: true}} |
	some i, s in input.objects
	s in sidecars.defaults
])
