package change

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/profile"
)

// Input is a field of the profile, defaults included, that has another value.
type Input struct {
	Path   string `json:"path"`   // items of lists by their names: spec.events[big-sale].ramp
	Before string `json:"before"` // empty where it was not there
	After  string `json:"after"`  // empty where it is not there
	diag.Pos

	items string // of a list, that come and go
}

// edit is one step from one profile's tree to another's.
type edit struct {
	steps         []step
	before, after any       // nil where the field is not there
	order         []string  // of the items of a list that are put into another order
	at            [2]string // the path by index, in the old profile and in the new
	index         int       // that a new item has
}

// step goes to a field, or to the item of a list with that name.
type step struct {
	name string
	item bool
}

func (e edit) path() string {
	var b strings.Builder
	for _, s := range e.steps {
		switch {
		case s.item:
			fmt.Fprintf(&b, "[%s]", s.name)
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// top is the path of the field of spec that the edit is in.
func (e edit) top() string {
	e.steps = e.steps[:min(2, len(e.steps))]
	return e.path()
}

// part is the path of the event, Service or other item of that field, where it is of one.
func (e edit) part() string {
	if len(e.steps) > 2 && e.steps[2].item {
		e.steps = e.steps[:3]
		return e.path()
	}
	return e.top()
}

// leaves is the name of an event or a zone that goes away.
func (e edit) leaves() (name string, ok bool) {
	ok = len(e.steps) == 3 && e.steps[2].item && e.after == nil && slices.Contains([]string{"events", "zones"}, e.steps[1].name)
	if ok {
		name = e.steps[2].name
	}
	return name, ok
}

// refersTo reports an edit in a Service of what it says of an event or a zone of that
// name.
func (e edit) refersTo(name string) bool {
	if len(e.steps) < 3 || e.steps[1].name != "services" {
		return false
	}
	fields, _ := e.before.(map[string]any)
	_, has := fields[name]
	return has || e.steps[len(e.steps)-1].name == name
}

// tree is a profile as JSON has it, with exact numbers. Nodes of a pool that is not
// scaled are one number.
func tree(p *profile.Profile) (map[string]any, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var root map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&root)
	return plain(root).(map[string]any), err
}

func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 3 && v["now"] != nil && v["min"] == v["now"] && v["max"] == v["now"] {
			return v["now"]
		}
		for key, item := range v {
			v[key] = plain(item)
		}
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	}
	return value
}

// edits are the steps from one tree to another, in the order of fields.
func edits(before, after map[string]any) []edit {
	var e editor
	e.fields(nil, [2]string{}, before, after)
	return e.all
}

type editor struct{ all []edit }

func (e *editor) fields(steps []step, at [2]string, before, after map[string]any) {
	keys := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		below := [2]string{joined(at[0], key), joined(at[1], key)}
		e.values(append(slices.Clip(steps), step{name: key}), below, before[key], after[key])
	}
}

func joined(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

func (e *editor) values(steps []step, at [2]string, before, after any) {
	if isEmpty(before) && isEmpty(after) || reflect.DeepEqual(before, after) {
		return
	}
	b, okB := before.(map[string]any)
	a, okA := after.(map[string]any)
	if okB && okA && !slices.Contains(byUser, steps[len(steps)-1].name) {
		e.fields(steps, at, b, a)
		return
	}
	if b, a, ok := bothNamed(before, after); ok {
		e.items(steps, at, b, a)
		return
	}
	e.all = append(e.all, edit{steps: steps, before: before, after: after, at: at})
}

// byUser are maps of which the keys are the user's. They move as a whole, for what
// they hold must add up.
var byUser = []string{"clients", "endpoints", "labels", "selector"}

// isEmpty reports what the profile does not tell from a field that is not there.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// named are the items of a list that have names of their own.
type named struct {
	names []string
	items map[string]any
	index map[string]int
}

func bothNamed(before, after any) (b, a named, ok bool) {
	b, okB := namedItems(before)
	a, okA := namedItems(after)
	return b, a, okB && okA
}

// namedItems are a list's items by namespace and name; ok is false for what is no
// list, or one of items without names.
func namedItems(value any) (n named, ok bool) {
	list, isList := value.([]any)
	if !isList && value != nil {
		return n, false
	}
	n.items, n.index = map[string]any{}, map[string]int{}
	for i, item := range list {
		name := nameOf(item)
		if _, twice := n.items[name]; twice || name == "" {
			return n, false
		}
		n.names = append(n.names, name)
		n.items[name], n.index[name] = item, i
	}
	return n, true
}

func nameOf(item any) string {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	if namespace, ok := fields["namespace"].(string); ok {
		name = namespace + "/" + name
	}
	return name
}

func (e *editor) items(steps []step, at [2]string, before, after named) {
	at1 := func(n named, path, name string) string {
		if i, ok := n.index[name]; ok {
			return fmt.Sprintf("%s[%d]", path, i)
		}
		return path
	}
	for _, name := range slices.Concat(before.names, missing(after.names, before)) {
		below := append(slices.Clip(steps), step{name, true})
		where := [2]string{at1(before, at[0], name), at1(after, at[1], name)}
		b, had := before.items[name]
		a, has := after.items[name]
		if had && has {
			e.values(below, where, b, a)
			continue
		}
		e.all = append(e.all, edit{steps: below, before: b, after: a, at: where, index: after.index[name]})
	}
	kept := slices.DeleteFunc(slices.Clone(before.names), func(name string) bool { return after.items[name] == nil })
	now := slices.DeleteFunc(slices.Clone(after.names), func(name string) bool { return before.items[name] == nil })
	if !slices.Equal(kept, now) {
		e.all = append(e.all, edit{steps: steps, order: after.names, before: kept, after: now, at: at})
	}
}

func missing(names []string, from named) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return from.items[name] != nil })
}

// apply makes the edit in a tree that has what it goes through.
func (e edit) apply(root map[string]any) {
	put(root, e.steps, e)
}

func put(value any, steps []step, e edit) any {
	if len(steps) == 0 {
		if e.order != nil {
			return inOrder(value, e.order)
		}
		return copied(e.after)
	}
	s := steps[0]
	if s.item {
		list, _ := value.([]any)
		return putItem(list, s.name, steps[1:], e)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return value // what it went through is not there: another edit takes it away
	}
	if next := put(fields[s.name], steps[1:], e); next != nil {
		fields[s.name] = next
	} else {
		delete(fields, s.name)
	}
	return fields
}

func putItem(list []any, name string, rest []step, e edit) any {
	i := slices.IndexFunc(list, func(item any) bool { return nameOf(item) == name })
	switch {
	case i >= 0 && len(rest) == 0 && e.after == nil:
		return slices.Delete(list, i, i+1)
	case i >= 0:
		list[i] = put(list[i], rest, e)
	case len(rest) == 0 && e.after != nil:
		return slices.Insert(list, min(e.index, len(list)), copied(e.after))
	}
	return list
}

// inOrder puts items into the order of names; those without one stay behind.
func inOrder(value any, names []string) any {
	list, _ := value.([]any)
	rank := func(item any) int {
		if i := slices.Index(names, nameOf(item)); i >= 0 {
			return i
		}
		return len(names)
	}
	slices.SortStableFunc(list, func(x, y any) int { return rank(x) - rank(y) })
	return list
}

func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		for key, item := range v {
			all[key] = copied(item)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = copied(item)
		}
		return all
	}
	return value
}

// edited is a profile with edits made in it.
func edited(root map[string]any, some []edit, like *profile.Profile) (*profile.Profile, error) {
	changed := copied(root).(map[string]any)
	for _, e := range some {
		e.apply(changed)
	}
	data, err := json.Marshal(changed)
	if err != nil {
		return nil, err
	}
	p := &profile.Profile{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	p.File, p.Positions = like.File, like.Positions
	return p, nil
}

// input is the edit as it is shown, at the field's place in the new profile, or in
// the old one where it is gone.
func (e edit) input(old, new *profile.Profile) Input {
	in := Input{Path: e.path(), Before: shortly(e.before), After: shortly(e.after), Pos: new.Pos(e.at[1])}
	if e.after == nil {
		in.Pos = old.Pos(e.at[0])
	}
	if e.order != nil {
		in.Path = "order of " + in.Path
		return in
	}
	if b, a := texts(e.before), texts(e.after); len(b)+len(a) > 0 {
		in.items = itemsMoved(b, a)
	}
	return in
}

// filesBetween are the user's Helm values files that both profiles list, and that hold
// something else now.
func filesBetween(old, new *Side) []Input {
	was := map[string]string{}
	for i, name := range old.Profile.Spec.Istiod.Values {
		was[name] = digest(old.Values[i])
	}
	var all []Input
	for i, name := range new.Profile.Spec.Istiod.Values {
		if had, now := was[name], digest(new.Values[i]); had != "" && had != now {
			at := fmt.Sprintf("spec.istiod.values[%d]", i)
			all = append(all, Input{Path: "the file " + name, Before: had, After: now, Pos: new.Profile.Pos(at), items: "holds something else now"})
		}
	}
	return all
}

func digest(file manifests.ValuesFile) string {
	sum := sha256.Sum256(file.Data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// texts are the items of a list of texts; none for anything else.
func texts(value any) []string {
	list, _ := value.([]any)
	var all []string
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil
		}
		all = append(all, text)
	}
	return all
}

// shortly is a value as a person writes it, whole; an item of a list that comes or
// goes is as JSON has it.
func shortly(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(given(value)); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(b.String())
}

// given is a value without what is not there.
func given(value any) any {
	switch v := copied(value).(type) {
	case map[string]any:
		for key, item := range v {
			if v[key] = given(item); isEmpty(v[key]) {
				delete(v, key)
			}
		}
		return v
	case []any:
		for i, item := range v {
			v[i] = given(item)
		}
		return v
	}
	return value
}
