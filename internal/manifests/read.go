package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
)

// Read reads the Kubernetes objects of a file by anyone: every document of YAML
// or JSON, lists expanded, each object with the line at which it begins. Empty
// documents are passed over. What is no object (a kustomization, Helm values, a
// list of patches) is in strays, and what cannot be read at all in broken; the
// lines of both are the nearest that is known.
func Read(file string, data []byte) (objects []Object, strays, broken diag.List) {
	r := &reader{file: file}
	for _, doc := range cut(string(data)) {
		r.read(doc)
	}
	return r.objects, r.strays, r.broken
}

type reader struct {
	file           string
	objects        []Object
	strays, broken diag.List
}

// document is one document of a file, without the marker before it.
type document struct {
	line int // of its first line
	text string
}

// cut cuts a text at the lines that begin with the marker ---. What stands behind
// the marker in its line belongs to the document that it begins.
func cut(text string) []document {
	text = strings.TrimPrefix(text, "\ufeff")
	var docs []document
	line, first, begin, at := 0, 1, 0, 0
	for l := range strings.Lines(text) {
		line++
		if isMarker(l) {
			docs = append(docs, document{first, text[begin:at]})
			first, begin = line, at+len(marker)
		}
		at += len(l)
	}
	return append(docs, document{first, text[begin:]})
}

const marker = "---"

func isMarker(line string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}

// start is the line of the first key: the first that is neither blank nor a
// comment.
func (d document) start() int {
	at := d.line
	for line := range strings.Lines(d.text) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			return at
		}
		at++
	}
	return d.line
}

func (r *reader) read(d document) {
	if values, ok := d.json(); ok {
		for _, v := range values {
			r.take(d.text, v.line, v.value)
		}
		return
	}
	var value any
	if err := yaml.UnmarshalStrict([]byte(d.text), &value); err != nil {
		r.broken = append(r.broken, r.unreadable(d, err))
		return
	}
	r.take(d.text, d.start(), value)
}

type located struct {
	line  int
	value any
}

// json reads a document that begins as JSON does: one value behind another, as
// tools print them. ok is false for what is YAML, which may begin so too.
func (d document) json() (values []located, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(d.text), "{") {
		return nil, false
	}
	decoder := json.NewDecoder(strings.NewReader(d.text))
	line, from := d.line, 0
	for {
		begin := from + blank(d.text[from:])
		line += strings.Count(d.text[from:begin], "\n")
		var value any
		err := decoder.Decode(&value)
		if err == io.EOF {
			return values, true
		}
		if err != nil {
			return nil, false
		}
		values = append(values, located{line, value})
		from = int(decoder.InputOffset())
		line += strings.Count(d.text[begin:from], "\n")
	}
}

// blank is how many bytes of white space a text begins with.
func blank(text string) int { return len(text) - len(strings.TrimLeft(text, " \t\r\n")) }

var errorLine = regexp.MustCompile(`line (\d+)(, column \d+)?: `)

// unreadable puts a decoder's error at its line in the file.
func (r *reader) unreadable(d document, err error) diag.Finding {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message = strings.TrimPrefix(message, "yaml: ")
	line := d.start()
	if m := errorLine.FindStringSubmatch(message); m != nil {
		n, _ := strconv.Atoi(m[1])
		last := d.line + strings.Count(d.text, "\n") // YAML knows more breaks than editors do
		line = min(max(line, d.line+n-1), last)
		_, message, _ = strings.Cut(message, m[0])
	}
	if strings.Contains(d.text, "{{") {
		return r.finding("manifests/not-yaml", line, "the document is a template, and no YAML before it is rendered",
			"render it and judge what it renders: helm template CHART | meshgen policy test -")
	}
	return r.finding("manifests/not-yaml", line, "the document is no YAML: "+message, "mend the syntax at that place")
}

func (r *reader) finding(id string, line int, message, hint string) diag.Finding {
	return diag.Finding{
		Severity: diag.Error, ID: id, Pos: diag.Pos{File: r.file, Line: line, Column: 1},
		Subject: r.file, Message: message, Hint: hint,
	}
}

// take sorts a value in: an object, the items of a list, nothing, or a stray.
func (r *reader) take(text string, line int, value any) {
	object, isMap := value.(map[string]any)
	o := Object{File: r.file, Line: line, Object: object}
	items, isList := object["items"].([]any)
	switch {
	case value == nil:
	case isMap && isList && strings.HasSuffix(o.kind(), "List"):
		r.expand(text, o, items)
	case o.lacks() != "":
		r.strays = append(r.strays, r.finding("manifests/not-an-object", line, "the document is no Kubernetes object: it has no "+o.lacks(),
			"name files of whole objects; kustomizations, their patches and Helm values are built first: kustomize build DIR | meshgen policy test -"))
	default:
		r.objects = append(r.objects, o)
	}
}

// lacks is the first of the fields that every object has and this one does not.
// An object that the API server names has the beginning of its name instead.
func (o Object) lacks() string {
	switch {
	case o.text("apiVersion") == "":
		return "apiVersion"
	case o.kind() == "":
		return "kind"
	case o.name() == "" && o.text("metadata", "generateName") == "":
		return "metadata.name"
	}
	return ""
}

// expand takes the items of a List. Those of a list of one kind need not say
// their own.
func (r *reader) expand(text string, list Object, items []any) {
	lines := itemLines(text)
	for i, item := range items {
		line := list.Line
		if len(lines) == len(items) {
			line = min(line+lines[i]-1, list.Line+strings.Count(text, "\n"))
		}
		if object, ok := item.(map[string]any); ok && list.kind() != "List" {
			inherit(object, "apiVersion", list.text("apiVersion"))
			inherit(object, "kind", strings.TrimSuffix(list.kind(), "List"))
		}
		r.take("", line, item)
	}
}

func inherit(object map[string]any, field, value string) {
	if object[field] == nil {
		object[field] = value
	}
}

// itemLines are the lines of a list's items, counted from the list's own first
// line; none where they cannot be told.
func itemLines(text string) []int {
	var root yamlnode.Node
	if err := yamlnode.Unmarshal([]byte(text), &root); err != nil || len(root.Content) != 1 {
		return nil
	}
	var lines []int
	fields := root.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i].Value != "items" {
			continue
		}
		for _, item := range fields[i+1].Content {
			lines = append(lines, item.Line-root.Content[0].Line+1)
		}
	}
	return lines
}

// Duplicates finds objects that stand in two places: no cluster can hold both.
func Duplicates(objects []Object) diag.List {
	first := map[string]Object{}
	var found diag.List
	for _, o := range objects {
		if o.name() == "" {
			continue // the API server will name each
		}
		group, _, _ := strings.Cut(o.text("apiVersion"), "/")
		key := strings.Join([]string{group, o.kind(), o.text("metadata", "namespace"), o.name()}, "\x00")
		had, taken := first[key]
		if !taken {
			first[key] = o
			continue
		}
		found = append(found, diag.Finding{
			Severity: diag.Error, ID: "manifests/duplicate-object", Pos: o.Pos(), Subject: o.kind() + "/" + o.name(),
			Message: fmt.Sprintf("%s %s stands here and at %s", o.kind(), o.name(), had.Pos()),
			Hint:    "name what one cluster receives: one cluster's folder, or one overlay as kustomize builds it",
		})
	}
	return found
}

// Pos is where the object begins.
func (o Object) Pos() diag.Pos {
	if o.Line == 0 {
		return diag.Pos{File: o.File}
	}
	return diag.Pos{File: o.File, Line: o.Line, Column: 1}
}

// maxBytes bounds a file of manifests: a cluster's objects are a few megabytes.
const maxBytes = 64 << 20

// ReadFrom reads objects as Read does, from a stream that is bounded.
func ReadFrom(file string, in io.Reader) (objects []Object, strays, broken diag.List, err error) {
	var data bytes.Buffer
	n, err := io.Copy(&data, io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, nil, nil, err
	}
	if n > maxBytes {
		r := &reader{file: file}
		return nil, nil, diag.List{r.finding("manifests/too-large", 1, fmt.Sprintf("there is more than %d MiB", maxBytes>>20),
			"name the manifests of one cluster")}, nil
	}
	objects, strays, broken = Read(file, data.Bytes())
	return objects, strays, broken, nil
}
