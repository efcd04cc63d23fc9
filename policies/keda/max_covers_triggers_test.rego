package meshgen.keda.max_covers_triggers_test

import data.lib.examples_test as examples
import data.meshgen.keda.max_covers_triggers as policy

_asking(most, triggers) := examples.scaled({"spec": {"maxReplicaCount": most, "triggers": triggers}})

test_deny_a_dated_event_above_it if {
	wanted := examples.denies("ScaledObject", "trigger 0 (event_sale) asks for 93 replicas, and maxReplicaCount is 92")
	policy.deny == wanted with input.objects as _asking(92, [examples.event(93)])
}

test_deny_a_cron_event_above_it if {
	lunch := object.union(examples.lunch, {"metadata": {"desiredReplicas": "120"}})
	wanted := examples.denies("ScaledObject", "trigger 0 (event_lunch) asks for 120 replicas, and maxReplicaCount is 92")
	policy.deny == wanted with input.objects as _asking(92, [lunch])
}

test_deny_a_fallback_above_the_default if {
	wanted := examples.denies("ScaledObject", "the fallback asks for 101 replicas, and maxReplicaCount is 100")
	scaled := {"file": "scaledobject.yaml", "object": object.union(
		json.remove(examples.of_kind.ScaledObject, ["/spec/maxReplicaCount"]),
		{"spec": {"fallback": {"replicas": 101}}},
	)}
	policy.deny == wanted with input.objects as [scaled]
}

test_allow_as_many if {
	policy.deny == set() with input.objects as _asking(46, [examples.event(46), examples.lunch])
}
