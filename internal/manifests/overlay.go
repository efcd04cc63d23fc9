package manifests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/recent"
)

// partsABuild is how many parts are proven in one build: kustomize takes about
// 2 ms for its defaults, and more for each object the more there are
// (BenchmarkComponents).
const partsABuild = 16

// proveComponents builds each namespace's Component over hostile stand-ins, and
// returns what comes out for the objects that meshgen touches. The error is the
// first in the order of namespaces and parts, whichever build ends first.
func (b *Builder) proveComponents(p *plan.Plan, components map[string]*component) ([]Object, error) {
	chunks, err := b.chunksOf(p, components)
	if err != nil {
		return nil, err
	}
	return b.proveAll(chunks)
}

// chunksOf are the parts of every namespace, as many together as are proven in a
// build.
func (b *Builder) chunksOf(p *plan.Plan, components map[string]*component) ([]chunk, error) {
	var chunks []chunk
	parts := partsOf(p)
	for _, namespace := range slices.Sorted(maps.Keys(parts)) {
		c, ok := components[namespace]
		if !ok {
			return nil, fmt.Errorf("%s: %d workloads and Services are planned, and no Component was generated", componentFolder(p.Cluster, namespace), len(parts[namespace]))
		}
		if err := c.judgeExtra(parts[namespace]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.folder, err)
		}
		for some := range slices.Chunk(parts[namespace], partsABuild) {
			first := len(chunks) == 0 || chunks[len(chunks)-1].component != c
			chunks = append(chunks, chunk{
				component: c, parts: some, first: first, serverAddress: p.Istiod.ServerAddress,
				hostile: b.standIns["hostile"], bare: b.standIns["bare"],
			})
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(components)) {
		if len(parts[namespace]) == 0 {
			return nil, fmt.Errorf("%s: nothing is planned for namespace %s", components[namespace].folder, namespace)
		}
	}
	sample(chunks)
	return chunks, nil
}

// sample picks the first object of each shape of change: over a bare stand-in all
// of one shape come to the same.
func sample(chunks []chunk) {
	seen := map[string]bool{}
	for i := range chunks {
		c := &chunks[i]
		c.samples = map[ref]bool{}
		for _, p := range c.parts {
			for _, change := range p.changes(p.ref().name, c.serverAddress) {
				if s := change.shape(); change.effect == patched && !seen[s] {
					seen[s], c.samples[change.ref] = true, true
				}
			}
		}
	}
}

func componentFolder(cluster, namespace string) string {
	return path.Join(cluster, "workloads", namespace)
}

// proveAll proves as many chunks at a time as there are cores.
func (b *Builder) proveAll(chunks []chunk) ([]Object, error) {
	objects, errs := make([][]Object, len(chunks)), make([]error, len(chunks))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, c := range chunks {
		slots <- struct{}{}
		group.Go(func() {
			objects[i], errs[i] = c.proven(b.chunks)
			<-slots
		})
	}
	group.Wait()
	return slices.Concat(objects...), cmp.Or(errs...)
}

// chunk is some of a namespace's parts, and the Component that changes them.
type chunk struct {
	component     *component
	parts         []part
	first         bool         // of its namespace: bystanders stand beside it
	samples       map[ref]bool // the objects that are proven over bare stand-ins too
	serverAddress string       // Prometheus
	hostile, bare standIns
}

// proven is what prove proves, once for clusters that have the chunk in common but
// for the numbers of the objects that it adds: those are each cluster's own. What
// failed is proven again: its error is to name the cluster's own files.
func (c chunk) proven(known *recent.Memory[[]Object]) ([]Object, error) {
	key, err := c.key()
	if err != nil {
		return c.prove()
	}
	shared, err := known.Of(key, func() ([]Object, error) {
		objects, err := c.prove()
		for i := range objects {
			objects[i].File = strings.TrimPrefix(objects[i].File, c.component.folder)
		}
		return objects, err
	})
	if err != nil {
		return c.prove()
	}
	objects := slices.Clone(shared)
	for i := range objects {
		objects[i].File = c.component.folder + objects[i].File
	}
	if err := c.fill(objects); err != nil {
		_, alone := c.prove()
		return nil, cmp.Or(alone, err)
	}
	return objects, nil
}

// key is all that the proof depends on but for the stand-ins, which are the
// builder's, and the folder, which only names files.
func (c chunk) key() (string, error) {
	kustomization, files := c.component.of(c.parts)
	if !isPlain(kustomization) {
		return "", fmt.Errorf("%s does more than to add and to patch", c.component.folder)
	}
	names := c.names()
	var parts []any
	for _, p := range c.parts {
		if p.route != nil {
			parts = append(parts, p.route.Route)
			continue
		}
		parts = append(parts, p.workload.alike(), p.workload.extended(c.serverAddress))
		if err := c.outlineAdded(p, files, names); err != nil {
			return "", err
		}
	}
	var samples []string
	for r := range c.samples {
		samples = append(samples, r.String())
	}
	slices.Sort(samples)
	data, err := json.Marshal([]any{kustomization, c.component.namespace, c.component.bases, parts, samples, c.first})
	return digest(string(data), digestOf(files)), err
}

// prove holds the parts of the Component over both ends of what users have.
func (c chunk) prove() ([]Object, error) {
	objects, err := c.proveHostile()
	if err != nil {
		return nil, err
	}
	return objects, c.proveBare()
}

// proveHostile builds the parts over hostile stand-ins, under a prefix.
func (c chunk) proveHostile() ([]Object, error) {
	all := c.all()
	before := underPrefix(all)
	after, err := c.build(all)
	if err != nil {
		return nil, c.fail(c.component.folder, err)
	}
	var objects []Object
	for _, p := range c.parts {
		for _, change := range p.changes(proofPrefix+p.ref().name, c.serverAddress) {
			object := after[change.ref]
			delete(after, change.ref)
			err := change.judge(before[change.ref], object)
			if err == nil && change.effect == added {
				err = c.judgeWritten(change.ref, object)
			}
			if err != nil {
				return nil, c.fail(c.component.where(change.ref), err)
			}
			if change.effect == patched || change.effect == added {
				objects = append(objects, change.received(c.component.file(change.ref), object))
			}
			if change.effect == spared && p.workload.Scaling != nil {
				objects = append(objects, Object{File: c.component.file(p.workload.scaledObject()), Object: unjudged(unprefixed(object)), StandIn: true})
			}
		}
	}
	return objects, c.judgeOthers(before, after)
}

// received is a built object: all of it is known where the Component adds it, else
// what is meshgen's.
func (c change) received(file string, object map[string]any) Object {
	o := Object{File: file, Object: unprefixed(object), StandIn: c.effect == patched}
	if o.StandIn {
		for _, owned := range c.owned {
			o.Ours = append(o.Ours, owned.path)
		}
	}
	return o
}

// judgeOthers holds what no part knows of: the bystanders, and nothing else.
func (c chunk) judgeOthers(before, after map[ref]map[string]any) error {
	for _, object := range c.bystanders() {
		r := refOf(object)
		if err := (change{ref: r, effect: spared}).judge(before[r], after[r]); err != nil {
			return c.fail(c.component.folder, err)
		}
		delete(after, r)
	}
	for _, r := range slices.SortedFunc(maps.Keys(after), compareRefs) {
		return c.fail(c.component.folder, fmt.Errorf("%s comes out, and is not planned", r))
	}
	return nil
}

func (c chunk) fail(where string, err error) error {
	return fmt.Errorf("%s over hostile stand-ins: %w", where, err)
}

func compareRefs(x, y ref) int {
	return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.kind, y.kind), cmp.Compare(x.name, y.name))
}

func (c chunk) bystanders() []map[string]any {
	if !c.first {
		return nil
	}
	return c.hostile.bystanders(c.parts[0], c.component.bases.Namespaced)
}

// underPrefix is the stand-ins under the prefix, by the name without.
func underPrefix(standIns []map[string]any) map[ref]map[string]any {
	before := map[ref]map[string]any{}
	for _, object := range standIns {
		before[refOf(object)] = prefixed(object)
	}
	return before
}

// all are the hostile stand-ins of the chunk.
func (c chunk) all() []map[string]any {
	var all []map[string]any
	for _, p := range c.parts {
		all = append(all, c.hostile.of(p)...)
	}
	return append(all, c.bystanders()...)
}

// build is what kustomize makes of the stand-ins and the Component, by the name
// without the prefix.
func (c chunk) build(standIns []map[string]any) (map[ref]map[string]any, error) {
	disk := filesys.MakeFsInMemory()
	files, err := c.files(standIns)
	if err != nil {
		return nil, err
	}
	if err := writeFiles(disk, "/", files); err != nil {
		return nil, err
	}
	built, err := kustomized(disk, "/overlay")
	if err != nil {
		return nil, err
	}
	after := map[ref]map[string]any{}
	for _, object := range built {
		at := refOf(object)
		name, ok := strings.CutPrefix(at.name, proofPrefix)
		if !ok {
			return nil, fmt.Errorf("%s has not the prefix that the overlay puts before every name", at)
		}
		after[at.named(name)] = object
	}
	return after, nil
}

// kustomized are the objects that a folder builds to.
func kustomized(disk filesys.FileSystem, folder string) ([]map[string]any, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, folder)
	if err != nil {
		return nil, err
	}
	var objects []map[string]any
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// files are the overlay, with stand-ins as the bases are, and the Component.
func (c chunk) files(standIns []map[string]any) (map[string][]byte, error) {
	kustomization, patches := c.component.of(c.parts)
	overlay := types.Kustomization{Resources: []string{"stand-ins.yaml"}, Components: []string{"../component"}, NamePrefix: proofPrefix}
	if !c.component.bases.Namespaced {
		overlay.Namespace = c.component.namespace
	}
	var text bytes.Buffer
	for _, object := range standIns {
		if !c.component.bases.Namespaced {
			object = deepCopy(object)
			delete(object["metadata"].(map[string]any), "namespace")
		}
		text.WriteString("---\n")
		if err := json.NewEncoder(&text).Encode(object); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{"overlay/stand-ins.yaml": text.Bytes()}
	for folder, k := range map[string]types.Kustomization{"overlay": overlay, "component": kustomization} {
		data, err := yaml.Marshal(k)
		if err != nil {
			return nil, err
		}
		files[path.Join(folder, kustomizationFile)] = data
	}
	for name, data := range patches {
		files[path.Join("component", name)] = data
	}
	return files, nil
}

func digestOf(files map[string][]byte) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, name, digest(string(files[name])))
	}
	return digest(parts...)
}

func writeKustomization(disk filesys.FileSystem, folder string, k types.Kustomization) error {
	data, err := yaml.Marshal(k)
	if err != nil {
		return err
	}
	return disk.WriteFile(path.Join(folder, kustomizationFile), data)
}

func writeFiles(disk filesys.FileSystem, folder string, files map[string][]byte) error {
	for name, data := range files {
		if err := disk.WriteFile(path.Join(folder, name), data); err != nil {
			return err
		}
	}
	return nil
}

// unprefixed is an object under the names of the plan.
func unprefixed(object map[string]any) map[string]any {
	rename := func(holder any) {
		if named, ok := holder.(map[string]any); ok {
			name, _ := named["name"].(string)
			named["name"] = strings.TrimPrefix(name, proofPrefix)
		}
	}
	rename(object["metadata"])
	rename(at(object, "spec", "scaleTargetRef"))
	return object
}

// unjudged is a stand-in of a workload that is scaled and not patched: the gate
// looks for what a ScaledObject scales, and what spread it has is not known.
func unjudged(object map[string]any) map[string]any {
	delete(at(object, "spec", "template", "spec").(map[string]any), "topologySpreadConstraints")
	return object
}
