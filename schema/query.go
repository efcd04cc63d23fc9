package schema

import (
	"fmt"
	"strings"
)

// queryFault says what keeps a PromQL expression from being part of another one:
// what would end it early or hide what follows, or that it answers with a scalar.
// It is empty for an expression that is whole; whether its names and functions are
// any is left to Prometheus.
func queryFault(query string) string {
	if strings.HasPrefix(strings.TrimLeft(query, " ("), "scalar(") {
		return "is a scalar, and a vector is aggregated"
	}
	var open []byte
	for i := 0; i < len(query); i++ {
		switch c := query[i]; c {
		case '#':
			return "has a comment, which would hide what follows"
		case '"', '\'', '`':
			length := textLength(query[i:])
			if length < 0 {
				return fmt.Sprintf("has a text without its closing %c", c)
			}
			i += length - 1
		case '(', '[', '{':
			open = append(open, closing[c])
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return fmt.Sprintf("has a %c that closes nothing", c)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("lacks a %c at its end", open[len(open)-1])
	}
	return ""
}

var closing = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// textLength is how long the text is that the query begins with, quotes included;
// -1 where it does not end.
func textLength(query string) int {
	for i := 1; i < len(query); i++ {
		switch {
		case query[i] == '\\' && query[0] != '`':
			i++
		case query[i] == query[0]:
			return i + 1
		}
	}
	return -1
}
