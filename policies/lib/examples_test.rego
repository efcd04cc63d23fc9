# METADATA
# scope: package
# title: Examples
# description: Small sound objects that the tests of policies change.
package lib.examples_test

of_kind := {
	"Deployment": {
		"apiVersion": "apps/v1",
		"kind": "Deployment",
		"metadata": {"name": "istiod", "namespace": "istio-system"},
		"spec": {
			"strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
			"template": {
				"metadata": {"labels": {"app": "istiod", "istio": "pilot"}},
				"spec": {
					"priorityClassName": "system-cluster-critical",
					"containers": [container],
				},
			},
		},
	},
	"Service": {
		"apiVersion": "v1",
		"kind": "Service",
		"metadata": {"name": "istiod", "namespace": "istio-system"},
		"spec": {"selector": {"app": "istiod", "istio": "pilot"}},
	},
	"ScaledObject": {
		"apiVersion": "keda.sh/v1alpha1",
		"kind": "ScaledObject",
		"metadata": {"name": "istiod", "namespace": "istio-system"},
		"spec": {
			"scaleTargetRef": {"name": "istiod"},
			"minReplicaCount": 24,
			"maxReplicaCount": 92,
			"fallback": {"failureThreshold": 3, "replicas": 46, "behavior": "currentReplicasIfHigher"},
			"triggers": [connections],
		},
	},
	"PodDisruptionBudget": {
		"apiVersion": "policy/v1",
		"kind": "PodDisruptionBudget",
		"metadata": {"name": "istiod", "namespace": "istio-system"},
		"spec": {"maxUnavailable": 2, "selector": {"matchLabels": {"app": "istiod"}}},
	},
	"HorizontalPodAutoscaler": {
		"apiVersion": "autoscaling/v2",
		"kind": "HorizontalPodAutoscaler",
		"metadata": {"name": "istiod", "namespace": "istio-system"},
		"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "istiod"}, "minReplicas": 1, "maxReplicas": 5},
	},
}

in_shop := {
	"Deployment": {
		"apiVersion": "apps/v1",
		"kind": "Deployment",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {"template": {
			"metadata": {"labels": {"app": "cart", "team": "buying"}},
			"spec": {"containers": [{"name": "app"}], "topologySpreadConstraints": [zones]},
		}},
	},
	"StatefulSet": {
		"apiVersion": "apps/v1",
		"kind": "StatefulSet",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {"template": {
			"metadata": {"labels": {"app": "cart"}},
			"spec": {"topologySpreadConstraints": [object.union(zones, {"matchLabelKeys": ["controller-revision-hash"]})]},
		}},
	},
	"DaemonSet": {
		"apiVersion": "apps/v1",
		"kind": "DaemonSet",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {"template": {"metadata": {"labels": {"app": "cart"}}}},
	},
	"Service": {
		"apiVersion": "v1",
		"kind": "Service",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {"selector": {"app": "cart"}},
	},
	"ScaledObject": {
		"apiVersion": "keda.sh/v1alpha1",
		"kind": "ScaledObject",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {
			"scaleTargetRef": {"kind": "Deployment", "name": "cart"},
			"minReplicaCount": 6,
			"maxReplicaCount": 60,
			"triggers": [cpu],
		},
	},
	"HorizontalPodAutoscaler": {
		"apiVersion": "autoscaling/v2",
		"kind": "HorizontalPodAutoscaler",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "cart"}, "minReplicas": 6, "maxReplicas": 60},
	},
	"Sidecar": {
		"apiVersion": "networking.istio.io/v1",
		"kind": "Sidecar",
		"metadata": {"name": "default", "namespace": "shop"},
		"spec": {"egress": [{"hosts": ["./*", "istio-system/*"]}]},
	},
	"DestinationRule": {
		"apiVersion": "networking.istio.io/v1",
		"kind": "DestinationRule",
		"metadata": {"name": "cart", "namespace": "shop"},
		"spec": {"host": "cart"},
	},
}

zones := {
	"topologyKey": "topology.kubernetes.io/zone",
	"whenUnsatisfiable": "DoNotSchedule",
	"maxSkew": 1,
	"nodeTaintsPolicy": "Honor",
	"matchLabelKeys": ["pod-template-hash"],
	"labelSelector": {"matchLabels": {"app": "cart"}},
}

cpu := {
	"type": "cpu",
	"name": "cpu",
	"metricType": "Utilization",
	"metadata": {"value": "60", "containerName": "app"},
}

container := {
	"name": "discovery",
	"args": ["discovery", "--keepaliveMaxServerConnectionAge", "15m"],
	"resources": {
		"limits": {"cpu": 2, "memory": "800Mi"},
		"requests": {"cpu": 2, "memory": "800Mi"},
	},
}

connections := {
	"type": "prometheus",
	"name": "connections",
	"metadata": {
		"serverAddress": "http://prometheus:9090",
		"query": `sum(max by (pod, version) (last_over_time(pilot_xds{namespace="istio-system"}[1m])))`,
		"threshold": "80",
		"ignoreNullValues": "false",
	},
}

# event is the trigger of a dated event that asks for n pods.
event(n) := {
	"type": "prometheus",
	"name": "event_sale",
	"metadata": {
		"serverAddress": "http://prometheus:9090",
		"query": sprintf("vector(%d * (time() >= bool 1797665460) * (time() < bool 1797681600))", [n]),
		"threshold": "1",
		"ignoreNullValues": "false",
	},
}

# lunch is the trigger of a weekly event.
lunch := {
	"type": "cron",
	"name": "event_lunch",
	"metadata": {
		"timezone": "Asia/Seoul",
		"start": "6 11 * * 1-5",
		"end": "30 13 * * 1-5",
		"desiredReplicas": "16",
	},
}

# changed is the example of a kind with a patch merged over it.
changed(kind, patch) := {
	"file": sprintf("%s.yaml", [lower(kind)]),
	"object": object.union(of_kind[kind], patch),
}

# shop is the example of a kind in the shop with a patch merged over it.
shop(kind, patch) := {
	"file": sprintf("%s.yaml", [lower(kind)]),
	"object": object.union(in_shop[kind], patch),
}

# shop_without is the example of a kind in the shop with one path removed.
shop_without(kind, path) := {
	"file": sprintf("%s.yaml", [lower(kind)]),
	"object": json.remove(in_shop[kind], [path]),
}

# shop_spread is the shop's Deployment with these constraints alone.
shop_spread(constraints) := shop(
	"Deployment",
	{"spec": {"template": {"spec": {"topologySpreadConstraints": constraints}}}},
)

# without is the example of a kind with one path removed.
without(kind, path) := {
	"file": sprintf("%s.yaml", [lower(kind)]),
	"object": json.remove(of_kind[kind], [path]),
}

# discovery is the Deployment with a patch merged over its container.
discovery(patch) := changed(
	"Deployment",
	{"spec": {"template": {"spec": {"containers": [object.union(container, patch)]}}}},
)

# pod is the Deployment with a patch merged over its pod.
pod(patch) := changed("Deployment", {"spec": {"template": {"spec": patch}}})

# deployed are sound objects of every kind beside the ones given.
scaled(patch) := [changed("Deployment", {}), changed("ScaledObject", patch)]

triggered(triggers) := scaled({"spec": {"triggers": triggers}})

budgeted(patch) := [changed("Deployment", {}), changed("ScaledObject", {}), changed("PodDisruptionBudget", patch)]

# denies is the one violation that a policy should find on an example.
denies(kind, message) := {{
	"subject": sprintf("%s/istio-system/istiod", [kind]),
	"message": message,
	"file": sprintf("%s.yaml", [lower(kind)]),
}}

# shop_denies is the one violation that a policy should find in the shop.
shop_denies(kind, name, message) := {{
	"subject": sprintf("%s/shop/%s", [kind, name]),
	"message": message,
	"file": sprintf("%s.yaml", [lower(kind)]),
}}

# says are the messages of violations.
says(violations) := {v.message | some v in violations}
