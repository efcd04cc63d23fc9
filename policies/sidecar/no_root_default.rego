# METADATA
# scope: package
# title: Scopes are rolled out by namespace
# description: A Sidecar without a workloadSelector in the control plane's namespace is the default of
#   the whole mesh. Each change of it swaps the clusters of every proxy at one instant, and a call
#   that it forgets is cut everywhere.
# custom:
#   severity: warning
#   remedy: write one Sidecar for each namespace
#   source: istio#39837 (502 while clusters were swapped)
package meshgen.sidecar.no_root_default

import data.lib.objects
import data.lib.sidecars

deny contains v if {
	some s in sidecars.defaults
	objects.namespace(s) in sidecars.control_planes
	v := objects.violation(s, "it is the scope of every proxy in the mesh")
}
