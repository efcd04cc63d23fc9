package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/diag"
)

// readYAML turns the one document of a file into a tree, with aliases and merge
// keys expanded. The root is nil when the file is not one YAML mapping.
func readYAML(file string, data []byte) (*node, diag.List) {
	if problem := unparsable(file, data); problem != nil {
		return nil, diag.List{*problem}
	}
	docs := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := docs.Decode(&doc); err != nil {
		return nil, diag.List{syntaxError(file, data, err)}
	}
	r := &yamlReader{file: file}
	switch err := docs.Decode(&second); {
	case err == nil:
		r.report(&second, NotYAML, "the file holds more than one document", "write one profile in one file")
	case !errors.Is(err, io.EOF):
		r.findings = append(r.findings, syntaxError(file, data, err))
	}
	root := r.node(doc.Content[0], diag.Pos{File: file, Line: 1, Column: 1}, 0)
	if r.stopped || len(r.findings) >= maxFindings {
		return nil, r.findings
	}
	noteLastLines(root, data)
	return root, r.findings
}

// unparsable finds what the parser would not bear, or not in time and memory.
func unparsable(file string, data []byte) *diag.Finding {
	var f diag.Finding
	at := binaryAt(data)
	if at >= 0 {
		f = atTop(file, NotYAML, "the file is not UTF-8 text", "save it as UTF-8")
	} else if at = directiveAt(data); at >= 0 {
		f = atTop(file, NotYAML, "the file has a directive, which a profile has no use for", "leave the line out")
	} else if at = crowdedAt(data); at >= 0 {
		f = atTop(file, TooLarge, fmt.Sprintf("the file has more than %d characters that may begin a field or an item", maxSigns), tooLargeHint)
	} else {
		return nil
	}
	f.Line, f.Column = lineColumn(data, at)
	return &f
}

const tooLargeHint = "split the cluster, or leave out what formulas do not read"

// directiveAt is the offset of a line that gives tags other names, or -1: the
// parser compares each with all before it.
func directiveAt(data []byte) int {
	directive := []byte("%TAG")
	if bytes.HasPrefix(data, directive) {
		return 0
	}
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029", "\ufeff"} {
		if at := bytes.Index(data, append([]byte(end), directive...)); at >= 0 {
			return at + len(end)
		}
	}
	return -1
}

// crowdedAt is the offset where the file has had maxSigns characters that may
// begin a field, an item or a comment, or -1. The parser makes at most two nodes
// of each, and takes a quarter of a kilobyte for a node.
func crowdedAt(data []byte) int {
	signs := 0
	for i, c := range data {
		switch c {
		case ',', '[', '{', ':', '#':
			signs++
		case '-', '?':
			if i+1 == len(data) || data[i+1] <= ' ' || data[i+1] >= utf8.RuneSelf || bytes.IndexByte([]byte(",[]{}"), data[i+1]) >= 0 {
				signs++
			}
		}
		if signs > maxSigns {
			return i
		}
	}
	return -1
}

// binaryAt is the offset of the first byte that no text has, or -1.
func binaryAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// lineColumn is a place as YAML counts it, in characters.
func lineColumn(data []byte, at int) (line, column int) {
	before := data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// What the parser's errors say about their place.
var (
	yamlLine   = regexp.MustCompile(`^line (\d+): `)
	yamlTab    = regexp.MustCompile(`cannot start any token|tab character`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

func syntaxError(file string, data []byte, err error) diag.Finding {
	if errors.Is(err, io.EOF) {
		return atTop(file, NotYAML, "the file is empty", "write a ClusterProfile: apiVersion, kind, metadata and spec")
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	f := atTop(file, NotYAML, "", "")
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	if m := yamlAnchor.FindStringSubmatch(message); m != nil {
		f.Line, f.Column = lineColumn(data, max(bytes.Index(data, []byte("*"+m[1])), 0))
	}
	f.Message = "the file is not YAML: " + message
	if line, column := tabAt(data, f.Line); column > 0 && yamlTab.MatchString(message) {
		f.Line, f.Column, f.Hint = line, column, "that is a tab: indent with spaces"
	}
	return f
}

// tabAt is where a tab indents a line or the one after it; the column is 0 where
// none does.
func tabAt(data []byte, line int) (int, int) {
	lines := bytes.Split(data, []byte("\n"))
	for n := line; n <= min(line+1, len(lines)); n++ {
		text := lines[n-1]
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if at := bytes.IndexByte(indent, '\t'); at >= 0 {
			return n, at + 1
		}
	}
	return line, 0
}

// yamlReader expands one document. It stops at the first sign of a bomb.
type yamlReader struct {
	file     string
	findings diag.List
	nodes    int
	bytes    int // of text
	stopped  bool
}

func (r *yamlReader) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: r.file, Line: max(n.Line, 1), Column: max(n.Column, 1)}
}

func (r *yamlReader) report(at *yaml.Node, id, message, hint string) {
	f := atTop(r.file, id, message, hint)
	f.Pos = r.pos(at)
	r.findings = append(r.findings, f)
}

func (r *yamlReader) stop(at *yaml.Node, message, hint string) *node {
	if !r.stopped {
		r.report(at, TooLarge, message, hint)
	}
	r.stopped = true
	return &node{kind: null}
}

func (r *yamlReader) node(n *yaml.Node, pos diag.Pos, depth int) *node {
	r.nodes++
	r.bytes += len(n.Value)
	switch {
	case r.stopped || len(r.findings) >= maxFindings:
		return &node{kind: null}
	case r.bytes > MaxSize:
		return r.stop(n, fmt.Sprintf("the document has more than %d MiB of text once its aliases are expanded", MaxSize>>20), "use fewer aliases, or split the cluster")
	case depth > MaxDepth:
		return r.stop(n, fmt.Sprintf("the document is nested deeper than %d levels", MaxDepth), "no field of a profile is deeper than a few levels; an alias inside its own anchor nests without end")
	case r.nodes > MaxNodes:
		return r.stop(n, fmt.Sprintf("the document has more than %d fields and items once its aliases are expanded", MaxNodes), "use fewer aliases, or split the cluster")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.node(n.Alias, pos, depth+1)
	case yaml.MappingNode:
		r.tagged(n, n, "!!map")
		return r.mapping(n, pos, depth)
	case yaml.SequenceNode:
		r.tagged(n, n, "!!seq")
		out := &node{kind: list, pos: pos}
		for _, item := range n.Content {
			out.items = append(out.items, r.node(item, r.pos(item), depth+1))
		}
		return out
	default:
		return r.scalar(n, pos)
	}
}

// tagged refuses a tag that says anything but what a node is; the node is read as
// without it.
func (r *yamlReader) tagged(at, n *yaml.Node, is string) {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != is {
		r.unsupported(at, n.Tag)
	}
}

func (r *yamlReader) unsupported(at *yaml.Node, tag string) {
	r.report(at, NotYAML, fmt.Sprintf("the tag %s is not supported", clip(tag)), "leave it out")
}

func (r *yamlReader) mapping(n *yaml.Node, pos diag.Pos, depth int) *node {
	out := &node{kind: mapping, pos: pos}
	var merged []*node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		r.bytes += len(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode:
			r.report(n.Content[i], NotYAML, "a key is not a plain name", "")
		case key.ShortTag() == "!!merge" && key.Value == "<<":
			merged = append(merged, r.node(value, r.pos(key), depth+1))
		default:
			r.tagged(n.Content[i], key, "!!str")
			out.fields = append(out.fields, field{key.Value, r.node(value, r.pos(n.Content[i]), depth+1)})
		}
	}
	if len(merged) == 0 {
		return out
	}
	had := map[string]bool{}
	for _, f := range out.fields {
		had[f.key] = true
	}
	for _, m := range merged {
		r.merge(out, m, had)
	}
	return out
}

// merge adds the fields that out lacks, as the merge key << of YAML 1.1 does:
// what is written beside it wins, then the first of a list.
func (r *yamlReader) merge(out, from *node, had map[string]bool) {
	switch from.kind {
	case mapping:
		for _, f := range from.fields {
			if !had[f.key] {
				out.fields = append(out.fields, f)
				had[f.key] = true
			}
		}
	case list:
		for _, item := range from.items {
			r.merge(out, item, had)
		}
	case rejected:
	default:
		if r.stopped {
			return
		}
		f := atTop(r.file, NotYAML, "the merge key << needs a mapping, found "+describe(from), "")
		f.Pos = from.pos
		r.findings = append(r.findings, f)
	}
}

func (r *yamlReader) scalar(n *yaml.Node, pos diag.Pos) *node {
	out := &node{kind: text, literal: n.Value, pos: pos}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
	case "!!null":
		out.kind = null
	case "!!bool":
		out.kind, out.literal = boolean, strings.ToLower(n.Value)
		if out.literal != "true" && out.literal != "false" { // the tag says so, and it is not
			r.unsupported(n, n.Tag)
			out.kind = rejected
		}
	case "!!int", "!!float":
		out.kind = number
		if !exactNumber.MatchString(n.Value) {
			r.report(n, InvalidValue, fmt.Sprintf("the number %s is ambiguous or too long: YAML readers disagree on what it means", clip(n.Value)),
				"write it in plain decimal digits without leading zeros, or in quotes if it is a text")
			out.literal, out.kind = "", rejected
		}
	default:
		r.unsupported(n, n.Tag)
		out.kind = rejected
	}
	return out
}
