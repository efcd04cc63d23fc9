package manifests

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/kustomize/api/filters/patchjson6902"
	"sigs.k8s.io/kustomize/api/filters/patchstrategicmerge"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// proveBare patches objects that have nothing which can be left out: there
// kustomize has nothing to merge with, and puts in what it is given, directives
// and all. Which object a patch finds is proven by the build over the hostile
// ones, so kustomize's own filters are enough here, at a fifth of the time, and
// one object of each shape.
func (c chunk) proveBare() error {
	for _, p := range c.parts {
		for _, change := range p.changes(p.ref().name, c.serverAddress) {
			if !c.samples[change.ref] {
				continue
			}
			before := c.bare.make(change.ref, p.ref())
			after, err := c.component.apply(change.ref, before)
			if err == nil {
				err = change.judge(before, after)
			}
			if err != nil {
				return fmt.Errorf("%s over a bare stand-in: %w", c.component.where(change.ref), err)
			}
		}
	}
	return nil
}

// apply is the object with all of its patches, in their order.
func (c *component) apply(r ref, object map[string]any) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	node, err := kyaml.Parse(string(text))
	if err != nil {
		return nil, err
	}
	nodes := []*kyaml.RNode{node}
	for _, name := range c.files[r] {
		filters, err := c.filters(name)
		if err != nil {
			return nil, err
		}
		for _, f := range filters {
			if nodes, err = f.Filter(nodes); err != nil {
				return nil, err
			}
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	return nodes[0].Map()
}

// filters are what a patch file does, one for each of its documents. A file with
// a target holds operations.
func (c *component) filters(name string) ([]kio.Filter, error) {
	if c.patches[name].Target != nil {
		return []kio.Filter{patchjson6902.Filter{Patch: string(c.data[name])}}, nil
	}
	docs, err := kio.FromBytes(c.data[name])
	var all []kio.Filter
	for _, doc := range docs {
		all = append(all, patchstrategicmerge.Filter{Patch: doc})
	}
	return all, err
}
