package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// judge holds a built object against what it was and what was planned; nil is
// an object that is not there. The error is a failure of meshgen's output.
func (c change) judge(before, after map[string]any) error {
	switch {
	case c.effect == removed && after != nil:
		return fmt.Errorf("%s is still there: the ScaledObject that takes it over and whatever applies the base would both own it", c.ref)
	case c.effect == removed:
		return nil
	case after == nil && c.effect == spared:
		return fmt.Errorf("%s is gone, and nothing of it is meshgen's to change", c.ref)
	case after == nil:
		return fmt.Errorf("%s is planned and is not there", c.ref)
	}
	if c.effect != added {
		if d, differs := c.damage(before, after); differs {
			return fmt.Errorf("%s: %s %s; %s", c.ref, dotted(d.path), d.fate(), c.ownership())
		}
	}
	for _, o := range c.owned {
		was, _ := get(before, o.path)
		got, _ := get(after, o.path)
		if m, bad := unmet(o.want, was, got, o.path); bad {
			return fmt.Errorf("%s: %s", c.ref, m)
		}
	}
	return nil
}

func (c change) ownership() string {
	if len(c.owned) == 0 {
		return "nothing of this object is meshgen's to change"
	}
	var paths []string
	for _, o := range c.owned {
		paths = append(paths, dotted(o.path))
	}
	return "meshgen's are only " + strings.Join(paths, ", ")
}

// miss is the first place where a value is not what was planned.
type miss struct {
	path      []any
	got, want any
}

func (m miss) String() string {
	return fmt.Sprintf("%s is %s, planned is %s", dotted(m.path), said(m.got), said(m.want))
}

// unmet holds a value against what was planned, after what was there.
func unmet(want, was, got any, path []any) (miss, bool) {
	switch w := want.(type) {
	case appended:
		before, _ := was.([]any)
		if have, _ := got.([]any); len(have) != len(before)+len(w) {
			return miss{path, got, want}, true
		}
		return unmet(slices.Concat(before, []any(w)), nil, got, path)
	case within:
		if have, ok := got.(map[string]any); ok {
			return unmetKeys(w, have, slices.Collect(maps.Keys(w)), path)
		}
	case map[string]any:
		if have, ok := got.(map[string]any); ok {
			return unmetKeys(w, have, slices.Concat(slices.Collect(maps.Keys(w)), slices.Collect(maps.Keys(have))), path)
		}
	case []any:
		if have, _ := got.([]any); len(have) == len(w) {
			return unmetElements(w, have, path)
		}
	}
	return miss{path, got, want}, !reflect.DeepEqual(want, got)
}

func unmetKeys(want, got map[string]any, keys []string, path []any) (miss, bool) {
	slices.Sort(keys)
	for _, key := range keys {
		if m, bad := unmet(want[key], nil, got[key], append(slices.Clone(path), key)); bad {
			return m, true
		}
	}
	return miss{}, false
}

func unmetElements(want, got []any, path []any) (miss, bool) {
	for i := range want {
		if m, bad := unmet(want[i], nil, got[i], append(slices.Clone(path), i)); bad {
			return m, true
		}
	}
	return miss{}, false
}

// said is a value as a message shows it.
func said(value any) string {
	if value == nil {
		return "absent"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	text := strings.TrimSpace(b.String())
	if _, ok := value.(appended); ok {
		return "what was there, then " + text
	}
	return text
}

// difference is the first place where two objects differ.
type difference struct {
	path    []any
	was, is any
}

func (d difference) fate() string {
	switch {
	case d.is == nil:
		return "was " + said(d.was) + " and is gone"
	case d.was == nil:
		return "was absent and is " + said(d.is)
	}
	return "was " + said(d.was) + " and is " + said(d.is)
}

// damage is the first difference that is not meshgen's to make.
func (c change) damage(before, after map[string]any) (difference, bool) {
	return c.compare(before, after, nil)
}

func (c change) compare(was, is any, path []any) (difference, bool) {
	if c.owns(path) {
		return difference{}, false
	}
	was, is = c.emptied(was, is, path), c.emptied(is, was, path)
	switch w := was.(type) {
	case map[string]any:
		if i, ok := is.(map[string]any); ok {
			return c.compareMaps(w, i, path)
		}
	case []any:
		if i, ok := is.([]any); ok && len(w) == len(i) {
			return c.compareLists(w, i, path)
		}
	}
	if reflect.DeepEqual(was, is) {
		return difference{}, false
	}
	return difference{slices.Clone(path), was, is}, true
}

func (c change) compareMaps(was, is map[string]any, path []any) (difference, bool) {
	keys := slices.Collect(maps.Keys(was))
	for key := range is {
		if _, both := was[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if d, differs := c.compare(was[key], is[key], append(path, key)); differs {
			return d, true
		}
	}
	return difference{}, false
}

func (c change) compareLists(was, is []any, path []any) (difference, bool) {
	for i := range was {
		if d, differs := c.compare(was[i], is[i], append(path, i)); differs {
			return d, true
		}
	}
	return difference{}, false
}

func (c change) owns(path []any) bool {
	return slices.ContainsFunc(c.owned, func(o owned) bool { return slices.Equal(o.path, path) })
}

// emptied stands an empty map for a value that is absent where something of
// ours lies below: a map may come and go with the only key in it.
func (c change) emptied(value, other any, path []any) any {
	_, isMap := other.(map[string]any)
	if value == nil && isMap && slices.ContainsFunc(c.owned, func(o owned) bool {
		return len(o.path) > len(path) && slices.Equal(o.path[:len(path)], path)
	}) {
		return map[string]any{}
	}
	return value
}
