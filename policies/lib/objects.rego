# METADATA
# scope: package
# title: Objects
# description: Kubernetes objects as they stand in the input, and the form of a violation.
package lib.objects

of_kind(kind) := {o | some o in placed(_by_kind, kind)}

# placed are the objects at the places that an index has for a key. An index is a
# map of maps whose inner keys are places among the input's objects: a search for
# each of thousands of objects would take the square of their number, and objects
# in it would be copied.
placed(index, key) := [input.objects[i] | some i, _ in object.get(index, key, {})]

_by_kind := object.union_n([{o.object.kind: {i: true}} | some i, o in input.objects])

_by_subject := object.union_n([{subject(o): {i: true}} | some i, o in input.objects])

name(o) := o.object.metadata.name

namespace(o) := object.get(o.object, ["metadata", "namespace"], "")

subject(o) := named(o.object.kind, namespace(o), name(o))

# named is the subject of an object; those of the cluster have no namespace, nor
# have manifests that leave it to whoever applies them.
named(kind, "", name) := sprintf("%s/%s", [kind, name])

named(kind, namespace, name) := sprintf("%s/%s/%s", [kind, namespace, name]) if namespace != ""

violation(o, message) := {"subject": subject(o), "message": message, "file": o.file}

# decided is a violation of a planned decision: it is shown where the profile
# asks for it, so that the file has to be named in the message.
decided(o, decision, message) := {
	"subject": decision,
	"message": sprintf("%s: %s", [subject(o), message]),
	"file": o.file,
}

# missing is a violation of a planned decision whose object is not there.
missing(wanted, decision) := {
	"subject": decision,
	"message": sprintf("%s is not among the objects", [wanted]),
	"file": "",
}

# at are the objects of a subject: one, or none, or several that claim to be it.
at(wanted) := placed(_by_subject, wanted)

# field is what stands at a path below an object, and "not set" where the path
# ends before.
field(o, path) := object.get(o.object, path, "not set")

# listing puts the subjects of objects into words.
listing(os) := concat(" and ", sort([subject(o) | some o in os])) if {
	count(os) > 0
} else := "nothing"
