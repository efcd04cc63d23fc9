# METADATA
# scope: package
# title: No answer from Prometheus is not no load
# description: KEDA reads an empty answer as 0 by default, and scales istiod in to its minimum
#   while Prometheus has lost its targets.
# custom:
#   severity: error
#   remedy: 'set ignoreNullValues: "false" on every prometheus trigger of istiod'
#   source: keda#3065 (every workload scaled to its minimum at peak), keda-docs#1812
package meshgen.keda.null_is_not_zero

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in istiod.scaled_objects
	some i, t in triggers.of(s)
	triggers.null_is_zero(t)
	v := objects.violation(s, sprintf(`%s: ignoreNullValues is %v, want "false"`, [
		triggers.label(i, t),
		triggers.null_setting(t),
	]))
}
