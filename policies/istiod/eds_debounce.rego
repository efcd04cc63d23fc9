# METADATA
# scope: package
# title: Endpoint changes are debounced
# description: With PILOT_ENABLE_EDS_DEBOUNCE off every change of an endpoint is pushed to every
#   proxy at once, on the very day on which endpoints triple.
# custom:
#   severity: error
#   remedy: remove PILOT_ENABLE_EDS_DEBOUNCE from env of the istiod chart
#   source: istio#14413 (introduced with a warning of serious performance problems), istio#36827
package meshgen.istiod.eds_debounce

import data.lib.istiod
import data.lib.objects

deny contains v if {
	some d in istiod.deployments
	some e in istiod.container(d).env
	e.name == "PILOT_ENABLE_EDS_DEBOUNCE"
	value := object.get(e, "value", "taken from elsewhere")
	not value in {"1", "t", "T", "true", "TRUE", "True"}
	v := objects.violation(d, sprintf("PILOT_ENABLE_EDS_DEBOUNCE is %v, want true or nothing", [value]))
}
