# METADATA
# scope: package
# title: The ScaledObject for istiod's connections scales an istiod
# description: kustomize renames a Deployment under namePrefix and leaves scaleTargetRef.name as
#   it was; then nothing scales.
# custom:
#   severity: error
#   remedy: make spec.scaleTargetRef.name the name of istiod's Deployment, or take the prefix off it
#   source: kustomize#5306
package meshgen.keda.lost_target

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some t in triggers.of(s)
	triggers.counts_connections(t)
	not s in istiod.scaled_objects
	count(istiod.deployments) > 0 # else the chart is somewhere else
	target := object.get(s.object, ["spec", "scaleTargetRef", "name"], "nothing")
	v := objects.violation(s, sprintf("it counts istiod's connections and scales %v; the istiods are %s", [
		target,
		objects.listing(istiod.deployments),
	]))
}
