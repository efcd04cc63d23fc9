# METADATA
# scope: package
# title: Proxies see what was planned, and no Sidecar is unplanned
# description: A call that is missing from a scope leaves the mesh unmatched, without mutual TLS,
#   retries or telemetry, or is refused. One Sidecar that the plan does not know replaces the whole
#   scope of what it selects.
# custom:
#   severity: error
#   remedy: let no overlay add or patch a Sidecar; add the call, or the scope, to the profile
#   source: istio#22367, istio#39837, Istio pilot push_context.go (a Sidecar replaces, none merges)
#   needs: [plan]
package meshgen.sidecar.planned_hosts

import data.lib.objects
import data.lib.sidecars

deny contains v if {
	some s in input.plan.scopes
	s.written
	count(objects.at(_sidecar(s))) == 0
	v := objects.missing(_sidecar(s), s.subject)
}

deny contains v if {
	some s in input.plan.scopes
	s.written
	some o in objects.at(_sidecar(s))
	some field, planned in _expected(s)
	given := object.get(o.object, ["spec", field], "not set")
	given != planned
	v := objects.decided(o, s.subject, sprintf("spec.%s is %v, planned was %v", [field, given, planned]))
}

deny contains v if {
	some o in sidecars.all
	not objects.subject(o) in _planned
	v := objects.violation(o, "the plan has no such Sidecar")
}

_planned := {_sidecar(s) | some s in input.plan.scopes; s.written}

_sidecar(s) := sprintf("Sidecar/%s/%s", [s.namespace, s.name])

_expected(s) := {
	"egress": [{"hosts": s.hosts}],
	"workloadSelector": _selector(s),
	"ingress": "not set",
	"outboundTrafficPolicy": "not set",
}

_selector(s) := "not set" if count(s.selector) == 0

_selector(s) := {"labels": s.selector} if count(s.selector) > 0
