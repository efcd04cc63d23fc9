package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/meshgen/meshgen/internal/plan"
)

// component is one namespace's Component as it was generated: each file with
// the one object that it brings or patches.
type component struct {
	folder        string
	namespace     string
	kustomization types.Kustomization
	bases         plan.Bases
	data          map[string][]byte         // by the file's name in the folder
	wholes        map[string]map[string]any // resources, by file, as kustomize reads them
	touches       map[string]ref            // resources and patches; the others are configurations
	patches       map[string]types.Patch
	files         map[ref][]string // by the object, in the kustomization's order
}

// readComponent reads a folder's Component. It may hold nothing but whole files
// that each name one object, so that its parts can be proven apart.
func readComponent(d *folder, bases plan.Bases, read *reading) (*component, error) {
	c := &component{
		folder: d.path, namespace: path.Base(d.path), kustomization: d.kustomization, bases: bases,
		data: map[string][]byte{}, wholes: map[string]map[string]any{}, touches: map[string]ref{}, patches: map[string]types.Patch{}, files: map[ref][]string{},
	}
	for _, f := range d.files {
		if path.Base(f.Path) != kustomizationFile {
			c.data[path.Base(f.Path)] = f.Data
		}
	}
	for _, name := range c.kustomization.Resources {
		if err := c.take(name, func(data []byte) (ref, error) { return c.whole(name, data, read) }); err != nil {
			return nil, err
		}
	}
	for _, p := range c.kustomization.Patches {
		if p.Path == "" || p.Options != nil {
			return nil, fmt.Errorf("a patch %s is not a file alone, so nothing says which object it is for", p.Target)
		}
		if err := c.take(p.Path, func(data []byte) (ref, error) { return read.subject(data, p.Target) }); err != nil {
			return nil, err
		}
		c.patches[p.Path] = p
	}
	return c, c.complete()
}

// take notes which object a file is for.
func (c *component) take(name string, subject func(data []byte) (ref, error)) error {
	data, ok := c.data[name]
	if !ok {
		return fmt.Errorf("%s was not generated", name)
	}
	if _, twice := c.touches[name]; twice {
		return fmt.Errorf("%s is listed twice", name)
	}
	r, err := subject(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if r, err = c.placed(r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.touches[name] = r
	c.files[r] = append(c.files[r], name)
	return nil
}

// whole reads the one object that a resource is.
func (c *component) whole(name string, data []byte, read *reading) (ref, error) {
	objects, err := read.objects(data)
	if err != nil {
		return ref{}, err
	}
	if len(objects) != 1 {
		return ref{}, fmt.Errorf("it holds %d objects, not one", len(objects))
	}
	c.wholes[name] = objects[0]
	return refOf(objects[0]), nil
}

// subject is the object that a patch is for, by its target or by what it holds.
func (r *reading) subject(data []byte, target *types.Selector) (ref, error) {
	if target != nil {
		return ref{target.Kind, target.Namespace, target.Name}, nil
	}
	return r.subjects.Of(string(data), func() (ref, error) { return subjectOf(data) })
}

// subjectOf is the one object that a patch is for, which may take more than one
// document for it.
func subjectOf(data []byte) (ref, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var r ref
	for {
		var h header
		err := d.Decode(&h)
		switch {
		case errors.Is(err, io.EOF) && r == ref{}:
			return r, errors.New("it is empty")
		case errors.Is(err, io.EOF):
			return r, nil
		case err != nil:
			return r, err
		case r != ref{} && r != h.ref():
			return r, fmt.Errorf("it is for %s and for %s", r, h.ref())
		}
		r = h.ref()
	}
}

// header is as much of an object as names it.
type header struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
}

func (h header) ref() ref { return ref{h.Kind, h.Metadata.Namespace, h.Metadata.Name} }

// placed is the object in the Component's namespace, which a file must name as
// the bases do: kustomize finds an object only by what both say.
func (c *component) placed(r ref) (ref, error) {
	switch {
	case c.bases.Namespaced && r.namespace == "":
		return r, fmt.Errorf("%s has no namespace, and the bases' objects have one (spec.kubernetes.bases.namespaced): it would be for no object", r)
	case !c.bases.Namespaced && r.namespace != "":
		return r, fmt.Errorf("%s has a namespace, and the bases' objects have none (spec.kubernetes.bases.namespaced): it would be for no object", r)
	case !c.bases.Namespaced:
		r.namespace = c.namespace
	}
	return r, nil
}

// complete judges that every file of the folder is listed, and every
// configuration there.
func (c *component) complete() error {
	listed := maps.Clone(c.touches)
	for _, name := range c.kustomization.Configurations {
		if _, ok := c.data[name]; !ok {
			return fmt.Errorf("%s was not generated", name)
		}
		listed[name] = ref{}
	}
	for _, name := range slices.Sorted(maps.Keys(c.data)) {
		if _, ok := listed[name]; !ok {
			return fmt.Errorf("%s is not in the kustomization", name)
		}
	}
	return nil
}

// judgeExtra finds files for objects about which the plan decides nothing.
func (c *component) judgeExtra(parts []part) error {
	left := maps.Clone(c.touches)
	for _, p := range parts {
		for _, change := range p.changes("", "") {
			for _, name := range c.files[change.ref] {
				delete(left, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		return fmt.Errorf("%s is for %s, about which the plan decides nothing", name, left[name])
	}
	return nil
}

// of is the Component with the files of these parts alone. Each object's files
// stay in their order, and no other object minds it.
func (c *component) of(parts []part) (types.Kustomization, map[string][]byte) {
	k := c.kustomization
	k.Resources, k.Patches = nil, nil
	files := map[string][]byte{}
	for _, p := range parts {
		for _, change := range p.changes("", "") {
			for _, name := range c.files[change.ref] {
				files[name] = c.data[name]
				if patch, ok := c.patches[name]; ok {
					k.Patches = append(k.Patches, patch)
				} else {
					k.Resources = append(k.Resources, name)
				}
			}
		}
	}
	for _, name := range c.kustomization.Configurations {
		files[name] = c.data[name]
	}
	return k, files
}

// file is where an object's change is written, for messages and the gate; the
// folder when no file is for it.
func (c *component) file(r ref) string {
	if names := c.files[r]; len(names) > 0 {
		return path.Join(c.folder, names[0])
	}
	return c.folder
}

// where names every file of an object.
func (c *component) where(r ref) string {
	if len(c.files[r]) == 0 {
		return c.folder
	}
	return path.Join(c.folder, strings.Join(c.files[r], " + "))
}
