package artifact

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Patch is what a strategic merge does to an object of the user: the fields of
// Object win over the user's. Object is an apply configuration, or another type
// that encodes only what is set.
type Patch struct {
	Object  any
	Replace [][]string // paths of lists that replace the user's list; without, elements merge by their key
	Null    [][]string // paths of fields that are deleted from the user's object
	Delete  bool       // the whole object is deleted
}

// PatchYAML encodes a patch as YAML encodes an object. One that replaces lists is
// two documents: where the user's object has no such list, kustomize 5.8 writes
// the directive itself in its place, so the first makes an empty one.
func PatchYAML(path, owner string, patch Patch, reasons map[string]string) (File, error) {
	root, err := patch.node()
	if err != nil {
		return File{}, fmt.Errorf("encode %s: %w", path, err)
	}
	clean(root)
	if err := explain(root, reasons); err != nil {
		return File{}, fmt.Errorf("encode %s: %w", path, err)
	}
	if len(patch.Replace) == 0 {
		return encode(path, owner, root)
	}
	first := patch.lists(root)
	first.HeadComment = "# An empty list first: kustomize replaces none that is not there."
	return encode(path, owner, first, root)
}

// lists is the object with an empty list at each path that is replaced.
func (p Patch) lists(root *yaml.Node) *yaml.Node {
	first := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i].Value; key == "apiVersion" || key == "kind" || key == "metadata" {
			first.Content = append(first.Content, root.Content[i], root.Content[i+1])
		}
	}
	for _, path := range p.Replace {
		*child(first, path) = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	}
	return first
}

func (p Patch) node() (*yaml.Node, error) {
	root, err := object(p.Object)
	if err != nil {
		return nil, err
	}
	for _, path := range p.Replace {
		list := child(root, path)
		if list.Kind != yaml.SequenceNode {
			return nil, fmt.Errorf("%s is no list to replace", strings.Join(path, "."))
		}
		list.Content = append([]*yaml.Node{directive("replace")}, list.Content...)
	}
	for _, path := range p.Null {
		field := child(root, path)
		if field.Kind != yaml.MappingNode || len(field.Content) > 0 {
			return nil, fmt.Errorf("%s is set and deleted", strings.Join(path, "."))
		}
		*field = *scalar("!!null", "null")
	}
	if p.Delete {
		root.Content = append(root.Content, directive("delete").Content...)
	}
	return root, nil
}

// directive is what strategic merge reads as an instruction.
func directive(what string) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{text("$patch"), text(what)}}
}

// child is the node at a path of mappings; what is not there is made, empty.
func child(n *yaml.Node, path []string) *yaml.Node {
	for _, key := range path {
		n = field(n, key)
	}
	return n
}

func field(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	made := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	n.Content = append(n.Content, text(key), made)
	return made
}

// Append is an operation of a JSON patch (RFC 6902) that puts a value at the end
// of a list.
type Append struct {
	List  string // a JSON pointer, such as /spec/triggers
	Value any
}

// AppendYAML encodes operations as a JSON patch. Reasons are by index ("[0]").
func AppendYAML(path, owner string, operations []Append, reasons map[string]string) (File, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	var all []operation
	for _, o := range operations {
		all = append(all, operation{"add", o.List + "/-", o.Value})
	}
	root, err := node(all)
	if err == nil {
		err = explain(root, reasons)
	}
	if err != nil {
		return File{}, fmt.Errorf("encode %s: %w", path, err)
	}
	return encode(path, owner, root)
}
