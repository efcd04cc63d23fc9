# METADATA
# scope: package
# title: istiod
# description: The Deployments that run istiod, and the objects that scale them.
package lib.istiod

import data.lib.objects
import data.lib.pods
import data.lib.scaling

# deployments are found by the container or by the label, so that losing one of
# the two hides nothing.
deployments contains d if {
	some d in objects.of_kind("Deployment")
	d.object.spec.template.metadata.labels.app == "istiod"
}

deployments contains d if {
	some d in objects.of_kind("Deployment")
	some c in d.object.spec.template.spec.containers
	c.name == "discovery"
}

# container is the one that runs istiod, or an empty one.
container(d) := cs[0] if {
	cs := [c | some c in d.object.spec.template.spec.containers; c.name == "discovery"]
	count(cs) > 0
} else := {}

# resource is a limit or a request of the container.
resource(d, kind, name) := object.get(container(d), ["resources", kind, name], "not set")

pod(d) := spec if {
	spec := d.object.spec.template.spec
	is_object(spec)
} else := {}

pod_labels(d) := pods.labels(d)

# age is the last value given to keepaliveMaxServerConnectionAge, as the flag
# parser reads it.
age(d) := found[count(found) - 1] if {
	args := object.get(container(d), "args", [])
	found := [v | some i, arg in args; v := _age(args, i, arg)]
	count(found) > 0
} else := "not set"

_age_flag := "--keepaliveMaxServerConnectionAge"

_age(args, i, arg) := args[i + 1] if {
	arg == _age_flag
	is_string(args[i + 1])
}

_age(_, _, arg) := substring(arg, count(_age_flag) + 1, -1) if {
	is_string(arg)
	startswith(arg, concat("", [_age_flag, "="]))
}

scaled_objects contains s if {
	some d in deployments
	some s in autoscalers(d)
	s.object.kind == "ScaledObject"
}

# autoscalers are what scales a Deployment.
autoscalers(d) := scaling.of(objects.subject(d))
