// Package structure finds where two Kubernetes objects differ: field by field,
// items of lists by what Kubernetes tells them apart by, and order only where it
// means something.
package structure

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/meshgen/meshgen/internal/manifests"
)

// Change is one place where two objects differ. A value that is not there is nil:
// to the API server, null is no value.
type Change struct {
	Path          string
	Before, After any
	Moved         bool // an item of an ordered list, from one index to another
}

// Lists says how the list at a path of map keys and manifests.Items is ordered.
type Lists func(path ...string) manifests.List

// Compare is the changes that make one object of the other, by path.
func Compare(before, after any, lists Lists) []Change {
	c := comparison{lists: lists}
	c.values(place{}, before, after)
	return c.changes
}

type comparison struct {
	lists   Lists
	changes []Change
}

// place is where a value stands: as it is shown, and as the schema knows it.
type place struct {
	shown  string
	schema []string
}

func (p place) field(key string) place {
	shown := p.shown + "." + key
	switch {
	case strings.ContainsAny(key, "./[]\" ") || key == "":
		shown = p.shown + "[" + strconv.Quote(key) + "]"
	case p.shown == "":
		shown = key
	}
	return place{shown, append(slices.Clip(p.schema), key)}
}

func (p place) item(name string) place {
	return place{p.shown + "[" + name + "]", append(slices.Clip(p.schema), manifests.Items)}
}

func (c *comparison) add(p place, before, after any) {
	c.changes = append(c.changes, Change{Path: p.shown, Before: before, After: after})
}

func (c *comparison) values(p place, before, after any) {
	if b, ok := before.(map[string]any); ok {
		if a, ok := after.(map[string]any); ok {
			c.maps(p, b, a)
			return
		}
	}
	if b, ok := before.([]any); ok {
		if a, ok := after.([]any); ok {
			c.items(p, b, a)
			return
		}
	}
	if !same(before, after) {
		c.add(p, before, after)
	}
}

func (c *comparison) maps(p place, before, after map[string]any) {
	keys := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		c.values(p.field(key), before[key], after[key])
	}
}

func (c *comparison) items(p place, before, after []any) {
	list := c.lists(p.schema...)
	if len(list.Keys) > 0 {
		b, okB := byKeys(before, list.Keys)
		a, okA := byKeys(after, list.Keys)
		if okB && okA {
			c.keyed(p, b, a, false)
			return
		}
	}
	if list.Set {
		c.set(p, before, after)
		return
	}
	b, okB := byKeys(before, []string{"name"})
	a, okA := byKeys(after, []string{"name"})
	if okB && okA {
		c.keyed(p, b, a, true)
		return
	}
	c.ordered(p, before, after)
}

// keyedItems are items by the name that their keys give them, and the names in
// the items' order.
type keyedItems struct {
	names []string
	items map[string]any
}

// byKeys tells items apart by the values of keys; ok is false where two have the
// same, or one has none.
func byKeys(items []any, keys []string) (k keyedItems, ok bool) {
	k.items = map[string]any{}
	for _, item := range items {
		fields, isMap := item.(map[string]any)
		if !isMap {
			return k, false
		}
		var parts []string
		some := false
		for _, key := range keys {
			some = some || fields[key] != nil
			if fields[key] != nil {
				parts = append(parts, fmt.Sprint(fields[key]))
			} else {
				parts = append(parts, "")
			}
		}
		name := strings.TrimRight(strings.Join(parts, ","), ",")
		if _, twice := k.items[name]; twice || !some {
			return k, false
		}
		k.names = append(k.names, name)
		k.items[name] = item
	}
	return k, true
}

// keyed compares items of one name, in the order that they have now. Where the
// order means something, an item whose index is another has moved.
func (c *comparison) keyed(p place, before, after keyedItems, ordered bool) {
	for i, name := range before.names {
		if _, stays := after.items[name]; !stays {
			c.add(p.item(name), before.items[name], nil)
			continue
		}
		if j := slices.Index(after.names, name); ordered && i != j {
			c.changes = append(c.changes, Change{Path: p.item(name).shown, Before: i, After: j, Moved: true})
		}
	}
	for _, name := range after.names {
		c.values(p.item(name), before.items[name], after.items[name])
	}
}

// set compares items by their values, each as often as it stands there.
func (c *comparison) set(p place, before, after []any) {
	left := map[string]int{}
	for _, item := range after {
		left[canonical(item)]++
	}
	for _, item := range before {
		if left[canonical(item)]--; left[canonical(item)] < 0 {
			c.add(p.item(""), item, nil)
		}
	}
	for _, item := range after {
		if left[canonical(item)] > 0 {
			left[canonical(item)]--
			c.add(p.item(""), nil, item)
		}
	}
}

// mostPairs bounds the search for what two ordered lists have in common.
const mostPairs = 1 << 20

// ordered compares items between those that both lists have, in order.
func (c *comparison) ordered(p place, before, after []any) {
	b, a := 0, 0
	for _, pair := range common(before, after) {
		c.gap(p, before[b:pair[0]], after[a:pair[1]], b, a)
		b, a = pair[0]+1, pair[1]+1
	}
	c.gap(p, before[b:], after[a:], b, a)
}

// gap compares items one by one, and then those that one list has more. Those that
// go have the index that they had.
func (c *comparison) gap(p place, before, after []any, b, a int) {
	both := min(len(before), len(after))
	for i := range both {
		c.values(p.item(strconv.Itoa(a+i)), before[i], after[i])
	}
	for i, item := range before[both:] {
		c.add(p.item(strconv.Itoa(b+both+i)), item, nil)
	}
	for i, item := range after[both:] {
		c.add(p.item(strconv.Itoa(a+both+i)), nil, item)
	}
}

// common are the indexes of a longest common subsequence; of lists that are too
// long to search, what they have in common at their ends.
func common(before, after []any) [][2]int {
	b, a := canonicals(before), canonicals(after)
	var pairs, tail [][2]int
	start := 0
	for start < min(len(b), len(a)) && b[start] == a[start] {
		pairs = append(pairs, [2]int{start, start})
		start++
	}
	endB, endA := len(b), len(a)
	for endB > start && endA > start && b[endB-1] == a[endA-1] {
		endB, endA = endB-1, endA-1
		tail = append(tail, [2]int{endB, endA})
	}
	slices.Reverse(tail)
	if (endB-start)*(endA-start) <= mostPairs {
		for _, pair := range longest(b[start:endB], a[start:endA]) {
			pairs = append(pairs, [2]int{start + pair[0], start + pair[1]})
		}
	}
	return append(pairs, tail...)
}

// longest is a longest common subsequence, by the table of its lengths.
func longest(b, a []string) [][2]int {
	long := make([][]int, len(b)+1)
	long[len(b)] = make([]int, len(a)+1)
	for i := len(b) - 1; i >= 0; i-- {
		long[i] = make([]int, len(a)+1)
		for j := len(a) - 1; j >= 0; j-- {
			long[i][j] = max(long[i+1][j], long[i][j+1])
			if b[i] == a[j] {
				long[i][j] = long[i+1][j+1] + 1
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(b) && j < len(a); {
		switch {
		case b[i] == a[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case long[i+1][j] >= long[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

func canonicals(items []any) []string {
	var all []string
	for _, item := range items {
		all = append(all, canonical(item))
	}
	return all
}

// canonical is a value as text: keys sorted, numbers as JSON has them.
func canonical(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%#v", value) // no object that was read from YAML or JSON
	}
	return string(text)
}

// same compares what is no map and no list on both sides; an int is a float of the
// same value.
func same(before, after any) bool {
	return reflect.DeepEqual(before, after) || canonical(before) == canonical(after)
}
