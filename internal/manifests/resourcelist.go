package manifests

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/meshgen/meshgen/internal/diag"
)

// FunctionConfig is what findings call the profile that a ResourceList carries.
const FunctionConfig = "functionConfig"

// ResourceList is what a KRM function reads and writes:
// https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md
type ResourceList struct {
	items  []listed
	config *kyaml.RNode // the profile, by itself
	text   []byte       // what config was read from
	rw     *kio.ByteReadWriter
}

// listed is an item under the name that findings have for it.
type listed struct {
	name string
	node *kyaml.RNode
}

const resourceListHint = "kustomize and kpt write it: apiVersion config.kubernetes.io/v1, kind ResourceList, items, and the cluster profile as functionConfig"

// ReadResourceList reads a list of bounded size. The list is nil beside an error.
func ReadResourceList(in io.Reader) (*ResourceList, diag.List, error) {
	r := &reader{file: stdinName}
	var data bytes.Buffer
	n, err := io.Copy(&data, io.LimitReader(in, maxBytes+1))
	switch {
	case err != nil:
		return nil, nil, err
	case n > maxBytes:
		return nil, diag.List{r.finding("manifests/too-large", 1, fmt.Sprintf("there is more than %d MiB", maxBytes>>20), "give the objects of one cluster")}, nil
	}
	rw := &kio.ByteReadWriter{Reader: &data, KeepReaderAnnotations: true, OmitReaderAnnotations: true}
	items, err := rw.Read()
	if err != nil {
		return nil, diag.List{r.unreadable(document{1, data.String()}, err)}, nil
	}
	l := &ResourceList{rw: rw}
	for i, node := range items {
		l.items = append(l.items, listed{fmt.Sprintf("items[%d]", i), node})
	}
	what := l.lacks()
	if what == "" {
		what = l.takeConfig()
	}
	if what != "" {
		return nil, diag.List{r.finding("manifests/not-a-resource-list", 1, what, resourceListHint)}, nil
	}
	return l, nil, nil
}

// takeConfig cuts the profile out of the list, so that findings about it have
// their places in its own text. It returns what is wrong with it.
func (l *ResourceList) takeConfig() string {
	text, err := l.rw.FunctionConfig.String()
	if err == nil {
		l.config, err = kyaml.Parse(text)
	}
	if err != nil {
		return "functionConfig cannot be read by itself: " + firstLine(err.Error())
	}
	l.text = []byte(text)
	return ""
}

// lacks is what keeps the list from being one; empty for a ResourceList.
func (l *ResourceList) lacks() string {
	group, _, _ := strings.Cut(l.rw.WrappingAPIVersion, "/")
	if l.rw.WrappingKind != kio.ResourceListKind || group != "config.kubernetes.io" {
		return "standard input is no ResourceList"
	}
	if kyaml.IsMissingOrNull(l.rw.FunctionConfig) {
		return "the ResourceList has no functionConfig"
	}
	for _, it := range l.items {
		if it.node.YNode().Kind != kyaml.MappingNode {
			return it.name + " of the ResourceList is no object"
		}
		if err := unaliased(it.node); err != nil {
			return it.name + " of the ResourceList cannot be read: " + firstLine(err.Error())
		}
	}
	return ""
}

// unaliased puts what aliases stand for in their place, for an item may go or move
// apart from the one that has the anchor. Decoding refuses what would not end.
func unaliased(node *kyaml.RNode) error {
	if _, err := node.Map(); err != nil {
		return err
	}
	return node.DeAnchor()
}

// Config is the text of the profile.
func (l *ResourceList) Config() []byte { return l.text }

// Located is the finding with its place as people know it who have never seen the
// list: the file that the object came from, and the field.
func (l *ResourceList) Located(f diag.Finding) diag.Finding {
	node, file := l.subject(f.File)
	if node == nil {
		return f
	}
	f.Pos = diag.Pos{File: strings.TrimSuffix(file+": "+fieldAt(node.YNode(), f.Line, f.Column), ": ")}
	return f
}

// subject is the object that findings call by a name, and the file that it came
// from, or else that name; nil for what is not of the list.
func (l *ResourceList) subject(name string) (node *kyaml.RNode, file string) {
	if name == FunctionConfig {
		node = l.config
	}
	for _, it := range l.items {
		if it.name == name {
			node = it.node
		}
	}
	if node == nil {
		return nil, ""
	}
	if path, _, _ := kioutil.GetFileAnnotations(node); path != "" {
		return node, path
	}
	return node, name
}

// Results are the findings about the list as its results.
func (l *ResourceList) Results(found diag.List) framework.Results {
	var all framework.Results
	for _, f := range found.Sorted() {
		all = append(all, l.result(f))
	}
	return all
}

// Write prints the list with results.
func (l *ResourceList) Write(out io.Writer, results framework.Results) error {
	l.rw.Writer, l.rw.Results = out, nil
	if len(results) > 0 {
		data, err := kyaml.Marshal(results)
		if err != nil {
			return err
		}
		if l.rw.Results, err = kyaml.Parse(string(data)); err != nil {
			return err
		}
	}
	var items []*kyaml.RNode
	for _, it := range l.items {
		items = append(items, it.node)
	}
	return l.rw.Write(items)
}

// result is a finding as tools around KRM functions know it.
func (l *ResourceList) result(f diag.Finding) *framework.Result {
	r := &framework.Result{Message: f.Message, Severity: framework.Severity(f.Severity), Tags: map[string]string{"id": f.ID}}
	if f.Hint != "" {
		r.Tags["hint"] = f.Hint
	}
	node, _ := l.subject(f.File)
	if node == nil {
		if f.File != "" && f.File != stdinName {
			r.File = &framework.File{Path: f.File}
		}
		return r
	}
	if id, err := node.GetMeta(); err == nil {
		identifier := id.GetIdentifier()
		r.ResourceRef = &identifier
	}
	if field := fieldAt(node.YNode(), f.Line, f.Column); field != "" {
		r.Field = &framework.Field{Path: field}
	}
	if path, index, _ := kioutil.GetFileAnnotations(node); path != "" {
		r.File = &framework.File{Path: path}
		r.File.Index, _ = strconv.Atoi(index)
	}
	return r
}

// fieldAt is the path of the field that stands at a place; empty for the object
// itself.
func fieldAt(n *kyaml.Node, line, column int) string {
	at := func(n *kyaml.Node) bool { return n.Line == line && n.Column == column }
	join := func(step, rest string) string { return strings.TrimSuffix(step+"."+rest, ".") }
	switch n.Kind {
	case kyaml.DocumentNode:
		return fieldAt(n.Content[0], line, column)
	case kyaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if at(key) {
				return key.Value
			}
			if below := fieldAt(value, line, column); below != "" {
				return strings.Replace(join(key.Value, below), ".[", "[", 1)
			}
		}
	case kyaml.SequenceNode:
		for i, item := range n.Content {
			step := fmt.Sprintf("[%d]", i)
			if at(item) {
				return step
			}
			if below := fieldAt(item, line, column); below != "" {
				return strings.Replace(join(step, below), ".[", "[", 1)
			}
		}
	}
	return ""
}
