package policies

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/schema"
)

var table = flag.Bool("mutants", false, "print every mutant and what caught it")

// mutant is one change to what policies read of an example.
type mutant struct {
	example  string
	at       string // which object and path, elements as they are counted
	pattern  string // the same for all objects of a kind and all elements
	mutation string // deleted, or how it is bent
	value    string // what was there
	readers  []string
	doc      map[string]any
	caught   string // by what; empty for a survivor
}

// example is what the product makes of a profile, as policies receive it.
type example struct {
	name string
	plan *plan.Plan
	doc  map[string]any
}

// examples are real: their profiles go through the whole line.
func examples(t *testing.T) []example {
	t.Helper()
	proofs, err := manifests.Open("")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	for _, path := range []string{
		"clusters/bigsale/profile.yaml", "clusters/boutique/profile.yaml", "clusters/featureflag/profile.yaml", "fleet/tokyo/profile.cue",
	} {
		p, found := schema.Load(os.DirFS("../examples"), path)
		if p == nil {
			t.Fatal(found)
		}
		planned, err := plan.Build(p)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := generators.Render(planned)
		if err != nil {
			t.Fatal(err)
		}
		objects, found, err := proofs.Build(manifests.Input{Plan: planned, Tree: tree, Pos: p.Pos})
		if err != nil || found.HasErrors() {
			t.Fatal(found, err)
		}
		all = append(all, exampleOf(t, planned, objects))
	}
	return append(all, withFixtureObjects(t))
}

func exampleOf(t *testing.T, p *plan.Plan, objects []manifests.Object) example {
	t.Helper()
	doc, err := document(p, objects)
	if err != nil {
		t.Fatal(err)
	}
	return example{p.Cluster, p, doc}
}

// withFixtureObjects are the sound objects of testdata/clean, among which are the
// kinds that no example renders.
func withFixtureObjects(t *testing.T) example {
	t.Helper()
	e := exampleOf(t, soundPlan(), soundObjects(t))
	e.name = "testdata/clean"
	return e
}

// Every path that a policy reads is deleted and bent in every example, one at a
// time; a denial that was not there before, or the refusal of the input, must
// catch it. Paths come from following the Rego as it is evaluated. What changes
// nothing that matters is in equivalents, each with its reason.
func TestNoMutantSurvives(t *testing.T) {
	var all []*mutant
	for _, e := range examples(t) {
		mutants := mutantsOf(e, readersOf(t, e.doc))
		judgeMutants(t, e, mutants)
		all = append(all, mutants...)
	}
	used := map[string]bool{}
	for _, m := range all {
		if m.caught != "" {
			continue
		}
		e, ok := equivalentOf(m)
		if !ok {
			t.Errorf("%s %s %s: %s reads it, and nothing is denied", m.example, m.at, m.mutation, strings.Join(m.readers, ", "))
		}
		m.caught = "equivalent: " + e.reason
		used[e.paths] = true
	}
	for _, e := range equivalents() {
		if !used[e.paths] {
			t.Errorf("equivalents: %s: each is caught, or is no mutant", e.paths)
		}
	}
	if *table {
		printMutants(all)
	}
}

func mutantsOf(e example, readers map[string][]string) []*mutant {
	var all []*mutant
	judged := judgedObjects(readers)
	for _, joined := range slices.Sorted(maps.Keys(readers)) {
		path := strings.Split(joined, "\x00")
		if path[0] == "objects" && !judged[path[1]] {
			continue
		}
		value := valueAt(e.doc, path)
		at, pattern := named(e.doc, path)
		take := func(mutation string, doc any) {
			all = append(all, &mutant{
				example: e.name, at: at, pattern: pattern, mutation: mutation, value: fmt.Sprint(value),
				readers: readers[joined], doc: doc.(map[string]any),
			})
		}
		take("deleted", removed(e.doc, path))
		for _, b := range bent(value) {
			take(b.how, replaced(e.doc, path, b.value))
		}
	}
	return all
}

// judgedObjects are the objects, by their index, of which more is read than what
// they are: policies look at the name and the kind of each to find theirs.
func judgedObjects(readers map[string][]string) map[string]bool {
	judged := map[string]bool{}
	for joined := range readers {
		path := strings.Split(joined, "\x00")
		if len(path) < 3 || path[0] != "objects" {
			continue
		}
		switch strings.Join(path[2:], ".") {
		case "file", "object", "object.kind", "object.metadata", "object.metadata.name", "object.metadata.namespace":
		default:
			judged[path[1]] = true
		}
	}
	return judged
}

type bend struct {
	how   string
	value any
}

var leadingNumber = regexp.MustCompile(`^\d+`)

// bent are other values of the same type.
func bent(v any) []bend {
	switch v := v.(type) {
	case bool:
		return []bend{{"flipped", !v}}
	case string:
		if digits := leadingNumber.FindString(v); digits != "" {
			n, _ := strconv.Atoi(digits)
			return []bend{{"+1", strconv.Itoa(n+1) + v[len(digits):]}, {"-1", strconv.Itoa(n-1) + v[len(digits):]}}
		}
		return []bend{{"changed", v + "x"}}
	case []any:
		if len(v) > 0 {
			return []bend{{"emptied", []any{}}}
		}
	case map[string]any:
		if len(v) > 0 {
			return []bend{{"emptied", map[string]any{}}}
		}
	default:
		if n, err := strconv.ParseFloat(fmt.Sprint(v), 64); err == nil {
			return []bend{{"+1", n + 1}, {"-1", n - 1}}
		}
	}
	return nil
}

func valueAt(v any, path []string) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, _ := strconv.Atoi(step)
			v = in[i]
		}
	}
	return v
}

var element = regexp.MustCompile(`^\d+$`)

// named is a path as it is shown: an object's begins with its kind and name, and
// its pattern with the kind alone.
func named(doc map[string]any, path []string) (at, pattern string) {
	rest := path
	var kind, name string
	if len(path) > 2 && path[0] == "objects" && path[2] == "object" {
		object := valueAt(doc, path[:3]).(map[string]any)
		kind, name, rest = fmt.Sprint(object["kind"]), fmt.Sprint(valueAt(object, []string{"metadata", "name"})), path[3:]
		at, pattern = kind+"/"+name+" ", kind+" "
	}
	general := slices.Clone(rest)
	for i, step := range general {
		if element.MatchString(step) {
			general[i] = "*"
		}
	}
	if len(general) > 2 && general[0] == "plan" && general[1] == "decisions" {
		general[2] = wildcard(general[2])
	}
	return at + strings.Join(rest, "."), pattern + strings.Join(general, ".")
}

var ownName = regexp.MustCompile(`^(workload|service|sidecar)/[^.]*`)

// wildcard is a decision's subject for any workload, Service or namespace.
func wildcard(subject string) string { return ownName.ReplaceAllString(subject, "$1/*") }

// judgeMutants asks for each what catches it, on every core.
func judgeMutants(t *testing.T, e example, mutants []*mutant) {
	t.Helper()
	engine, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	before := denials(t, engine, e)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for _, m := range mutants {
		slots <- struct{}{}
		group.Go(func() {
			m.caught = caughtBy(engine, m.doc, before)
			m.doc = nil
			<-slots
		})
	}
	group.Wait()
}

func denials(t *testing.T, engine *engine, e example) map[string]bool {
	t.Helper()
	found, err := engine.judgeDocument(context.Background(), e.doc, true)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]bool{}
	for _, d := range found {
		before[d.policy.ID+d.subject+d.message] = true
	}
	return before
}

// caughtBy are the policies that deny what they did not deny before, or the
// refusal of the input.
func caughtBy(engine *engine, doc map[string]any, before map[string]bool) string {
	found, err := engine.judgeDocument(context.Background(), doc, true)
	if err != nil {
		return "refused: the input is not what policies read"
	}
	var ids []string
	for _, d := range found {
		if !before[d.policy.ID+d.subject+d.message] {
			ids = append(ids, d.policy.ID)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " ")
}

// printMutants prints a row for each policy, pattern, mutation and example.
func printMutants(all []*mutant) {
	type row struct{ policy, pattern, mutation, example string }
	rows := map[row][]string{}
	for _, m := range all {
		for _, policy := range m.readers {
			r := row{policy, m.pattern, m.mutation, m.example}
			rows[r] = append(rows[r], strings.Split(m.caught, " ")...)
			if strings.Contains(m.caught, ": ") {
				rows[r] = []string{m.caught}
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.mutation, b.mutation), cmp.Compare(a.example, b.example))
	})
	for _, r := range order {
		caught := slices.Compact(slices.Sorted(slices.Values(rows[r])))
		fmt.Printf("%-34s %-70s %-8s %-14s %s\n", r.policy, r.pattern, r.mutation, r.example, strings.Join(caught, " "))
	}
	fmt.Printf("%d mutants of %d rows\n", len(all), len(rows))
}

// What following the Rego finds is held against what taking fields away shows: a
// policy that denies when one is gone has read it, what is below it, or the list or
// mapping that it is in. A way to read that is not followed would leave its paths
// without mutants.
func TestWhatIsReadIsFollowed(t *testing.T) {
	engine, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []example{withFixtureObjects(t), examples(t)[0]} {
		readers, before := readersOf(t, e.doc), denials(t, engine, e)
		for _, path := range paths(e.doc, nil) {
			if len(path) < 3 {
				continue // the whole plan, or a whole object
			}
			caught := caughtBy(engine, removed(e.doc, path).(map[string]any), before)
			for _, policy := range strings.Fields(caught) {
				if strings.Contains(policy, "/") && !slices.Contains(readersAround(readers, path), policy) {
					t.Errorf("%s: %s denies without %s, and does not seem to read it", e.name, policy, strings.Join(path, "."))
				}
			}
		}
	}
}

// readersAround are the policies that read a path, anything below it, or what it is in.
func readersAround(readers map[string][]string, path []string) []string {
	joined := strings.Join(path, "\x00")
	around := slices.Concat(readers[joined], readers[strings.Join(path[:len(path)-1], "\x00")])
	for read, policies := range readers {
		if strings.HasPrefix(read, joined+"\x00") {
			around = append(around, policies...)
		}
	}
	return around
}
