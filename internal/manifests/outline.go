package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"

	"github.com/meshgen/meshgen/internal/recent"
)

// reading is what generated files hold; each text is read once.
type reading struct {
	known    *recent.Memory[[]map[string]any]
	subjects *recent.Memory[ref] // the objects that patches are for
}

func newReading() *reading { return &reading{recent.New[[]map[string]any](256), recent.New[ref](256)} }

// objects are those of a file, as kustomize reads it. They are read-only.
func (r *reading) objects(data []byte) ([]map[string]any, error) {
	return r.known.Of(string(data), func() ([]map[string]any, error) {
		docs, err := kio.FromBytes(data)
		if err != nil {
			return nil, err
		}
		var objects []map[string]any
		for _, doc := range docs {
			object, err := doc.Map()
			if err != nil {
				return nil, err
			}
			objects = append(objects, object)
		}
		return objects, nil
	})
}

// outline is an object with the kinds of the numbers and texts in its spec in
// their place. What is empty stays, what the object is aimed at too, and of a text
// that is the name of an object in the build stays which.
func outline(object map[string]any, names map[string]string) map[string]any {
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return object
	}
	kinds, _ := kindsOf(spec, names).(map[string]any)
	kinds["scaleTargetRef"] = spec["scaleTargetRef"]
	object = maps.Clone(object)
	object["spec"] = kinds
	return object
}

func kindsOf(value any, names map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		for key, item := range v {
			all[key] = kindsOf(item, names)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = kindsOf(item, names)
		}
		return all
	case bool:
		return v
	case string:
		if name, ok := names[strings.TrimPrefix(v, proofPrefix)]; ok {
			return []string{name} // no kind
		}
	}
	if isOff(leaf{value: value}) {
		return value
	}
	return fmt.Sprintf("%T", value)
}

// listing is a kustomization that does nothing but to list files, each of which
// brings one object: kustomize puts out what it has read. It goes by kinds and
// metadata, and of names by which are equal, so clusters that have these in common
// share the build that shows it.
type listing struct {
	objects []Object
	key     string
}

// listing is the folder's; ok is false where it does more, or is to fail.
func (d *folder) listing(objects []Object) (l listing, ok bool) {
	k := d.kustomization
	if !isPlain(k) || len(k.Patches)+len(k.Configurations) > 0 || len(k.Resources) != len(objects) {
		return l, false
	}
	files, ids := map[string]Object{}, map[string]bool{}
	for _, o := range objects {
		files[o.File], ids[identity(o.Object)] = o, true
	}
	if len(files) != len(objects) || len(ids) != len(objects) {
		return l, false
	}
	l.objects = objects
	names := map[string]string{} // which of the objects have each
	for i, file := range k.Resources {
		name := files[path.Join(d.path, file)].name()
		names[name] += " " + strconv.Itoa(i)
	}
	var all []any
	for _, file := range k.Resources {
		o, listed := files[path.Join(d.path, file)]
		if !listed || o.lacks() != "" || o.name() == "" {
			return l, false
		}
		all = append(all, named(outline(o.Object, names), names[o.name()]))
	}
	data, err := json.Marshal([]any{k.TypeMeta, all})
	l.key = digest(string(data))
	return l, err == nil
}

// named is the object under another name.
func named(object map[string]any, name string) map[string]any {
	return merge(object, map[string]any{"metadata": map[string]any{"name": name}})
}

// stays reports whether kustomize puts out the objects as they were read, for
// this listing or one with its outline.
func (l listing) stays(known *recent.Memory[bool], run func() ([]map[string]any, error)) bool {
	stays, err := known.Of(l.key, func() (bool, error) {
		built, err := run()
		return err == nil && l.equals(built), err
	})
	return stays && err == nil
}

func (l listing) equals(built []map[string]any) bool {
	after := map[string]map[string]any{}
	for _, object := range built {
		after[identity(object)] = object
	}
	for _, o := range l.objects {
		if _, differs := (change{}).damage(o.Object, after[identity(o.Object)]); differs {
			return false
		}
	}
	return len(built) == len(l.objects)
}
