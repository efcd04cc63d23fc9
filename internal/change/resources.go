package change

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/structure"
)

// Resource is a Kubernetes object that the cluster will receive otherwise.
type Resource struct {
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	State     State   `json:"state"`
	File      string  `json:"file"`  // that it is rendered from
	Yours     bool    `json:"yours"` // an object of the user's that meshgen patches, of which only its own fields are known
	Fields    []Field `json:"fields"`
}

// Field is a place where the object differs; what is not there is null.
type Field struct {
	Path   string `json:"path"`
	Before any    `json:"before"`
	After  any    `json:"after"`
	Moved  bool   `json:"moved"` // an item of an ordered list; before and after are its indexes

	record bool // of all values, used or not
}

// String is the object as people call it.
func (r Resource) String() string {
	return r.Kind + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")
}

// identity tells objects apart as the API server does.
type identity struct{ group, kind, namespace, name string }

func identityOf(o manifests.Object) identity {
	group, _, ok := strings.Cut(text(o, "apiVersion"), "/")
	if !ok {
		group = ""
	}
	return identity{group, text(o, "kind"), text(o, "metadata", "namespace"), text(o, "metadata", "name")}
}

func text(o manifests.Object, path ...string) string {
	s, _ := valueAt(o.Object, path...).(string)
	return s
}

// valueAt is the value at a path of map keys; nil when there is none.
func valueAt(value any, path ...string) any {
	for _, key := range path {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

func resourceOf(o manifests.Object, state State) Resource {
	id := identityOf(o)
	return Resource{Kind: id.kind, Namespace: id.namespace, Name: id.name, State: state, File: o.File, Yours: o.StandIn}
}

// received are objects by identity. Of a stand-in there is only what is meshgen's,
// and nothing where nothing is.
func received(all []manifests.Object) map[identity]manifests.Object {
	objects := map[identity]manifests.Object{}
	for _, o := range all {
		if o.StandIn {
			if o = ours(o); o.Object == nil {
				continue
			}
		}
		objects[identityOf(o)] = o
	}
	return objects
}

func resourcesBetween(old, new []manifests.Object) []Resource {
	before, after := received(old), received(new)
	var all []Resource
	for id, o := range after {
		was, stays := before[id]
		r := resourceOf(o, Moved)
		if !stays {
			r.State = New
		}
		r.Fields = fieldsBetween(was, o)
		if len(r.Fields) > 0 {
			all = append(all, r)
		}
	}
	for id, o := range before {
		if _, stays := after[id]; !stays {
			all = append(all, resourceOf(o, Gone))
		}
	}
	sortResources(all)
	return all
}

func sortResources(all []Resource) {
	slices.SortFunc(all, func(x, y Resource) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}

func fieldsBetween(before, after manifests.Object) []Field {
	was, is := before.Object, after.Object
	if was == nil {
		was = map[string]any{"metadata": map[string]any{}}
	}
	version, kind := text(after, "apiVersion"), text(after, "kind")
	var all []Field
	for _, c := range structure.Compare(was, is, func(path ...string) manifests.List { return manifests.ListAt(version, kind, path...) }) {
		if before.Object == nil && slices.Contains([]string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}, c.Path) {
			continue
		}
		all = append(all, Field{c.Path, c.Before, c.After, c.Moved, isRecord(after, c.Path)})
	}
	return all
}

// isRecord reports where the istiod chart prints every value, whether it is used or not.
func isRecord(o manifests.Object, path string) bool {
	name := text(o, "metadata", "name")
	return text(o, "kind") == "ConfigMap" && (name == "values" || strings.HasPrefix(name, "values-")) && strings.HasPrefix(path, "data.")
}

// ours is a stand-in with the fields that name it and those that are meshgen's. One
// that is taken away from the user's object has the value that says so.
func ours(o manifests.Object) manifests.Object {
	kept := map[string]any{}
	for _, path := range o.Ours {
		keep(kept, o.Object, path)
	}
	if len(kept) == 0 {
		o.Object = nil
		return o
	}
	for _, path := range [][]any{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}} {
		keep(kept, o.Object, path)
	}
	o.Object = kept
	return o
}

// Removed stands for a field that meshgen takes away from an object of the user's.
const Removed = "(removed)"

// keep copies the value at a path, which goes through maps.
func keep(into, from map[string]any, path []any) {
	key, _ := path[0].(string)
	value, there := from[key]
	if len(path) == 1 {
		if !there && key != "namespace" {
			value = Removed
		}
		if value != nil {
			into[key] = value
		}
		return
	}
	below, _ := value.(map[string]any)
	next, ok := into[key].(map[string]any)
	if !ok {
		next = map[string]any{}
		into[key] = next
	}
	keep(next, below, path[1:])
}

// Restart is a workload whose pods are replaced.
type Restart struct {
	Workload string   `json:"workload"`
	Istiod   bool     `json:"istiod"`
	Fields   []string `json:"fields"`  // of the pod template, that change
	Perhaps  bool     `json:"perhaps"` // where the user's own manifest has something else
	Later    bool     `json:"later"`   // nothing replaces its pods for that: they have it from their next start
}

// Freeze is a span in which nothing may restart and nothing be pushed.
type Freeze struct {
	Event string `json:"event"`
	Span  string `json:"span"` // start/end in RFC 3339 UTC
}

const freezePrefix = "istiod.freeze."

func freezesOf(p *plan.Plan) []Freeze {
	var all []Freeze
	for _, d := range p.Decisions {
		if event, ok := strings.CutPrefix(d.Subject, freezePrefix); ok {
			span, _ := d.Value.(string)
			all = append(all, Freeze{event, span})
		}
	}
	return all
}

const (
	podTemplate = "spec.template."
	proxies     = "every proxy"
)

// injects reports the ConfigMap that proxies are made from: a template, and the values
// that it is executed with.
func (r Resource) injects() bool {
	return r.Kind == "ConfigMap" && strings.HasPrefix(r.Name, "istio-sidecar-injector") && r.State == Moved
}

// restartsBetween are the workloads whose pod template differs. Where a patch of the
// user's own workload comes or goes, its own fields decide.
func restartsBetween(old, new *Side, resources []Resource) []Restart {
	istiod := map[string]bool{}
	for _, s := range []*Side{old, new} {
		istiod[s.Plan.Istiod.Namespace+"/"+s.Plan.Istiod.Deployment] = true
	}
	restarts := map[string]Restart{}
	for _, r := range resources {
		if r.injects() {
			restarts[proxies] = Restart{Workload: proxies, Later: true, Fields: []string{r.String()}}
		}
		if r.Kind != "Deployment" && r.Kind != "StatefulSet" && r.Kind != "DaemonSet" || !r.Yours && r.State != Moved {
			continue
		}
		one := Restart{Workload: r.String(), Istiod: !r.Yours && istiod[r.Namespace+"/"+r.Name], Perhaps: r.State != Moved}
		for _, f := range r.Fields {
			if short, ok := strings.CutPrefix(f.Path, podTemplate); ok {
				one.Fields = append(one.Fields, short)
			}
		}
		if r.State == Gone && r.Yours {
			one.Fields = []string{"what meshgen set is gone"}
		}
		if len(one.Fields) > 0 {
			restarts[one.Workload] = one
		}
	}
	var all []Restart
	for _, name := range slices.Sorted(maps.Keys(restarts)) {
		all = append(all, restarts[name])
	}
	slices.SortStableFunc(all, func(x, y Restart) int { return cmp.Compare(last(x.Istiod), last(y.Istiod)) })
	return all
}

// last puts istiod before the workloads.
func last(istiod bool) int {
	if istiod {
		return 0
	}
	return 1
}
