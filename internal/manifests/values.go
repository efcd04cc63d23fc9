package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/meshgen/meshgen/internal/diag"
)

// ValuesFile is one of the user's Helm values files.
type ValuesFile struct {
	Name string // as findings name it
	Data []byte
}

// readUsers reads the user's files as Helm does and merges them in their order.
func readUsers(files []ValuesFile) (map[string]any, diag.List) {
	merged := map[string]any{}
	var found diag.List
	for _, file := range files {
		faults := file.faults()
		values, err := chartutil.ReadValues(file.Data)
		if err != nil && len(faults) == 0 {
			faults = diag.List{file.fault(1, 1, firstLine(err.Error()))}
		}
		found = append(found, faults...)
		merged = merge(merged, values)
	}
	return merged, found
}

// faults are what Helm refuses in the file, and what it takes without a word
// and loses: a second document, a key that is given twice.
func (f ValuesFile) faults() diag.List {
	var docs []*yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(f.Data))
	for {
		doc := &yaml.Node{}
		err := d.Decode(doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, reason := splitLine(err.Error())
			return diag.List{f.fault(line, 1, "it is not YAML: "+reason)}
		}
		if len(docs) == 0 || !isNull(doc.Content[0]) {
			docs = append(docs, doc.Content[0])
		}
	}
	if len(docs) == 0 {
		return nil
	}
	if len(docs) > 1 {
		return diag.List{f.fault(docs[1].Line, docs[1].Column, fmt.Sprintf("it has %d documents, and Helm reads the first alone", len(docs)))}
	}
	if docs[0].Kind != yaml.MappingNode && !isNull(docs[0]) {
		return diag.List{f.fault(docs[0].Line, docs[0].Column, "it is not a map of values")}
	}
	return f.twice(docs[0])
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// twice are the keys that a map gives more than once; aliases are not followed,
// for what they stand for is judged where it is written.
func (f ValuesFile) twice(n *yaml.Node) diag.List {
	var found diag.List
	first := map[string]int{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if line, given := first[child.Value]; given {
				found = append(found, f.fault(child.Line, child.Column, fmt.Sprintf("the key %s is given twice, before that in line %d", child.Value, line)))
			}
			first[child.Value] = child.Line
			continue
		}
		found = append(found, f.twice(child)...)
	}
	return found
}

func (f ValuesFile) fault(line, column int, what string) diag.Finding {
	return diag.Finding{
		Severity: diag.Error, ID: "manifests/values-invalid", Pos: diag.Pos{File: f.Name, Line: line, Column: column}, Subject: f.Name,
		Message: "the Helm values file cannot be used: " + what,
		Hint:    "a values file is one YAML map with each key once",
	}
}

var lineInError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// splitLine takes the line number off what the YAML reader says; 1 when it says
// none.
func splitLine(text string) (line int, reason string) {
	line = 1
	m := lineInError.FindStringSubmatch(text)
	if len(m) == 0 {
		return line, firstLine(text)
	}
	if n, err := strconv.Atoi(m[1]); err == nil {
		line = n
	}
	return line, firstLine(strings.TrimPrefix(text, m[0]))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func names(files []ValuesFile) []string {
	all := make([]string, 0, len(files))
	for _, f := range files {
		all = append(all, f.Name)
	}
	return all
}

// place is where a value stands in the user's files.
type place struct {
	pos  diag.Pos
	path []any // the part of the path that the file has
}

// locate finds the value at a path in the user's files, or its nearest parent
// with at least so many steps of the path. The last of the files that have as
// much counts, as it does when they merge.
func locate(files []ValuesFile, path []any, steps int) (at place, ok bool) {
	for _, file := range files {
		found := file.nearest(path)
		if len(found.path) >= max(steps, len(at.path)) {
			at, ok = found, true
		}
	}
	return at, ok
}

// nearest is as much of the path as the file has.
func (f ValuesFile) nearest(path []any) place {
	found := place{pos: diag.Pos{File: f.Name}}
	var doc yaml.Node
	if yaml.Unmarshal(f.Data, &doc) != nil || len(doc.Content) == 0 {
		return found
	}
	n := doc.Content[0]
	for i, step := range path {
		key, value := child(n, step)
		if value == nil {
			break
		}
		found.pos.Line, found.pos.Column, found.path = key.Line, key.Column, path[:i+1]
		n = value
	}
	return found
}

func child(n *yaml.Node, step any) (key, value *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if i, isIndex := step.(int); isIndex {
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
		return nil, nil
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// merge lays one set of values over another, as Helm does with -f: maps merge,
// everything else is replaced, and a null stays, to delete a default.
func merge(under, over map[string]any) map[string]any {
	merged := maps.Clone(under)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range over {
		below, _ := merged[key].(map[string]any)
		if above, isMap := value.(map[string]any); isMap {
			merged[key] = merge(below, above)
			continue
		}
		merged[key] = value
	}
	return merged
}

func deepCopy(values map[string]any) map[string]any {
	copied := make(map[string]any, len(values))
	for key, value := range values {
		copied[key] = copyValue(value)
	}
	return copied
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return deepCopy(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copyValue(item)
		}
		return list
	}
	return value
}

// leaf is a value that is neither a map nor a list, by its path.
type leaf struct {
	path  []any // string keys and int indices
	value any
}

func (l leaf) String() string { return dotted(l.path) }

func dotted(path []any) string {
	var s strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&s, "[%d]", step)
		case string:
			s.WriteString("." + step)
		}
	}
	return strings.TrimPrefix(s.String(), ".")
}

func leavesOf(value any, path []any) []leaf {
	var all []leaf
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leavesOf(v[key], append(slices.Clone(path), key))...)
		}
	case []any:
		for i, item := range v {
			all = append(all, leavesOf(item, append(slices.Clone(path), i))...)
		}
	default:
		all = append(all, leaf{path, value})
	}
	return all
}

// get is the value at a path; ok is false when there is none.
func get(values any, path []any) (value any, ok bool) {
	value = values
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			key, isKey := step.(string)
			if value, ok = v[key]; !ok || !isKey {
				return nil, false
			}
		case []any:
			i, isIndex := step.(int)
			if !isIndex || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// set replaces the value at a path that is there.
func set(values any, path []any, to any) {
	parent, _ := get(values, path[:len(path)-1])
	switch v := parent.(type) {
	case map[string]any:
		v[path[len(path)-1].(string)] = to
	case []any:
		v[path[len(path)-1].(int)] = to
	}
}
