package policies

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/manifests"
)

// Rego fails open: where a path is missing, a rule that reads it is undefined
// and nothing is denied. So every field and every element of the sound objects
// is taken away, one at a time, and must be missed: by a policy, or by the
// validation of the input. What may go is listed in testdata/clean/unread.txt,
// with all that is below it; the list is exact in both directions.
func TestWhatIsTakenAwayIsMissed(t *testing.T) {
	free := unread(t)
	used := map[string]bool{}
	sound := soundObjects(t)
	for i, o := range sound {
		kind := fmt.Sprintf("%v/%v", o.Object["kind"], nameOf(o))
		for _, path := range paths(o.Object, nil) {
			missed := missed(t, with(sound, i, removed(o.Object, path)))
			entry := covering(free, kind+" "+strings.Join(path, "."))
			switch {
			case entry == "" && !missed:
				t.Errorf("%s %s: taken away, and nothing is denied", kind, strings.Join(path, "."))
			case entry != "" && missed:
				t.Errorf("%s %s: taken away, and missed: it is not unread", kind, strings.Join(path, "."))
			}
			used[entry] = true
		}
	}
	for _, entry := range free {
		if !used[entry] {
			t.Errorf("unread.txt: %s is nowhere in the sound objects", entry)
		}
	}
}

func TestAKindThatIsTakenAwayIsMissed(t *testing.T) {
	sound := soundObjects(t)
	for i, o := range sound {
		if !missed(t, slices.Delete(slices.Clone(sound), i, i+1)) {
			t.Errorf("no %s/%v, and nothing is denied", o.Object["kind"], nameOf(o))
		}
	}
}

// TestEveryFieldOfThePlanIsRequired takes away each field of the plan's JSON
// view: the validation must refuse the rest.
func TestEveryFieldOfThePlanIsRequired(t *testing.T) {
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document(soundPlan(), soundObjects(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths(doc["plan"], nil) {
		name := strings.Join(path, ".")
		last := path[len(path)-1]
		_, element := strconv.Atoi(last)
		isElement := element == nil
		free := isElement || strings.Contains(name, ".labels.") || strings.Contains(name, ".selector.") || // lists and maps of the user's
			strings.HasPrefix(name, "decisions.") && !requiredDecision(path) ||
			strings.HasPrefix(name, "decisions.") && strings.Contains(name, "running.")
		if free {
			continue
		}
		changed := maps.Clone(doc)
		changed["plan"] = removed(doc["plan"], path)
		if _, err := e.judgeDocument(context.Background(), changed, true); err == nil {
			t.Errorf("plan.%s: taken away, and the input is valid", name)
		}
	}
}

// requiredDecision tells the decisions that every plan has.
func requiredDecision(path []string) bool {
	if len(path) > 2 {
		return true
	}
	return !strings.Contains(path[1], "/") && path[1] != "istiod.cpu"
}

// missed reports whether the objects are denied, if only by a warning, or
// refused.
func missed(t *testing.T, objects []manifests.Object) bool {
	t.Helper()
	found, err := Check(context.Background(), soundPlan(), objects)
	return err != nil || len(found) > 0
}

// with is a copy of the objects in which one is another.
func with(objects []manifests.Object, i int, object any) []manifests.Object {
	out := slices.Clone(objects)
	out[i].Object = object.(map[string]any)
	return out
}

// unread is the list of what may be taken away, as "Kind/name path".
func unread(t *testing.T) []string {
	t.Helper()
	f, err := os.Open("testdata/clean/unread.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var entries []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			entries = append(entries, line)
		}
	}
	return entries
}

// covering is the entry that names the path, or a parent of it where the entry
// does not end in $.
func covering(entries []string, path string) string {
	for _, e := range entries {
		if path == e || path+"$" == e || strings.HasPrefix(path, e+".") {
			return e
		}
	}
	return ""
}

// paths are the ways to every field and element of v, parents first.
func paths(v any, at []string) [][]string {
	var all [][]string
	step := func(name string, child any) {
		path := append(slices.Clone(at), name)
		all = append(append(all, path), paths(child, path)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			step(key, v[key])
		}
	case []any:
		for i, child := range v {
			step(fmt.Sprint(i), child)
		}
	}
	return all
}

// removed is v without what is at path; v itself stays as it is.
func removed(v any, path []string) any {
	return edited(v, path, func(m map[string]any, key string) { delete(m, key) },
		func(l []any, i int) []any { return slices.Delete(l, i, i+1) })
}

// replaced is v with something else at path.
func replaced(v any, path []string, by any) any {
	return edited(v, path, func(m map[string]any, key string) { m[key] = by },
		func(l []any, i int) []any { l[i] = by; return l })
}

func edited(v any, path []string, field func(map[string]any, string), element func([]any, int) []any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		if len(path) == 1 {
			field(out, path[0])
			return out
		}
		out[path[0]] = edited(v[path[0]], path[1:], field, element)
		return out
	case []any:
		out := slices.Clone(v)
		i, _ := strconv.Atoi(path[0])
		if len(path) == 1 {
			return element(out, i)
		}
		out[i] = edited(v[i], path[1:], field, element)
		return out
	default:
		return v
	}
}
