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

_sale := {
	"name": "event_sale",
	"query": examples.event(20).metadata.query,
	"threshold": 1,
	"start": "",
	"end": "",
	"timeZone": "",
	"replicas": 20,
}

_cart(extends, triggers) := {
	"plan": {
		"istiod": {"serverAddress": "http://prometheus:9090", "triggers": []},
		"workloads": [{
			"namespace": "shop",
			"name": "cart",
			"container": "app",
			"scaling": [{
				"name": "cart",
				"extends": extends,
				"cpuUtilization": 60,
				"memoryUtilization": 80,
				"triggers": [_sale],
			}],
		}],
	},
	"objects": [examples.shop("ScaledObject", {"spec": {"triggers": triggers}})],
}

_memory := object.union(examples.cpu, {"type": "memory", "name": "memory", "metadata": {"value": "80"}})

_kafka := {"type": "kafka", "metadata": {"topic": "orders"}}

test_deny_the_load_of_a_workload_replaced_by_its_event if {
	wanted := {
		"trigger 0: metadata.containerName is not set, planned for cpu was app",
		"trigger 0: metadata.value is not set, planned for cpu was 60",
		"trigger 0: metricType is not set, planned for cpu was Utilization",
		"trigger 0: name is event_sale, planned for cpu was cpu",
		"trigger 0: type is prometheus, planned for cpu was cpu",
	}
	found := {m |
		some m in examples.says(policy.deny) with input as _cart(false, [examples.event(20)])
		startswith(m, "trigger 0")
	}
	found == wanted
}

test_deny_another_utilization if {
	wanted := examples.shop_denies("ScaledObject", "cart", "trigger 0: metadata.value is 90, planned for cpu was 60")
	hotter := object.union(examples.cpu, {"metadata": {"value": "90"}})
	policy.deny == wanted with input as _cart(false, [hotter, _memory, examples.event(20)])
}

test_deny_one_more_trigger_of_a_workload if {
	wanted := examples.shop_denies("ScaledObject", "cart", "there are 4 triggers, planned were 3")
	policy.deny == wanted with input as _cart(false, [examples.cpu, _memory, examples.event(20), _kafka])
}

test_deny_an_event_before_the_users_own if {
	wanted := {
		"trigger 1: name is not set, planned for event_sale was event_sale",
		"trigger 1: type is kafka, planned for event_sale was prometheus",
	}
	found := {m |
		some m in examples.says(policy.deny) with input as _cart(true, [examples.event(20), _kafka])
		not contains(m, "metadata")
	}
	found == wanted
}

test_allow_the_planned_of_a_workload if {
	policy.deny == set() with input as _cart(false, [examples.cpu, _memory, examples.event(20)])
}

test_allow_the_users_own_before_the_event if {
	policy.deny == set() with input as _cart(true, [_kafka, examples.event(20)])
	policy.deny == set() with input as _cart(true, [_kafka, examples.lunch, examples.event(20)])
}
