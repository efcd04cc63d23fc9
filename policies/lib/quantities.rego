# METADATA
# scope: package
# title: Quantities
# description: Kubernetes quantities and Go durations as numbers; undefined for what is neither.
package lib.quantities

number(q) := q if is_number(q)

number(q) := units.parse(q) if {
	is_string(q)
	regex.match(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$`, q)
}

seconds(d) := time.parse_duration_ns(d) / 1000000000 if {
	is_string(d)
	regex.match(`^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`, d)
}
