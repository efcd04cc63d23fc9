# METADATA
# scope: package
# title: Every planned trigger is there, in its place
# description: A patch of one trigger replaces the whole list, and the events are gone. A
#   trigger's place is part of its metric's name.
# custom:
#   severity: error
#   remedy: let no overlay patch spec.triggers of istiod's ScaledObject; add events to the profile
#   source: keda#7553, kubernetes#58414
#   needs: [plan]
package meshgen.keda.planned_triggers

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in istiod.scaled_objects
	some i, planned in input.plan.istiod.triggers
	some path, value in _expected(planned)
	given := object.get(_at(triggers.of(s), i), split(path, "."), "not set")
	given != value
	v := objects.violation(s, sprintf("trigger %d: %s is %v, planned for %s was %v", [
		i,
		path,
		given,
		planned.name,
		value,
	]))
}

deny contains v if {
	some s in istiod.scaled_objects
	found := count(triggers.of(s))
	planned := count(input.plan.istiod.triggers)
	found > planned
	v := objects.violation(s, sprintf("there are %d triggers, planned were %d", [found, planned]))
}

_at(ts, i) := ts[i] if i < count(ts)

_at(ts, i) := {} if i >= count(ts)

_expected(t) := {
	"type": "prometheus",
	"name": t.name,
	"metadata.serverAddress": input.plan.istiod.serverAddress,
	"metadata.query": t.query,
	"metadata.threshold": sprintf("%d", [t.threshold]),
} if {
	t.query != ""
}

_expected(t) := {
	"type": "cron",
	"name": t.name,
	"metadata.timezone": t.timeZone,
	"metadata.start": t.start,
	"metadata.end": t.end,
	"metadata.desiredReplicas": sprintf("%d", [t.replicas]),
} if {
	t.query == ""
}
