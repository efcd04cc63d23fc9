# METADATA
# scope: package
# title: A workload is not scaled in because Prometheus has nothing to say
# description: KEDA reads an empty answer as 0 unless ignoreNullValues is false. While the targets of a
#   scrape are lost, every workload that scales by it goes to its minimum under full load.
# custom:
#   severity: warning
#   remedy: 'set ignoreNullValues: "false" on prometheus triggers, and a fallback'
#   source: keda#3065 (every workload scaled to its minimum at peak), keda-docs#1812
package meshgen.keda.lost_metrics

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

# istiod's own is an error, keda/null-is-not-zero.
deny contains v if {
	some s in objects.of_kind("ScaledObject")
	not s in istiod.scaled_objects
	some i, t in triggers.of(s)
	triggers.null_is_zero(t)
	v := objects.violation(s, sprintf(`%s: ignoreNullValues is %v, want "false"`, [
		triggers.label(i, t),
		triggers.null_setting(t),
	]))
}
