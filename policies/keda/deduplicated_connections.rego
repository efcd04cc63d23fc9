# METADATA
# scope: package
# title: Each connection counts once
# description: A series that is scraped twice, as while a scrape agent is relabelled, doubles a
#   bare sum(pilot_xds). Without the version label proxies of all but one version go uncounted.
# custom:
#   severity: error
#   remedy: sum over max by (pod, version) of pilot_xds
#   source: github.com/idoyo7/study-hugo 05-vmagent-az-split (612 connections counted as 1221, istiod scaled
#     from 8 to 16)
package meshgen.keda.deduplicated_connections

import data.lib.istiod
import data.lib.objects
import data.lib.triggers

deny contains v if {
	some s in istiod.scaled_objects
	some i, t in triggers.of(s)
	triggers.counts_connections(t)
	not _once(triggers.query(t))
	v := objects.violation(s, sprintf("%s: the query counts series and not connections, want max by (pod, version)", [
		triggers.label(i, t),
	]))
}

_once(query) if {
	some form in [`max\s+by\s*\(([^)]*)\)`, `max\s*\(.*\)\s*by\s*\(([^)]*)\)`]
	some found in regex.find_all_string_submatch_n(form, query, -1)
	kept := {trim_space(label) | some label in split(found[1], ",")}
	{"pod", "version"} & kept == {"pod", "version"}
}
