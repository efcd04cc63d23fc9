# METADATA
# scope: package
# title: Proxies see the control plane's namespace
# description: Tracing, access logs, external authorization and gateways are mostly Services there, and
#   a proxy that does not see them drops what it would send them. Istio's documents name it in
#   every scope.
# custom:
#   severity: warning
#   remedy: add the control plane's namespace to the hosts, as istio-system/*
#   source: istio#12237, kiali#1541
package meshgen.sidecar.control_plane_visible

import data.lib.objects
import data.lib.sidecars

deny contains v if {
	some s in sidecars.all
	some namespace in sidecars.control_planes
	not _sees(s, namespace)
	v := objects.violation(s, sprintf("no egress host is of %s", [namespace]))
}

_sees(s, namespace) if {
	some host in sidecars.hosts(s)
	some seen in ["*", namespace]
	startswith(host, sprintf("%v/", [seen]))
}

_sees(s, namespace) if {
	objects.namespace(s) == namespace
	some host in sidecars.hosts(s)
	startswith(host, "./")
}
