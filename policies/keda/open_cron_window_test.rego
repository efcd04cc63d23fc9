package meshgen.keda.open_cron_window_test

import data.lib.examples_test as examples
import data.meshgen.keda.open_cron_window as policy

test_deny_open_over_the_weekend if {
	wanted := examples.denies(
		"ScaledObject",
		`trigger 0 (event_lunch): start "6 11 * * 1-5" and end "10 22 * * *" are not on the same kind of days`,
	)
	lunch := object.union(examples.lunch, {"metadata": {"end": "10 22 * * *"}})
	policy.deny == wanted with input.objects as examples.triggered([lunch])
}

test_allow_the_same_days if {
	policy.deny == set() with input.objects as examples.triggered([examples.lunch])
}
