package manifests

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// standInFiles are objects as users have them, at the two ends: hostile ones
// with other values in every field that is patched and fields beside them that a
// patch may tear, and bare ones without a field that could be left out, where
// kustomize has nothing to merge with.
//
//go:embed standins
var standInFiles embed.FS

// proofPrefix is the namePrefix that the proof puts over base and Component.
const proofPrefix = "proof-"

// standIns make the objects that a Component is proven against, by kind.
type standIns map[string]map[string]any

// loadStandIns reads the stand-ins by their end, hostile and bare.
func loadStandIns() (map[string]standIns, error) {
	ends := map[string]standIns{}
	err := fs.WalkDir(standInFiles, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := standInFiles.ReadFile(file)
		if err != nil {
			return err
		}
		var object map[string]any
		if err := yaml.Unmarshal(data, &object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		end := path.Base(path.Dir(file))
		if ends[end] == nil {
			ends[end] = standIns{}
		}
		ends[end][Object{Object: object}.kind()] = object
		return nil
	})
	return ends, err
}

// make is a stand-in; target is the workload that an autoscaler scales.
func (s standIns) make(r, target ref) map[string]any {
	words := strings.NewReplacer("NAMESPACE", r.namespace, "NAME", r.name, "KIND", target.kind, "TARGET", target.name)
	return filled(s[r.kind], words).(map[string]any)
}

// filled is a copy with its words put in.
func filled(value any, words *strings.Replacer) any {
	switch v := value.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		for key, item := range v {
			all[key] = filled(item, words)
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = filled(item, words)
		}
		return all
	case string:
		return words.Replace(v)
	}
	return value
}

// of are the stand-ins that a part of the Component touches.
func (s standIns) of(p part) []map[string]any {
	if p.route != nil {
		return []map[string]any{s.make(p.route.ref(), ref{})}
	}
	w := p.workload
	pods := s.make(w.ref(), ref{})
	template := at(pods, "spec", "template").(map[string]any)
	labels := at(template, "metadata", "labels").(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(w.Labels)) {
		labels[key] = w.Labels[key]
	}
	if w.Container != "" {
		at(template, "spec", "containers").([]any)[0].(map[string]any)["name"] = w.Container
	}
	all := []map[string]any{pods}
	if w.hpa() != (ref{}) {
		all = append(all, s.make(w.hpa(), w.ref()))
	}
	if w.Scaling != nil && w.Scaling.Extends {
		all = append(all, s.make(w.scaledObject(), w.ref()))
	}
	return all
}

// bystanders are objects that no Component touches, under names that patches
// aim at but in another namespace; beside them where bases have no namespace.
func (s standIns) bystanders(p part, namespaced bool) []map[string]any {
	namespace, name := p.ref().namespace, bystander
	if namespaced {
		namespace, name = namespace+"-bystander", p.ref().name
	}
	var all []map[string]any
	for _, kind := range []string{"Deployment", "Service", "HorizontalPodAutoscaler", "ScaledObject"} {
		all = append(all, s.make(ref{kind, namespace, name}, ref{"Deployment", namespace, elsewhere}))
	}
	return all
}

// bystander is the name of those that share the Component's namespace.
const bystander = "bystander"

// elsewhere is a workload that no stand-in is, so its name gets no prefix.
const elsewhere = "elsewhere"

// prefixed is a stand-in as kustomize must leave it under the prefix: the name,
// and the name of what it scales.
func prefixed(object map[string]any) map[string]any {
	o := deepCopy(object)
	metadata := o["metadata"].(map[string]any)
	metadata["name"] = proofPrefix + metadata["name"].(string)
	if target, ok := at(o, "spec", "scaleTargetRef").(map[string]any); ok && target["name"] != elsewhere {
		target["name"] = proofPrefix + target["name"].(string)
	}
	return o
}
