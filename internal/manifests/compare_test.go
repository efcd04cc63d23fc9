package manifests

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestWhatAPatchMayChange(t *testing.T) {
	owned := []owned{
		{[]any{"metadata", "annotations", "a"}, nil},
		{[]any{"spec", "list"}, []any{within{"x": 1}}},
	}
	for name, c := range map[string]struct{ before, after, want string }{
		"what is its own":                {"{metadata: {annotations: {a: 1, b: 2}}, spec: {list: [], n: 1}}", "{metadata: {annotations: {b: 2}}, spec: {list: [{x: 1, y: 2}], n: 1}}", ""},
		"a map that held only its own":   {"{metadata: {annotations: {a: 1}}}", "{metadata: {}, spec: {list: [{x: 1}]}}", ""},
		"a map that comes with its own":  {"{}", "{spec: {list: [{x: 1}]}}", ""},
		"null for absent":                {"{spec: {n: null}}", "{spec: {list: [{x: 1}]}}", ""},
		"a neighbour":                    {"{metadata: {annotations: {a: 1, b: 2}}}", "{metadata: {annotations: {}}, spec: {list: [{x: 1}]}}", "metadata.annotations.b was 2 and is gone; "},
		"an empty map elsewhere":         {"{spec: {emptyDir: {}}}", "{spec: {list: [{x: 1}]}}", "spec.emptyDir was {} and is gone; "},
		"a string for a number":          {"{spec: {port: 80}}", `{spec: {port: "80", list: [{x: 1}]}}`, `spec.port was 80 and is "80"; `},
		"the order of a list":            {"{spec: {args: [a, b]}}", "{spec: {args: [b, a], list: [{x: 1}]}}", `spec.args[0] was "a" and is "b"; `},
		"a longer list":                  {"{spec: {args: [a]}}", "{spec: {args: [a, b], list: [{x: 1}]}}", `spec.args was ["a"] and is ["a","b"]; `},
		"a list for a map":               {"{spec: {args: {}}}", "{spec: {args: [], list: [{x: 1}]}}", `spec.args was {} and is []; `},
		"something new":                  {"{}", "{spec: {list: [{x: 1}], replicas: 3}}", "spec.replicas was absent and is 3; "},
		"its own to another value":       {"{}", "{spec: {list: [{x: 2}]}}", "spec.list[0].x is 2, planned is 1"},
		"its own to fewer values":        {"{}", "{spec: {list: []}}", `spec.list is [], planned is [{"x":1}]`},
		"its own that should have gone":  {"{}", "{metadata: {annotations: {a: 1}}, spec: {list: [{x: 1}]}}", "metadata.annotations.a is 1, planned is absent"},
		"its own that was never written": {"{}", "{}", `spec.list is absent, planned is [{"x":1}]`},
	} {
		err := change{ref{"Deployment", "shop", "cart"}, patched, owned}.judge(parse(t, c.before), parse(t, c.after))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: got %v", name, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "Deployment shop/cart: "+c.want)):
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestTriggersThatWereThereStayFirst(t *testing.T) {
	c := change{ref{"ScaledObject", "shop", "cart"}, patched, []owned{{[]any{"triggers"}, appended{within{"type": "cron"}}}}}
	for name, tc := range map[string]struct{ before, after, want string }{
		"ours after them": {"{triggers: [{type: cpu, name: a}]}", "{triggers: [{type: cpu, name: a}, {type: cron, name: b}]}", ""},
		"ours alone":      {"{}", "{triggers: [{type: cron}]}", ""},
		"one changed":     {"{triggers: [{type: cpu, name: a}]}", "{triggers: [{type: cpu}, {type: cron}]}", `triggers[0].name is absent, planned is "a"`},
		"one more key":    {"{triggers: [{type: cpu}]}", "{triggers: [{type: cpu, name: a}, {type: cron}]}", `triggers[0].name is "a", planned is absent`},
		"ours twice":      {"{triggers: []}", "{triggers: [{type: cron}, {type: cron}]}", `triggers is [{"type":"cron"},{"type":"cron"}], planned is what was there, then [{"type":"cron"}]`},
	} {
		err := c.judge(parse(t, tc.before), parse(t, tc.after))
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: got %v", name, err)
		case tc.want != "" && (err == nil || err.Error() != "ScaledObject shop/cart: "+tc.want):
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}
