# METADATA
# scope: package
# title: No annotation of a ScaledObject changes by itself
# description: KEDA copies labels and annotations to the HorizontalPodAutoscaler and updates it
#   whenever one changes, with every commit or render.
# custom:
#   severity: warning
#   remedy: take commits and times off the ScaledObject, or exclude the label by
#     scaledobject.keda.sh/hpa-excluded-labels
#   source: keda#6849, istio#60629 (metadata of a label was pushed to every proxy)
package meshgen.keda.volatile_annotations

import data.lib.objects

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some kind in ["annotations", "labels"]
	some name, value in object.get(s.object, ["metadata", kind], {})
	is_string(value)
	_volatile(value)
	v := objects.violation(s, sprintf("%s in %s looks like a commit or a time: %v", [name, kind, value]))
}

_volatile(value) if regex.match(`^[0-9a-f]{40}$`, value)

_volatile(value) if regex.match(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T`, value)
