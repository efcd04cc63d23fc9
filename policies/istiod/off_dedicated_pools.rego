# METADATA
# scope: package
# title: istiod stays off pools that are dedicated to others
# description: A pool of a few nodes for gateways has no room for istiod to scale out into. Its
#   labels must be ruled out in words, and no taint tolerated that the plan does not know.
# custom:
#   severity: error
#   remedy: remove the nodeSelector or toleration, and rule the pool's labels out by a required
#     node affinity (NotIn)
#   source: github.com/idoyo7/study-hugo 09-istiod-scaling-connections (istiod was moved off the gateway pool after 8
#     pods died)
#   needs: [plan]
package meshgen.istiod.off_dedicated_pools

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	some pool in input.plan.istiod.dedicatedPools
	count(pool.labels) > 0
	not _ruled_out(d, pool)
	v := objects.violation(d, sprintf("istiod may stand on node pool %s, which is dedicated to others", [pool.name]))
}

deny contains v if {
	some d in istiod.deployments
	some i, t in istiod.pod(d).tolerations
	not _planned(t)
	words := object.get(d.object, ["spec", "template", "spec", "tolerations", i, "key"], "every taint")
	v := objects.violation(d, sprintf("istiod tolerates %v, which the profile does not list", [words]))
}

_ruled_out(d, pool) if {
	some key, value in istiod.pod(d).nodeSelector
	pool.labels[key] != value
}

_ruled_out(d, pool) if {
	terms := istiod.pod(d).affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms
	is_array(terms)
	count(terms) > 0
	every term in terms {
		_excludes(term, pool)
	}
}

_excludes(term, pool) if {
	some e in term.matchExpressions
	e.operator == "NotIn"
	pool.labels[e.key] in e.values
}

_excludes(term, pool) if {
	some e in term.matchExpressions
	e.operator == "DoesNotExist"
	pool.labels[e.key]
}

_excludes(term, pool) if {
	some e in term.matchExpressions
	e.operator == "In"
	value := pool.labels[e.key]
	not value in e.values
}

# The chart always adds the first.
_planned(t) if t.key == "cni.istio.io/not-ready"

_planned(t) if {
	is_object(t)
	some p in input.plan.istiod.tolerations
	_terms(p) == _terms(t)
}

_terms(t) := [
	object.get(t, "key", ""),
	_operator(object.get(t, "operator", "")),
	object.get(t, "value", ""),
	object.get(t, "effect", ""),
]

_operator(given) := "Equal" if given == ""

_operator(given) := given if given != ""
