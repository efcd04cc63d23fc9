package manifests

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/diag"
)

// sources are the documents of the files that the base's objects were written
// in, by file; each is read once. An object may lie about its file.
type sources struct {
	scope scope
	docs  map[string][]*yaml.Node
}

func (s sources) read(file string) []*yaml.Node {
	docs, ok := s.docs[file]
	if ok || file == "" {
		return docs
	}
	data, err := s.scope.read(file)
	d := yaml.NewDecoder(bytes.NewReader(data))
	for err == nil {
		doc := &yaml.Node{}
		if err = d.Decode(doc); err == nil && len(doc.Content) > 0 {
			docs = append(docs, items(doc.Content[0])...)
		}
	}
	s.docs[file] = docs
	return docs
}

// items are the objects of a document, which may be a List.
func items(doc *yaml.Node) []*yaml.Node {
	if _, list := child(doc, "items"); list != nil && strings.HasSuffix(scalarAt(doc, "kind"), "List") {
		return list.Content
	}
	return []*yaml.Node{doc}
}

func scalarAt(n *yaml.Node, path ...any) string {
	for _, step := range path {
		if _, n = child(n, step); n == nil {
			return ""
		}
	}
	return n.Value
}

// name is what the object is called where it was written: its own name, or the
// longest one in the file that a prefix or a suffix can have made it from.
func (s sources) name(o baseObject) string {
	best := ""
	for _, doc := range s.read(o.file) {
		name := scalarAt(doc, "metadata", "name")
		if scalarAt(doc, "kind") != o.ref.kind || !strings.Contains(o.ref.name, name) {
			continue
		}
		if len(name) > len(best) {
			best = name
		}
	}
	if best == "" {
		return o.ref.name
	}
	return best
}

// position is where the object has the field, or its nearest parent; ok is false
// when it is not known where the object was written.
func (s sources) position(o baseObject, path ...any) (pos diag.Pos, ok bool) {
	for _, doc := range s.read(o.file) {
		if scalarAt(doc, "kind") != o.ref.kind || scalarAt(doc, "metadata", "name") != o.source {
			continue
		}
		pos = diag.Pos{File: o.file, Line: doc.Line, Column: doc.Column}
		for n := doc; len(path) > 0; path = path[1:] {
			key, value := child(n, path[0])
			if value == nil {
				break
			}
			pos.Line, pos.Column, n = key.Line, key.Column, value
		}
		return pos, true
	}
	return diag.Pos{}, false
}
