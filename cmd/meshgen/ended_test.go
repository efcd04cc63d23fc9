package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/schema"
)

// autoscalers are the files of a profile's output that hold a ScaledObject, a
// change to one, or the HPA that one takes over.
func autoscalers(t *testing.T, p *profile.Profile) []string {
	t.Helper()
	pl, err := plan.Build(p)
	if err != nil || pl.Findings.HasErrors() {
		t.Fatal(err, pl.Findings)
	}
	tree, err := generators.Render(pl)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range tree.Files() {
		if name := filepath.Base(f.Path); strings.HasPrefix(name, "scaledobject-") || strings.HasPrefix(name, "horizontalpodautoscaler-") {
			files = append(files, f.Path)
		}
	}
	return files
}

// withoutEvents is the profile without the events that are not kept, and without
// what Services say of them.
func withoutEvents(p *profile.Profile, keep func(profile.Event) bool) *profile.Profile {
	out := *p
	out.Spec.Events = nil
	kept := map[string]bool{}
	for _, e := range p.Spec.Events {
		if keep(e) {
			out.Spec.Events = append(out.Spec.Events, e)
			kept[e.Name] = true
		}
	}
	out.Spec.Services = slices.Clone(p.Spec.Services)
	for i, s := range out.Spec.Services {
		out.Spec.Services[i].Events = maps.Clone(s.Events)
		maps.DeleteFunc(out.Spec.Services[i].Events, func(name string, _ profile.ServiceEvent) bool { return !kept[name] })
	}
	return &out
}

// An event that is over is deleted, and no autoscaler goes with it: neither
// istiod's, nor one of a workload that no other event names.
func TestAnEventThatIsDeletedLeavesEveryAutoscaler(t *testing.T) {
	files, err := filepath.Glob("../../examples/clusters/*/profile.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	scaled := 0
	for _, file := range files {
		p := loadExample(t, file, nil)
		want := autoscalers(t, p)
		scaled += len(want)
		for _, e := range p.Spec.Events {
			got := autoscalers(t, withoutEvents(p, func(other profile.Event) bool { return other.Name != e.Name }))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s without %s (-before +after):\n%s", file, e.Name, diff)
			}
		}
		if diff := cmp.Diff(want, autoscalers(t, withoutEvents(p, func(profile.Event) bool { return false }))); diff != "" {
			t.Errorf("%s without events (-before +after):\n%s", file, diff)
		}
	}
	if scaled < 10 {
		t.Errorf("the examples have %d autoscalers: too few to tell", scaled)
	}
}

// Whoever deletes the lines that the finding names has a sound profile without
// the event, and the same autoscalers.
func TestTheLinesOfAnEventThatEnded(t *testing.T) {
	const file = "../../examples/clusters/bigsale/profile.yaml"
	for name, change := range map[string]func(string) string{
		"as the example has it": func(s string) string { return s },
		"the last of the list, before a comment": func(s string) string {
			event, rest, _ := strings.Cut(s[strings.Index(s, "    - name: big-sale"):], "    - name: weekday-lunch")
			weekly, after, _ := strings.Cut(rest, "  gateways:")
			return s[:strings.Index(s, "    - name: big-sale")] + "    - name: weekday-lunch" + weekly + event + "\n  # gateways follow\n  gateways:" + after
		},
		"with a comment and an empty line inside": func(s string) string {
			return strings.Replace(s, "      load: {connections: 3600", "\n # as last year\n      load: {connections: 3600", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(change(string(text)))
			before := loadExample(t, file, text)
			found := plan.Ended(before, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
			if len(found) != 1 {
				t.Fatalf("found %v", found)
			}
			after := loadExample(t, file, withoutLines(t, string(text), found[0].Hint))
			for _, e := range after.Spec.Events {
				if e.Name != "weekday-lunch" {
					t.Errorf("event %s is still there", e.Name)
				}
			}
			if len(after.Spec.Events) != len(before.Spec.Events)-1 {
				t.Errorf("%d events of %d are left", len(after.Spec.Events), len(before.Spec.Events))
			}
			if diff := cmp.Diff(autoscalers(t, before), autoscalers(t, after)); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// loadExample loads the text as the profile of that file; without a text the file.
func loadExample(t *testing.T, file string, text []byte) *profile.Profile {
	t.Helper()
	if text == nil {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: text}}, "profile.yaml")
	if found.HasErrors() {
		t.Fatal(found)
	}
	return p
}

// withoutLines is the text without the lines that a hint names: "lines 3 to 5", and
// each number after that.
func withoutLines(t *testing.T, text, hint string) []byte {
	t.Helper()
	var numbers []int
	for _, n := range regexp.MustCompile(`[0-9]+`).FindAllString(hint, -1) {
		number, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	if len(numbers) < 2 {
		t.Fatalf("no lines in %q", hint)
	}
	var left []string
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		if n < numbers[0] || n > numbers[1] && !slices.Contains(numbers[2:], n) {
			left = append(left, line)
		}
	}
	return []byte(strings.Join(left, "\n"))
}
