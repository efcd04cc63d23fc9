# METADATA
# scope: package
# title: A scope has hosts and no ports
# description: An egress listener with a port takes only the Services of that port, and every other
#   call falls through to whatever listener is left.
# custom:
#   severity: error
#   remedy: remove port, bind and captureMode from egress; one listener with all hosts is enough
#   source: istio#12536, istio#16885, istio#41312, istio#34906
package meshgen.sidecar.no_ports

import data.lib.objects
import data.lib.sidecars

deny contains v if {
	some s in sidecars.all
	some i, listener in s.object.spec.egress
	some field in ["bind", "captureMode", "port"]
	value := listener[field]
	v := objects.violation(s, sprintf("egress %d: %s is %v, want hosts alone", [i, field, value]))
}
