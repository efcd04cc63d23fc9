package meshgen.keda.dated_cron_test

import data.lib.examples_test as examples
import data.meshgen.keda.dated_cron as policy

_starting(start) := examples.triggered([object.union(examples.lunch, {"metadata": {"start": start}})])

test_deny_what_is_not_a_weekly_window if {
	every start, trouble in {
		"31 16 19 12 *": "recurs every year",
		"31 16 13 * 5": "fires on the day of the month and on the weekday",
		"TZ=UTC 6 11 * * 1-5": "overrides timezone",
		"CRON_TZ=UTC 6 11 * * 1-5": "overrides timezone",
	} {
		wanted := examples.denies("ScaledObject", sprintf("trigger 0 (event_lunch): start %q %s", [start, trouble]))
		policy.deny == wanted with input.objects as _starting(start)
	}
}

test_allow_weekdays if {
	policy.deny == set() with input.objects as examples.triggered([examples.lunch])
	policy.deny == set() with input.objects as _starting("0 6 1 * *")
}
