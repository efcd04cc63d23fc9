# METADATA
# scope: package
# title: Every planned trigger is there, in its place
# description: A patch of one trigger replaces the whole list, and the events are gone. A
#   trigger's place is part of its metric's name.
# custom:
#   severity: error
#   remedy: let no overlay patch spec.triggers of a planned ScaledObject; add events to the profile
#   source: keda#7553, kubernetes#58414
#   needs: [plan]
package meshgen.keda.planned_triggers

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some judged in _judged
	some i, planned in judged.planned
	place := judged.first + i
	some path, value in planned
	given := object.get(_at(judged.found, place), split(path, "."), "not set")
	given != value
	v := objects.violation(judged.object, sprintf("trigger %d: %s is %v, planned for %s was %v", [
		place,
		path,
		given,
		planned.name,
		value,
	]))
}

deny contains v if {
	some judged in _judged
	found := count(judged.found)
	planned := judged.first + count(judged.planned)
	found > planned
	v := objects.violation(judged.object, sprintf("there are %d triggers, planned were %d", [found, planned]))
}

# _judged are ScaledObjects with the triggers that were found and planned, and
# the place of the first planned one.
_judged contains {"object": s, "found": triggers.of(s), "planned": planned, "first": 0} if {
	some s in istiod.scaled_objects
	planned := [_expected(t) | some t in input.plan.istiod.triggers]
}

_judged contains {"object": s, "found": found, "planned": planned, "first": first} if {
	some w in input.plan.workloads
	some scaling in w.scaling
	some s in objects.at(sprintf("ScaledObject/%s/%s", [w.namespace, scaling.name]))
	found := triggers.of(s)
	planned := array.concat(_own(w, scaling), [_expected(t) | some t in scaling.triggers])
	first := _first(scaling, found, planned)
}

# _first is behind the triggers that the user's own ScaledObject had before, and
# has to keep there.
_first(scaling, found, planned) := max([0, count(found) - count(planned)]) if scaling.extends

_first(scaling, _, _) := 0 if not scaling.extends

_at(ts, i) := ts[i] if i < count(ts)

_at(ts, i) := {} if i >= count(ts)

# _own are the triggers on the workload's own load, before those of events; a
# ScaledObject of the user's has its own.
_own(w, scaling) := [object.union(of_container, {
	"name": resource,
	"type": resource,
	"metricType": "Utilization",
	"metadata.value": sprintf("%d", [percent]),
}) |
	some [resource, percent] in [["cpu", scaling.cpuUtilization], ["memory", scaling.memoryUtilization]]
	not scaling.extends
	percent > 0
	of_container := {"metadata.containerName": w.container | w.container != ""}
]

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
