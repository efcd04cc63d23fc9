# METADATA
# scope: package
# title: A query answers with a vector
# description: KEDA cannot decode a scalar, though its documentation says so, and the trigger
#   fails for as long as it is there. A dated event is a scalar unless it is wrapped.
# custom:
#   severity: error
#   remedy: wrap the expression in vector(…)
#   source: keda#252, KEDA prometheus_scaler.go
package meshgen.keda.scalar_query

import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some i, t in triggers.of(s)
	t.type == "prometheus"
	_scalar(triggers.query(t))
	v := objects.violation(s, sprintf("%s: the query is a scalar, want vector(…)", [triggers.label(i, t)]))
}

# Numbers, comparisons and the clock alone make a scalar; a selector, an
# aggregation or vector() leaves letters behind.
_scalar(query) if {
	rest := regex.replace(query, `time\(\)|\bbool\b|[0-9.]+(e[+-]?[0-9]+)?`, "")
	not regex.match(`[A-Za-z]`, rest)
}

_scalar(query) if regex.match(`^\s*scalar\s*\(`, query)
