# METADATA
# scope: package
# title: No scope is written by exclusion
# description: A host that begins with ~ is a namespace without Services up to Istio 1.30, and takes
#   Services away from 1.31. The same Sidecar means all of a mesh before an upgrade and none of it
#   after.
# custom:
#   severity: error
#   remedy: list the hosts that are called, and nothing with ~
#   source: istio#41312, Istio 1.31 release note 60139
package meshgen.sidecar.no_exclusions

import data.lib.objects
import data.lib.sidecars

deny contains v if {
	some s in sidecars.all
	some host in sidecars.hosts(s)
	startswith(host, "~")
	v := objects.violation(s, sprintf("egress host %s means another thing before Istio 1.31 and from it on", [host]))
}
