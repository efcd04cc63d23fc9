// Package workloads owns a cluster's workloads folder: for each namespace a
// kustomize Component with the patches for the user's own Deployments,
// StatefulSets and Services, and the ScaledObjects that scale them. One package
// writes all of it, for a folder has one kustomization.
package workloads

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
)

const owner = "workloads"

// Render lays out what was decided for the user's workloads and Services.
func Render(p *plan.Plan) ([]artifact.File, error) {
	all := map[string]*component{}
	in := func(namespace string) *component {
		if all[namespace] == nil {
			all[namespace] = &component{plan: p, folder: path.Join(p.Cluster, "workloads", namespace), namespace: namespace}
		}
		return all[namespace]
	}
	for _, w := range p.Workloads {
		in(w.Namespace).workload(w)
	}
	for _, r := range p.Routes {
		in(r.Namespace).route(r)
	}
	var files []artifact.File
	for _, namespace := range slices.Sorted(maps.Keys(all)) {
		c := all[namespace]
		c.kustomization()
		if c.err != nil {
			return nil, fmt.Errorf("namespace %s: %w", namespace, c.err)
		}
		files = append(files, c.files...)
	}
	return files, nil
}

// component collects one namespace's files; the first failure stays.
type component struct {
	plan      *plan.Plan
	folder    string
	namespace string
	resources []string
	patches   []patch
	scales    bool
	files     []artifact.File
	err       error
}

// patch is how a kustomization aims a patch: one without a target finds its
// object by the name that it carries, and fails where there is none.
type patch struct {
	Path   string  `json:"path"`
	Target *target `json:"target,omitempty"`
}

type target struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// meshNamespace is what objects and patches carry as their namespace: none where
// the bases have none either, for kustomize then finds no object.
func (c *component) meshNamespace() string {
	if c.plan.Bases.Namespaced {
		return c.namespace
	}
	return ""
}

func (c *component) keep(f artifact.File, err error) {
	c.fail(err)
	c.files = append(c.files, f)
}

func (c *component) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *component) path(name string) string { return path.Join(c.folder, name) }

// aim writes a strategic merge patch.
func (c *component) aim(name string, p artifact.Patch, reasons map[string]string) {
	c.keep(artifact.PatchYAML(c.path(name), owner, p, reasons))
	c.patches = append(c.patches, patch{Path: name})
}

// count is a number of pods, as API objects hold it.
func (c *component) count(subject string, n int64) int32 {
	if n < 0 || n > math.MaxInt32 {
		c.fail(fmt.Errorf("%s is %d, more or less than a Kubernetes object can hold", subject, n))
	}
	return int32(n)
}

func (c *component) kustomization() {
	type kustomization struct {
		APIVersion     string   `json:"apiVersion"`
		Kind           string   `json:"kind"`
		Resources      []string `json:"resources,omitempty"`
		Patches        []patch  `json:"patches,omitempty"`
		Configurations []string `json:"configurations,omitempty"`
	}
	slices.Sort(c.resources)
	slices.SortFunc(c.patches, func(x, y patch) int { return strings.Compare(x.Path, y.Path) })
	k := kustomization{APIVersion: "kustomize.config.k8s.io/v1alpha1", Kind: "Component", Resources: c.resources, Patches: c.patches}
	if c.scales {
		k.Configurations = []string{referencesFile}
		c.keep(artifact.YAML(c.path(referencesFile), owner, references(), nil))
	}
	c.keep(artifact.YAML(c.path("kustomization.yaml"), owner, k, nil))
}
