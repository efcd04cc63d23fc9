# METADATA
# scope: package
# title: A cron window that opens also closes
# description: A trigger is active while its next end is not later than its next start. A start on
#   some days with an end on all of them keeps the window open over the days between.
# custom:
#   severity: error
#   remedy: restrict start and end of the cron trigger to days in the same way
#   source: keda#4677, keda#3646
package meshgen.keda.open_cron_window

import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some i, t in triggers.of(s)
	t.type == "cron"
	start := triggers.text(t, "start")
	end := triggers.text(t, "end")
	_days(start) != _days(end)
	v := objects.violation(s, sprintf("%s: start %q and end %q are not on the same kind of days", [
		triggers.label(i, t),
		start,
		end,
	]))
}

# _days says which of day, month and weekday an expression restricts.
_days(expression) := [restricted |
	some i, field in regex.split(`\s+`, trim_space(expression))
	i >= 2
	restricted := regex.match(`^[^*?]`, field)
]
