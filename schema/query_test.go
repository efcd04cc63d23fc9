package schema_test

import (
	"testing"

	"github.com/meshgen/meshgen/schema"
)

// What would not stay within the parentheses that a query is put in is refused, and
// nothing that Prometheus takes.
func TestQueriesStayWithinTheirParentheses(t *testing.T) {
	for query, want := range map[string]string{
		`endpoints`: "",
		`count(count by (namespace, endpointslice, address) (kube_endpointslice_endpoints{ready!="false"}))`: "",
		`max_over_time(sum(x{a=~"b(c|d)[e]"})[5m:15s]) offset 1m`:                                            "",
		`x{a="\"}"} + x{b='\')'} + x{c=` + "`\\`" + `}`:                                                      "",
		`x{a="#"}`:                  "",
		`x{a="ü)"}`:                 "",
		`vector(1700)`:              "",
		`x) or (vector(0)`:          "has a ) that closes nothing",
		`sum(x[5m)]`:                "has a ) that closes nothing",
		`sum(x`:                     "lacks a ) at its end",
		`x{a="b"`:                   "lacks a } at its end",
		`x # of all`:                "has a comment, which would hide what follows",
		`x{a="b}`:                   `has a text without its closing "`,
		`x{a='b\'}`:                 "has a text without its closing '",
		"x{a=`b}":                   "has a text without its closing `",
		`scalar(sum(x))`:            "is a scalar, and a vector is aggregated",
		` ( scalar(sum(x)))`:        "is a scalar, and a vector is aggregated",
		`sum(x) / scalar(count(y))`: "",
	} {
		if got := schema.QueryFault(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
