# METADATA
# scope: package
# title: Labels
# description: Label selectors as the API server reads them.
package lib.labels

# selects holds when a LabelSelector matches the labels. A selector without any
# requirement matches everything; no selector at all matches nothing.
selects(selector, labels) if {
	is_object(selector)
	match(object.get(selector, "matchLabels", {}), labels)
	every requirement in object.get(selector, "matchExpressions", []) {
		_holds(requirement, labels)
	}
}

# match holds when the labels have every one that is wanted.
match(wanted, labels) if {
	every key, value in wanted {
		labels[key] == value
	}
}

# names holds when a LabelSelector has a requirement: it means some pods, and
# not every pod of the namespace.
names(selector) if {
	some field in ["matchLabels", "matchExpressions"]
	some _ in selector[field]
}

_holds(r, labels) if {
	r.operator == "In"
	labels[r.key] in r.values
}

_holds(r, labels) if {
	r.operator == "NotIn"
	not object.get(labels, r.key, null) in r.values
}

_holds(r, labels) if {
	r.operator == "Exists"
	object.get(labels, r.key, null) != null
}

_holds(r, labels) if {
	r.operator == "DoesNotExist"
	object.get(labels, r.key, null) == null
}
