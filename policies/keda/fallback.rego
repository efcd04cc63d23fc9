# METADATA
# scope: package
# title: Events are met without Prometheus
# description: With Prometheus down the autoscaler freezes. A fallback must hold the largest
#   number that a trigger would have asked for, and never take pods away.
# custom:
#   severity: error
#   remedy: set spec.fallback with behavior currentReplicasIfHigher and as many replicas as the
#     largest event or minReplicaCount
#   source: keda#6887, keda#4249, keda#965
package meshgen.keda.fallback

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in _relying
	not object.get(s.object, ["spec", "fallback", "failureThreshold"], 0) > 0
	v := objects.violation(s, "there is no fallback with a failureThreshold")
}

deny contains v if {
	some s in _relying
	behavior := _setting(s, "behavior")
	behavior != "currentReplicasIfHigher"
	v := objects.violation(s, sprintf("the fallback's behavior is %v, want currentReplicasIfHigher", [behavior]))
}

deny contains v if {
	some s in _relying
	replicas := _setting(s, "replicas")
	not _enough(replicas, s)
	v := objects.violation(s, sprintf("the fallback's replicas are %v, want at least %d", [replicas, _asked(s)]))
}

# _relying are the ScaledObjects that must have their pods whatever Prometheus
# answers: those of istiod, and those that ask it for the pods of an event.
_relying contains s if some s in istiod.scaled_objects

_relying contains s if {
	some s in objects.of_kind("ScaledObject")
	some t in triggers.of(s)
	t.type == "prometheus"
	triggers.replicas(t)
}

_setting(s, name) := object.get(s.object, ["spec", "fallback", name], "not set")

_enough(replicas, s) if {
	is_number(replicas)
	replicas >= _asked(s)
}

_asked(s) := max(asked | {least}) if {
	least := object.get(s.object, ["spec", "minReplicaCount"], 0)
	asked := {n | some t in triggers.of(s); n := triggers.replicas(t)}
}
