# METADATA
# scope: package
# title: A trigger that asks for pods asks for an average
# description: With metricType Value the autoscaler multiplies the pods that are there by what the
#   trigger asks for, again and again, up to the maximum.
# custom:
#   severity: error
#   remedy: remove metricType from the trigger, or set it to AverageValue
#   source: KEDA cron_scaler.go, Kubernetes replica_calculator.go (GetExternalMetricReplicas)
package meshgen.keda.metric_type

import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some i, t in triggers.of(s)
	t.metricType != "AverageValue"
	_asks_for_pods(t)
	v := objects.violation(s, sprintf("%s: metricType is %v, want AverageValue", [triggers.label(i, t), t.metricType]))
}

_asks_for_pods(t) if t.type == "cron"

_asks_for_pods(t) if triggers.replicas(t)

_asks_for_pods(t) if triggers.counts_connections(t)
