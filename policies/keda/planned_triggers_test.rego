package meshgen.keda.planned_triggers_test

import data.lib.examples_test as examples
import data.meshgen.keda.planned_triggers as policy

_planned := [
	{
		"name": "connections",
		"query": examples.connections.metadata.query,
		"threshold": 80,
		"start": "",
		"end": "",
		"timeZone": "",
		"replicas": 0,
	},
	{
		"name": "event_lunch",
		"query": "",
		"threshold": 0,
		"start": "6 11 * * 1-5",
		"end": "30 13 * * 1-5",
		"timeZone": "Asia/Seoul",
		"replicas": 16,
	},
]

_judge(triggers) := {
	"plan": {"istiod": {"serverAddress": "http://prometheus:9090", "triggers": _planned}},
	"objects": examples.triggered(triggers),
}

test_deny_a_replaced_list if {
	wanted := {
		"trigger 1: metadata.desiredReplicas is not set, planned for event_lunch was 16",
		"trigger 1: metadata.end is not set, planned for event_lunch was 30 13 * * 1-5",
		"trigger 1: metadata.start is not set, planned for event_lunch was 6 11 * * 1-5",
		"trigger 1: metadata.timezone is not set, planned for event_lunch was Asia/Seoul",
		"trigger 1: name is not set, planned for event_lunch was event_lunch",
		"trigger 1: type is not set, planned for event_lunch was cron",
	}
	wanted == {v.message | some v in policy.deny} with input as _judge([examples.connections])
}

test_deny_another_threshold if {
	wanted := examples.denies("ScaledObject", "trigger 0: metadata.threshold is 100, planned for connections was 80")
	changed := object.union(examples.connections, {"metadata": {"threshold": "100"}})
	policy.deny == wanted with input as _judge([changed, examples.lunch])
}

test_deny_one_more if {
	wanted := examples.denies("ScaledObject", "there are 3 triggers, planned were 2")
	policy.deny == wanted with input as _judge([examples.connections, examples.lunch, examples.event(46)])
}

test_allow_the_planned if {
	policy.deny == set() with input as _judge([examples.connections, examples.lunch])
}
