package meshgen.keda.volatile_annotations_test

import data.lib.examples_test as examples
import data.meshgen.keda.volatile_annotations as policy

test_deny_a_commit if {
	commit := "39d21fd0c2b1a4e5f6978812345678901234abcd"
	wanted := examples.denies(
		"ScaledObject",
		sprintf("example.org/commit in annotations looks like a commit or a time: %s", [commit]),
	)
	objects := examples.scaled({"metadata": {"annotations": {"example.org/commit": commit}}})
	policy.deny == wanted with input.objects as objects
}

test_deny_a_time if {
	wanted := examples.denies(
		"ScaledObject",
		"example.org/at in labels looks like a commit or a time: 2026-12-19T17-00",
	)
	objects := examples.scaled({"metadata": {"labels": {"example.org/at": "2026-12-19T17-00"}}})
	policy.deny == wanted with input.objects as objects
}

test_allow_what_stays if {
	objects := examples.scaled({"metadata": {"annotations": {"example.org/team": "mesh"}}})
	policy.deny == set() with input.objects as objects
}
