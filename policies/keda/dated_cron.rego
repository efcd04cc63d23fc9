# METADATA
# scope: package
# title: A date in a cron trigger comes back
# description: Cron has no year. A day of a month recurs every year, and with a weekday beside it
#   on every such weekday too. A time zone inside the expression silently overrides timezone.
# custom:
#   severity: error
#   remedy: write a dated event as a prometheus trigger over time(), and the zone as timezone
#   source: keda-docs#703, KEDA cron_scaler.go, robfig/cron parser.go
package meshgen.keda.dated_cron

import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in objects.of_kind("ScaledObject")
	some i, t in triggers.of(s)
	t.type == "cron"
	some edge in ["start", "end"]
	expression := triggers.text(t, edge)
	some trouble in _troubles(expression)
	v := objects.violation(s, sprintf("%s: %s %q %s", [triggers.label(i, t), edge, expression, trouble]))
}

_troubles(expression) := {trouble |
	some trouble in ["recurs every year", "fires on the day of the month and on the weekday", "overrides timezone"]
	_has(trouble, expression)
}

_has("recurs every year", expression) if {
	[_, _, day, month, _] := _fields(expression)
	_restricted(day)
	_restricted(month)
}

_has("fires on the day of the month and on the weekday", expression) if {
	[_, _, day, _, weekday] := _fields(expression)
	_restricted(day)
	_restricted(weekday)
}

_has("overrides timezone", expression) if regex.match(`^\s*(CRON_)?TZ=`, expression)

_fields(expression) := regex.split(`\s+`, trim_space(regex.replace(expression, `^\s*(CRON_)?TZ=\S+`, "")))

_restricted(field) if not regex.match(`^[*?]`, field)
