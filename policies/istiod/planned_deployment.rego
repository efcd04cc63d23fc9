# METADATA
# scope: package
# title: The istiod of the plan is among the objects, once
# description: With a revision the chart names the Deployment istiod-<revision>. A name that
#   differs leaves the autoscaler without a target, and the other policies with nothing to judge.
# custom:
#   severity: error
#   remedy: set revision of the istiod chart to spec.istio.revision of the profile, and let no
#     overlay rename the Deployment
#   source: kustomize#5306, istio chart istiod templates/deployment.yaml
#   needs: [plan]
package meshgen.istiod.planned_deployment

import data.lib.istiod
import data.lib.objects

deny contains v if {
	count(_planned) != 1
	v := {
		"subject": sprintf("Deployment/%s/%s", [input.plan.istiod.namespace, input.plan.istiod.deployment]),
		"message": sprintf("the istiod of the plan is there %d times, want once; there is %s", [
			count(_planned),
			objects.listing(istiod.deployments),
		]),
	}
}

_planned contains d if {
	some d in istiod.deployments
	objects.namespace(d) == input.plan.istiod.namespace
	objects.name(d) == input.plan.istiod.deployment
	count(istiod.container(d)) > 0
}
