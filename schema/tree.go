package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"github.com/meshgen/meshgen/internal/diag"
)

type kind int

const (
	mapping kind = iota
	list
	text
	number
	boolean
	null
	incomplete // CUE: a constraint without a value
	outsize    // CUE: a number too long to compute with
	rejected   // a value that has its finding already
)

func (k kind) String() string {
	return [...]string{"a mapping", "a list", "the text", "the number", "the boolean", "null", "the open constraint", "the number", "nothing"}[k]
}

// node is one value of a profile, whether it was written in YAML or in CUE.
type node struct {
	kind    kind
	literal string   // of a scalar: the text, or the number as JSON writes it
	pos     diag.Pos // of the field's key or of the list's item; zero for a default
	fields  []field  // of a mapping, in source order
	items   []*node  // of a list
	last    int      // of an item that is whole lines, the last of them; 0 for unknown
}

type field struct {
	key   string
	value *node
}

func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// set gives a field of a mapping its value, at the end where it is new.
func (n *node) set(key string, value *node) {
	for i, f := range n.fields {
		if f.key == key {
			n.fields[i].value = value
			return
		}
	}
	n.fields = append(n.fields, field{key, value})
}

func (n *node) remove(key string) {
	n.fields = slices.DeleteFunc(n.fields, func(f field) bool { return f.key == key })
}

// appendJSON encodes the tree without a detour over Go values, so that numbers
// keep every digit.
func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case mapping:
		b = append(b, '{')
		for i, f := range n.fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quoted(f.key)...), ':')
			b = f.value.appendJSON(b)
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case number, boolean:
		return append(b, n.literal...)
	case text:
		return append(b, quoted(n.literal)...)
	default:
		return append(b, "null"...)
	}
}

func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(strconv.Quote(s))
	}
	return b
}

// exactNumber is what JSON calls a number, short enough to be computed with.
var exactNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// fieldPath names a field of the mapping at path; a key that would read as
// several is quoted.
func fieldPath(path, key string) string {
	if !plainKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func itemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
