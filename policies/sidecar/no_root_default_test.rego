package meshgen.sidecar.no_root_default_test

import data.lib.examples_test as examples
import data.meshgen.sidecar.no_root_default as policy

_rooted(spec) := examples.shop("Sidecar", {"metadata": {"namespace": "istio-system"}, "spec": spec})

test_deny_a_default_of_the_mesh if {
	wanted := {{
		"subject": "Sidecar/istio-system/default",
		"message": "it is the scope of every proxy in the mesh",
		"file": "sidecar.yaml",
	}}
	policy.deny == wanted with input.objects as [_rooted({})]
	policy.deny == wanted with input.objects as [_rooted({"workloadSelector": {"labels": {}}})]
}

test_allow_a_selector_and_other_namespaces if {
	policy.deny == set() with input.objects as [_rooted({"workloadSelector": {"labels": {"app": "kiali"}}})]
	policy.deny == set() with input.objects as [examples.shop("Sidecar", {})]
	istiod := examples.changed("Deployment", {"metadata": {"namespace": "mesh"}})
	policy.deny == set() with input.objects as [istiod, _rooted({})]
}
