# METADATA
# scope: package
# title: Triggers
# description: KEDA triggers of a ScaledObject, and the replicas that they ask for.
package lib.triggers

of(s) := [_object(t) | some t in list] if {
	list := s.object.spec.triggers
	is_array(list)
} else := []

_object(t) := t if is_object(t)

_object(t) := {} if not is_object(t)

# label tells a trigger from its siblings.
label(i, t) := sprintf("trigger %d (%v)", [i, object.get(t, "name", object.get(t, "type", "unnamed"))])

query(t) := text(t, "query")

# text is a field of a trigger's metadata, empty where it is not a string.
text(t, field) := value if {
	value := t.metadata[field]
	is_string(value)
} else := ""

# counts_connections holds for a trigger on istiod's own count of proxies.
counts_connections(t) if {
	t.type == "prometheus"
	contains(query(t), "pilot_xds")
}

# replicas is what a trigger asks for while it is active: a cron trigger, or a
# dated one of the form vector(N * …).
replicas(t) := to_number(n) if {
	t.type == "cron"
	n := text(t, "desiredReplicas")
	regex.match(`^[0-9]+$`, n)
}

replicas(t) := to_number(found[0][1]) if {
	t.type == "prometheus"
	found := regex.find_all_string_submatch_n(`vector\(\s*([0-9]+)\s*\*`, query(t), 1)
	count(found) > 0
}

# null_is_zero holds for a trigger that takes an empty answer as no load.
null_is_zero(t) if {
	t.type == "prometheus"
	not null_setting(t) in {"0", "f", "F", "false", "FALSE", "False"}
}

null_setting(t) := value if {
	value := t.metadata.ignoreNullValues
} else := "not set"
