package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// Apply is Build over the items of a list in place of a folder, and the list that
// comes out: patches on the items that the plan decides on, HPAs that are taken
// over gone, and each generated object in the place of the one that an earlier run
// has left, or behind the others. The given list stays as it was.
func (b *Builder) Apply(in Input, l *ResourceList) (*ResourceList, []Object, diag.List, error) {
	built, found, err := b.Build(in)
	if err != nil || found.HasErrors() {
		return nil, nil, found, err
	}
	a, err := in.apply(l)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("apply the plan of %s: %w", in.Plan.Cluster, err)
	}
	found = append(found, a.found...)
	if found.HasErrors() {
		return nil, nil, found, nil
	}
	objects, err := a.out.objects()
	if err != nil {
		return nil, nil, nil, err
	}
	return a.out, a.gate(built, objects), append(found, Duplicates(objects)...), nil
}

// apply is Apply without the proof over stand-ins.
func (in Input) apply(l *ResourceList) (*application, error) {
	folders, err := foldersOf(in.Plan.Cluster, in.Tree)
	if err != nil {
		return nil, err
	}
	a := &application{in: in}
	if a.components, err = componentsOf(folders, in.Plan.Bases, newReading()); err != nil {
		return nil, err
	}
	if a.generated, err = generatedOf(in.Plan.Cluster, folders); err != nil {
		return nil, err
	}
	if err := a.take(l); err != nil {
		return nil, err
	}
	if err := a.patch(); err != nil || a.found.HasErrors() {
		return a, err
	}
	a.out, err = a.list(l)
	return a, err
}

// application is a plan on its way onto items.
type application struct {
	in         Input
	components map[string]*component
	generated  []whole
	items      []item
	judge      *baseJudge
	found      diag.List
	out        *ResourceList
}

// item is an object of the list; ours is one that an earlier run has generated.
type item struct {
	listed
	ref     ref
	object  map[string]any // without what pipelines write on objects
	ours    bool
	removed bool
}

// whole is an object as a whole that the plan brings.
type whole struct {
	ref  ref
	file string
	data []byte
}

// pathAnnotation is the file of an object, for tools that do not know the internal
// one yet.
const pathAnnotation = "config.kubernetes.io/path"

// managedBy is the label of every object that is generated as a whole.
var managedBy = []any{"metadata", "labels", "app.kubernetes.io/managed-by"}

// generatedOf are the whole objects of the cluster's folders, in the order of
// folders and kustomizations; not the Applications, which apply the files that were
// rendered, and would make a second owner of what is applied from here.
func generatedOf(cluster string, folders map[string]*folder) ([]whole, error) {
	var all []whole
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if name == cluster+"/argocd" {
			continue
		}
		for _, resource := range folders[name].kustomization.Resources {
			g, err := folders[name].generated(resource)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path.Join(name, resource), err)
			}
			all = append(all, g)
		}
	}
	return all, nil
}

func (d *folder) generated(resource string) (whole, error) {
	file := path.Join(d.path, resource)
	i := slices.IndexFunc(d.files, func(f artifact.File) bool { return f.Path == file })
	if i < 0 {
		return whole{}, errors.New("it was not generated")
	}
	objects, err := decodeAll(d.files[i].Data)
	if err == nil && len(objects) != 1 {
		err = fmt.Errorf("it holds %d objects, and each has a file of its own", len(objects))
	}
	if err != nil {
		return whole{}, err
	}
	return whole{refOf(objects[0]), file, d.files[i].Data}, nil
}

// take reads the items, and what an earlier run has made of them.
func (a *application) take(l *ResourceList) error {
	planned := map[ref]bool{}
	for _, g := range a.generated {
		planned[g.ref] = true
	}
	for _, in := range l.items {
		object, err := in.node.Map()
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		it := item{listed: in, ref: refOf(object), object: unpiped(object)}
		label, _ := get(object, managedBy)
		it.ours = label == "meshgen" && planned[it.ref]
		a.items = append(a.items, it)
	}
	return nil
}

// unpiped is an object without the annotations that say where it came from and
// where it goes.
func unpiped(object map[string]any) map[string]any {
	object = deepCopy(object)
	annotations, _ := at(object, "metadata", "annotations").(map[string]any)
	for key := range annotations {
		if isPipeline(key) {
			delete(annotations, key)
		}
	}
	if metadata, ok := object["metadata"].(map[string]any); ok && annotations != nil && len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return object
}

// isPipeline reports whether an annotation is a pipeline's own.
func isPipeline(key string) bool {
	return strings.HasPrefix(key, "internal.config.kubernetes.io/") || key == "kustomize.config.k8s.io/id" ||
		slices.Contains([]string{"config.kubernetes.io/index", pathAnnotation, "config.k8s.io/id"}, key)
}

// patch judges the items as a base, applies the Components of the namespaces that
// they have, and holds what comes out against the plan.
func (a *application) patch() error {
	here := a.namespaces()
	a.in.Plan = a.onlyIn(here)
	a.judge = &baseJudge{in: a.in, base: a.base(), actual: map[ref]baseObject{}, taken: map[ref]ref{}, gone: a.takenOver()}
	a.judge.judge()
	a.found = append(a.found, a.judge.found...)
	if a.found.HasErrors() || len(a.judge.taken) == 0 {
		return nil
	}
	touched := slices.DeleteFunc(slices.Clone(a.judge.base.objects), func(o baseObject) bool {
		_, ok := a.judge.taken[o.ref]
		return !ok
	})
	after, err := a.build(touched, here)
	if err != nil {
		return fmt.Errorf("the Components over the items: %w", err)
	}
	return a.settle(touched, after, here)
}

// namespaces are the plan's in which the items have a workload or a Service, with
// their Components. Of the others the patches have nothing to be for.
func (a *application) namespaces() map[string]*component {
	here := map[string]*component{}
	for namespace, c := range a.components {
		in := namespace
		if !a.in.Plan.Bases.Namespaced {
			in = ""
		}
		if slices.ContainsFunc(a.items, func(it item) bool {
			return it.ref.namespace == in && slices.Contains([]string{"Deployment", "StatefulSet", "Service"}, it.ref.kind)
		}) {
			here[namespace] = c
		}
	}
	a.found = append(a.found, notPatched(a.in, a.components, here)...)
	return here
}

// notPatched tells of the patches of namespaces that are not there.
func notPatched(in Input, all, here map[string]*component) diag.List {
	var found diag.List
	for _, namespace := range slices.Sorted(maps.Keys(all)) {
		n := len(all[namespace].patches)
		if _, ok := here[namespace]; ok || n == 0 {
			continue
		}
		found = append(found, diag.Finding{
			Severity: diag.Warning, ID: "manifests/not-patched", Pos: in.Pos("spec.namespaces"), Subject: namespace,
			Message: fmt.Sprintf("namespace %s has no workload and no Service here: its patches (%d) are left out, its whole objects are not", namespace, n),
			Hint:    "give its workloads and Services too, or apply the Component that meshgen render writes where they are built",
		})
	}
	return found
}

// onlyIn is the plan without what it decides on for workloads and Services of
// other namespaces.
func (a *application) onlyIn(here map[string]*component) *plan.Plan {
	p := *a.in.Plan
	p.Workloads = slices.DeleteFunc(slices.Clone(p.Workloads), func(w plan.Workload) bool { return here[w.Namespace] == nil })
	p.Routes = slices.DeleteFunc(slices.Clone(p.Routes), func(r plan.Route) bool { return here[r.Namespace] == nil })
	return &p
}

// takenOver are the HPAs that are gone because a ScaledObject of ours has them.
func (a *application) takenOver() map[ref]bool {
	gone := map[ref]bool{}
	for _, p := range a.in.Plan.Workloads {
		w := workload{p}
		if hpa := w.hpa(); hpa != (ref{}) && a.find(a.placed(hpa)) == nil {
			if s := a.find(a.placed(w.scaledObject())); s != nil && s.ours {
				gone[hpa] = true
			}
		}
	}
	return gone
}

// placed is a planned object where the items have it.
func (a *application) placed(r ref) ref {
	if !a.in.Plan.Bases.Namespaced {
		r.namespace = ""
	}
	return r
}

func (a *application) find(r ref) *item {
	i := slices.IndexFunc(a.items, func(it item) bool { return it.ref == r })
	if i < 0 {
		return nil
	}
	return &a.items[i]
}

// base is the items as they were before an earlier run, with their places.
func (a *application) base() *base {
	b := &base{given: stdinName, sources: sources{docs: map[string][]*yamlnode.Node{}}, index: map[ref][]baseObject{}}
	for _, it := range a.items {
		b.sources.docs[it.name] = []*yamlnode.Node{it.node.YNode()}
		if it.ours {
			continue
		}
		o := baseObject{ref: it.ref, object: deepCopy(it.object), file: it.name, source: it.ref.name}
		b.objects = append(b.objects, o)
		b.index[o.ref] = append(b.index[o.ref], o)
	}
	for _, p := range a.in.Plan.Workloads {
		a.withoutOurs(workload{p}, b)
	}
	return b
}

// withoutOurs takes the triggers off a ScaledObject of the user's that an earlier
// run has put behind its own.
func (a *application) withoutOurs(w workload, b *base) {
	if w.Scaling == nil || !w.Scaling.Extends {
		return
	}
	for _, o := range b.index[a.placed(w.scaledObject())] {
		triggers, _ := at(o.object, "spec", "triggers").([]any)
		for _, owned := range w.scalingChange("", a.in.Plan.Istiod.ServerAddress).owned {
			ours, ok := owned.want.(appended)
			if !ok || len(ours) > len(triggers) {
				continue
			}
			own := triggers[:len(triggers)-len(ours)]
			if _, differs := unmet([]any(ours), nil, triggers[len(own):], nil); !differs {
				set(o.object, []any{"spec", "triggers"}, own)
			}
		}
	}
}

// build is what kustomize makes of the items that are touched and the Components.
func (a *application) build(touched []baseObject, here map[string]*component) ([]baseObject, error) {
	disk := filesys.MakeFsInMemory()
	overlay := types.Kustomization{Resources: []string{"items.yaml"}}
	var items bytes.Buffer
	for _, o := range touched {
		items.WriteString("---\n")
		if err := json.NewEncoder(&items).Encode(o.object); err != nil {
			return nil, err
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(here)) {
		folder := path.Join("/components", namespace)
		overlay.Components = append(overlay.Components, ".."+folder)
		k := here[namespace].kustomization
		k.Patches = slices.DeleteFunc(slices.Clone(k.Patches), func(p types.Patch) bool { return a.judge.gone[here[namespace].touches[p.Path]] })
		if err := errors.Join(writeKustomization(disk, folder, k), writeFiles(disk, folder, here[namespace].data)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(writeKustomization(disk, "/overlay", overlay), disk.WriteFile("/overlay/items.yaml", items.Bytes())); err != nil {
		return nil, err
	}
	objects, err := kustomized(disk, "/overlay")
	if err != nil {
		return nil, err
	}
	var built []baseObject
	for _, object := range objects {
		built = append(built, baseObject{ref: refOf(object), object: object})
	}
	return built, nil
}

// settle proves what came out, and edits the items at the paths that are ours:
// all else of them, comments too, stays as it was.
func (a *application) settle(touched, after []baseObject, here map[string]*component) error {
	is := map[ref]map[string]any{}
	for _, o := range after {
		is[o.ref] = deepCopy(o.object) // the comparison puts objects under the plan's names
	}
	a.judge.base.objects = touched
	if _, err := a.judge.compare(after, here); err != nil {
		return fmt.Errorf("the Components over the items: %w", err)
	}
	parts := partsOf(a.in.Plan)
	for _, namespace := range slices.Sorted(maps.Keys(here)) {
		for _, p := range parts[namespace] {
			for _, c := range p.changes(p.ref().name, a.in.Plan.Istiod.ServerAddress) {
				it := a.find(a.judge.built(c.ref))
				switch {
				case it == nil || c.effect == spared || c.effect == added:
				case c.effect == removed:
					it.removed = true
				default:
					if err := it.edit(c, is[it.ref]); err != nil {
						return fmt.Errorf("%s %s: %w", it.name, it.ref, err)
					}
				}
			}
		}
	}
	return nil
}

// edit makes the item what it is to be, and proves that it is.
func (it *item) edit(c change, to map[string]any) error {
	it.node = it.node.Copy()
	for _, o := range c.owned {
		was, _ := get(it.object, o.path)
		is, there := get(to, o.path)
		if reflect.DeepEqual(was, is) {
			continue
		}
		if err := put(it.node, o.path, is, there); err != nil {
			return err
		}
	}
	object, err := it.node.Map()
	if err != nil {
		return err
	}
	if d, differs := (change{}).damage(to, unpiped(object)); differs {
		return fmt.Errorf("%s %s", dotted(d.path), d.fate())
	}
	it.object = unpiped(object)
	return nil
}

// put sets or clears a field below maps.
func put(node *kyaml.RNode, at []any, value any, there bool) error {
	var folder []string
	for _, step := range at[:len(at)-1] {
		folder = append(folder, step.(string))
	}
	last := at[len(at)-1].(string)
	if !there {
		parent, err := node.Pipe(kyaml.Lookup(folder...))
		if err != nil || parent == nil {
			return err
		}
		if err := parent.PipeE(kyaml.Clear(last)); err != nil || len(parent.Content()) > 0 {
			return err
		}
		return node.PipeE(kyaml.Lookup(folder[:len(folder)-1]...), kyaml.Clear(folder[len(folder)-1]))
	}
	data, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	field, err := kyaml.Parse(string(data))
	if err != nil {
		return err
	}
	return node.PipeE(kyaml.LookupCreate(kyaml.MappingNode, folder...), kyaml.SetField(last, field))
}

// list is the items as they are now, and what was generated.
func (a *application) list(l *ResourceList) (*ResourceList, error) {
	out := *l
	out.items = nil
	at := map[ref]int{}
	for _, it := range a.items {
		if it.ours {
			at[it.ref] = len(out.items)
		}
		if !it.removed {
			out.items = append(out.items, it.listed)
		}
	}
	for _, g := range a.generated {
		node, err := kyaml.Parse(string(g.data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.file, err)
		}
		if i, had := at[g.ref]; had {
			err = copyPipeline(out.items[i].node, node)
			out.items[i].node = node
		} else {
			err = errors.Join(node.PipeE(kyaml.SetAnnotation(pathAnnotation, g.file)), node.PipeE(kyaml.SetAnnotation(kioutil.PathAnnotation, g.file)))
			out.items = append(out.items, listed{g.file, node})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.file, err)
		}
	}
	return &out, nil
}

// copyPipeline puts a pipeline's own annotations onto the object that takes
// another's place.
func copyPipeline(from, to *kyaml.RNode) error {
	for _, key := range sortedKeys(from.GetAnnotations()) {
		if !isPipeline(key) {
			continue
		}
		if err := to.PipeE(kyaml.SetAnnotation(key, from.GetAnnotations()[key])); err != nil {
			return err
		}
	}
	return nil
}

// objects are the items that an API server would take, for the gate.
func (l *ResourceList) objects() ([]Object, error) {
	var all []Object
	for _, it := range l.items {
		object, err := it.node.Map()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", it.name, err)
		}
		o := Object{File: it.name, Object: unpiped(object)}
		if o.lacks() == "" {
			all = append(all, o)
		}
	}
	return all, nil
}

// gate is what policies judge: the items, under the plan's names where it has
// them, and what was built for what they have not.
func (a *application) gate(built, items []Object) []Object {
	names := maps.Clone(a.judge.taken)
	for _, w := range a.in.Plan.Workloads {
		if w.Scaling != nil {
			s := workload{w}.scaledObject()
			names[a.placed(s)] = s
		}
	}
	has := map[ref]bool{}
	for _, o := range items {
		r := refOf(o.Object)
		if planned, ok := names[r]; ok && planned != r {
			o.Object["metadata"].(map[string]any)["namespace"] = planned.namespace
			r = planned
		}
		has[r] = true
	}
	rest := slices.DeleteFunc(slices.Clone(built), func(o Object) bool { return has[refOf(o.Object)] })
	return append(rest, items...)
}
