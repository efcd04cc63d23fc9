package manifests

import (
	"cmp"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// Input is one cluster's part of a build.
type Input struct {
	Plan   *plan.Plan
	Tree   *artifact.Tree
	Values []ValuesFile               // the user's Helm values, in merge order, under ours
	Base   string                     // folder of the user's own kustomization; empty for none
	Pos    func(path string) diag.Pos // of a field of the profile
}

// Build is what the cluster will receive: the istiod chart rendered with the
// user's values under ours, and every kustomization built, each object with the
// generated file that it came from. Values of ours that have no effect, and
// objects that are not what was planned, are findings. The error is a failure of
// meshgen's own output.
func (b *Builder) Build(in Input) ([]Object, diag.List, error) {
	chart, found, err := b.prove(in)
	if err != nil {
		return nil, nil, fmt.Errorf("prove the istiod values of %s: %w", in.Plan.Cluster, err)
	}
	if found.HasErrors() && in.Base == "" {
		return nil, found, nil // the overlays find nothing without a base, and take long for a large mesh
	}
	built, base, err := b.overlays(in)
	if err != nil {
		return nil, nil, fmt.Errorf("build the overlays of %s: %w", in.Plan.Cluster, err)
	}
	found = append(found, base...)
	objects := append(chart, built...)
	if !found.HasErrors() {
		found = append(found, differences(in, objects)...)
	}
	slices.SortStableFunc(objects, func(x, y Object) int { return cmp.Compare(x.sortKey(), y.sortKey()) })
	return objects, found, nil
}

// overlays builds every kustomization of the cluster. A Component is proven over
// stand-ins, and over the user's base where there is one: then the objects are
// that base's.
func (b *Builder) overlays(in Input) ([]Object, diag.List, error) {
	folders, err := foldersOf(in.Plan.Cluster, in.Tree)
	if err != nil {
		return nil, nil, err
	}
	built, err := b.buildKustomizations(folders)
	if err != nil {
		return nil, nil, err
	}
	components, err := componentsOf(folders, in.Plan.Bases, b.reading)
	if err != nil {
		return nil, nil, err
	}
	proven, err := b.proveComponents(in.Plan, components)
	if err != nil || in.Base == "" {
		return append(built, proven...), nil, err
	}
	proven, found, err := in.overBase(components)
	return append(built, proven...), found, err
}

func (o Object) sortKey() string {
	return o.File + "\x00" + o.kind() + "\x00" + o.text("metadata", "namespace") + "\x00" + o.text("metadata", "name")
}

func (o Object) kind() string { return o.text("kind") }

func (o Object) name() string { return o.text("metadata", "name") }

// text is the string at a path; empty when there is none.
func (o Object) text(path ...string) string {
	s, _ := at(o.Object, path...).(string)
	return s
}

// at is the value at a path of maps; nil when there is none.
func at(value any, path ...string) any {
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[key]
	}
	return value
}

// decodeAll reads every document of a YAML text that is a map, as Helm and the
// API server do.
func decodeAll(data []byte) ([]map[string]any, error) {
	var all []map[string]any
	for _, doc := range cut(string(data)) {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc.text), &object); err != nil {
			return nil, err
		}
		if object != nil {
			all = append(all, object)
		}
	}
	return all, nil
}
