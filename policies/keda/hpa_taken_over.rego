# METADATA
# scope: package
# title: An autoscaler is taken over by its name
# description: The annotation alone hands nothing over. KEDA makes a second HorizontalPodAutoscaler
#   under its own name unless the ScaledObject names the one that runs, and the one that runs goes on
#   scaling.
# custom:
#   severity: error
#   remedy: set spec.advanced.horizontalPodAutoscalerConfig.name to the name of the
#     HorizontalPodAutoscaler that runs, or remove the annotation
#   source: keda#4457, kserve/kserve#5196, KEDA scaledobject_webhook.go (verifyHpas)
package meshgen.keda.hpa_taken_over

import data.lib.objects

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	s.object.metadata.annotations["scaledobject.keda.sh/transfer-hpa-ownership"] == "true"
	not s.object.spec.advanced.horizontalPodAutoscalerConfig.name
	v := objects.violation(s, "it takes over a HorizontalPodAutoscaler and does not say which")
}
