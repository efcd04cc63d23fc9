package manifests

import (
	"encoding/json"
	"fmt"
	"reflect"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/meshgen/meshgen/internal/plan"
)

// The objects that a Component adds hold most of the numbers in which clusters
// differ, and nothing in a build goes by those: kustomize aims by kinds, names and
// metadata, and follows a text of spec only where it is the name of an object. So
// clusters that have these in common share a build, in which kustomize must put
// out what is added as it was written, but for the prefix. Each cluster's own file
// is read by kustomize's reader, and must hold what is planned.

// written is the object that the Component adds, as kustomize reads its file, in
// the Component's namespace. It is read-only.
func (c chunk) written(r ref) (map[string]any, error) {
	names := c.component.files[r]
	if len(names) != 1 {
		return nil, fmt.Errorf("%s is written in %d files", r, len(names))
	}
	object, ok := c.component.wholes[names[0]]
	if !ok {
		return nil, fmt.Errorf("%s is no resource", names[0])
	}
	if !c.component.bases.Namespaced {
		object = merge(object, map[string]any{"metadata": map[string]any{"namespace": c.component.namespace}})
	}
	if was := refOf(object); was != r {
		return nil, fmt.Errorf("%s is read as %s", r, was)
	}
	return object, nil
}

// judgeWritten holds what the build puts out under the prefix against what was
// written.
func (c chunk) judgeWritten(r ref, built map[string]any) error {
	object, err := c.written(r)
	if err != nil {
		return err
	}
	if d, differs := (change{}).damage(prefixed(object), built); differs {
		return fmt.Errorf("%s: %s %s; the build may change nothing of it but the names", r, dotted(d.path), d.fate())
	}
	return nil
}

// fill puts the cluster's own objects in the place of those that were shared, and
// holds each against the plan.
func (c chunk) fill(objects []Object) error {
	adds := map[ref]change{}
	for _, p := range c.parts {
		for _, change := range p.changes(p.ref().name, c.serverAddress) {
			if change.effect == added {
				adds[change.ref] = change
			}
		}
	}
	for i, o := range objects {
		change, ok := adds[refOf(o.Object)]
		if !ok {
			continue
		}
		object, err := c.written(change.ref)
		if err == nil {
			err = change.judge(nil, object)
		}
		if err != nil {
			return c.fail(c.component.where(change.ref), err)
		}
		objects[i].Object = object
	}
	return nil
}

// isPlain reports a Component that does nothing but to add, patch and configure:
// what else there is may carry values from one object to another.
func isPlain(k types.Kustomization) bool {
	k.Resources, k.Patches, k.Configurations = nil, nil, nil
	return reflect.DeepEqual(k, types.Kustomization{TypeMeta: k.TypeMeta})
}

// outlineAdded puts the outline of what is added for a workload in the place of
// its file.
func (c chunk) outlineAdded(p part, files map[string][]byte, names map[string]string) error {
	for _, change := range p.changes("", "") {
		if change.effect != added {
			continue
		}
		object, err := c.written(change.ref)
		if err != nil {
			return err
		}
		if files[c.component.files[change.ref][0]], err = json.Marshal(outline(object, names)); err != nil {
			return err
		}
	}
	return nil
}

// names are what the objects of the build are called.
func (c chunk) names() map[string]string {
	names := map[string]string{bystander: bystander}
	for _, p := range c.parts {
		names[p.ref().name] = p.ref().name
		for _, change := range p.changes("", "") {
			names[change.ref.name] = change.ref.name
		}
	}
	return names
}

// alike is what clusters with workloads that are alike have in common: the
// ScaledObject that is added is judged in each.
func (w workload) alike() plan.Workload {
	common := w.Workload
	common.SpreadReason = ""
	if common.Scaling != nil && !common.Scaling.Extends {
		common.Scaling = &plan.Scaling{Name: common.Scaling.Name, HPA: common.Scaling.HPA}
	}
	return common
}

// extended is the address of Prometheus in the triggers that are put on a
// ScaledObject which runs.
func (w workload) extended(serverAddress string) string {
	if w.Scaling != nil && w.Scaling.Extends {
		return serverAddress
	}
	return ""
}
