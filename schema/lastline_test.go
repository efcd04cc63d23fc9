package schema_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/schema"
)

// An event or an exception of a block list is whole lines, which may be deleted;
// what shares a line with something else is not.
func TestLastLines(t *testing.T) {
	const before = `apiVersion: meshgen.dev/v1alpha1
kind: ClusterProfile
metadata: {name: mesh}
spec:
  kubernetes: {version: "1.35"}
  zones: [{name: a, nodePools: [{name: default, nodes: 9, allocatableCPU: "16"}]}]
  istio: {version: "1.31"}
  istiod: {resources: {cpu: "2", memory: 800Mi}, memoryModel: {base: 240M, bytesPerConnectionEndpoint: 400}, load: {connections: 1000, endpoints: 1700}}
  namespaces: []
  services: []
`
	const when = "start: 2026-11-20T08:00:00Z, end: 2026-11-20T18:00:00Z, multiplier: {connections: 2}"
	for name, c := range map[string]struct {
		text string // from line 11 on
		want map[string]int
	}{
		"a line each": {
			"  events:\n    - {name: a, " + when + "}\n    - {name: b, " + when + "}\n",
			map[string]int{"spec.events[0]": 12, "spec.events[1]": 13},
		},
		"several lines, the dash as far in as the list": {
			"  events:\n  - name: a\n    start: 2026-11-20T08:00:00Z\n    end: 2026-11-20T18:00:00Z\n    multiplier:\n      connections: 2\n",
			map[string]int{"spec.events[0]": 16},
		},
		"comments and empty lines": {
			"  events:\n    # of the year\n    - name: a\n\n      # as last year\n      {x}\n\n    # the other\n    - {name: b, " + when + "}\n\n  # the end\n",
			map[string]int{"spec.events[0]": 18, "spec.events[1]": 21},
		},
		"a text of several lines": {
			"  exceptions:\n    - rule: keda/paused\n      subject: a\n      owner: b\n      expiry: 2026-12-31\n      reason: |\n        first\n\n        second\n  gateways: []\n",
			map[string]int{"spec.exceptions[0]": 19},
		},
		"a list between brackets": {
			"  events: [{name: a, " + when + "},\n    {name: b, " + when + "}]\n",
			map[string]int{},
		},
		"a bracket that closes further out": {
			"  events:\n    - {name: a, " + when + "\n  }\n",
			map[string]int{},
		},
		"a dash that stands alone": {
			"  events:\n    -\n      name: a\n      {x}\n",
			map[string]int{},
		},
		"ends of lines of Windows": {
			"  events:\r\n    - {name: a,\r\n       " + when + "}\r\n    - {name: b, " + when + "}\r\n",
			map[string]int{"spec.events[0]": 13, "spec.events[1]": 14},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := before + strings.Replace(c.text, "{x}", "start: 2026-11-20T08:00:00Z\n      end: 2026-11-20T18:00:00Z\n      multiplier: {connections: 2}", 1)
			p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: []byte(text)}}, "profile.yaml")
			if p == nil {
				t.Fatal(found)
			}
			if diff := cmp.Diff(c.want, p.LastLines); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, text)
			}
		})
	}
}

// In CUE it is an item that a list of the package writes on lines of its own.
func TestLastLinesOfCUE(t *testing.T) {
	const before = `package mesh
apiVersion: "meshgen.dev/v1alpha1"
kind: "ClusterProfile"
metadata: name: "mesh"
spec: {
	kubernetes: version: "1.35"
	zones: [{name: "a", nodePools: [{name: "default", nodes: 9, allocatableCPU: "16"}]}]
	istio: version: "1.31"
	istiod: {resources: {cpu: "2", memory: "800Mi"}, memoryModel: {base: "240M", bytesPerConnectionEndpoint: 400}, load: {connections: 1000, endpoints: 1700}}
	namespaces: []
	services: []
}
#Sale: {name: string, start: "2026-11-20T08:00:00Z", end: "2026-11-20T18:00:00Z", multiplier: connections: 2}
`
	for name, c := range map[string]struct {
		text string // from line 14 on
		want map[string]int
	}{
		"several lines, and one": {
			"spec: events: [\n\t#Sale & {\n\t\tname: \"a\"\n\t}, // of the year\n\t// the other\n\t#Sale & {name: \"b\"}\n]\n",
			map[string]int{"spec.events[0]": 17, "spec.events[1]": 19},
		},
		"a line that two share": {
			"spec: events: [\n\t#Sale & {name: \"a\"}, #Sale & {name: \"b\"},\n\t#Sale & {name: \"c\"},\n]\n",
			map[string]int{"spec.events[2]": 16},
		},
		"brackets that share lines with items": {
			"spec: events: [#Sale & {name: \"a\"},\n\t#Sale & {name: \"b\"},\n\t#Sale & {name: \"c\"}]\n",
			map[string]int{"spec.events[1]": 15},
		},
		"what a comprehension makes": {
			"spec: events: [\n\tfor n in [\"a\", \"b\"] {\n\t\t#Sale & {name: n}\n\t},\n]\n",
			map[string]int{},
		},
		"a text of several lines": {
			"spec: exceptions: [\n\t{rule: \"keda/paused\", subject: \"a\", owner: \"b\", expiry: \"2026-12-31\", reason: \"\"\"\n\t\tfirst\n\t\tsecond\n\t\t\"\"\"},\n]\n",
			map[string]int{"spec.exceptions[0]": 18},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := before + c.text
			p, found := schema.Load(fstest.MapFS{"profile.cue": {Data: []byte(text)}}, "profile.cue")
			if p == nil {
				t.Fatal(found)
			}
			if diff := cmp.Diff(c.want, p.LastLines); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, text)
			}
		})
	}
}
