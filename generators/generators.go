// Package generators lays the plan out as files: one folder for each owner of
// output files, one line for each in All. A generator arranges decisions; it
// computes none, and reads neither the profile nor a disk.
package generators

import (
	"fmt"

	"github.com/meshgen/meshgen/generators/argocd"
	"github.com/meshgen/meshgen/generators/istiod"
	"github.com/meshgen/meshgen/generators/sidecar"
	"github.com/meshgen/meshgen/generators/workloads"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
)

// Generator is the owner of some output files of every cluster.
type Generator struct {
	Name   string
	Render func(*plan.Plan) ([]artifact.File, error)
}

// All are the generators, sorted by name.
func All() []Generator {
	return []Generator{
		{"argocd", argocd.Render},
		{"istiod", istiod.Render},
		{"sidecar", sidecar.Render},
		{"workloads", workloads.Render},
	}
}

// Render is the files of every generator. Two owners of one path are an error.
func Render(p *plan.Plan) (*artifact.Tree, error) {
	tree := &artifact.Tree{}
	for _, g := range All() {
		files, err := g.Render(p)
		if err != nil {
			return nil, fmt.Errorf("generate %s for %s: %w", g.Name, p.Cluster, err)
		}
		if err := tree.Add(files...); err != nil {
			return nil, fmt.Errorf("generate %s for %s: %w", g.Name, p.Cluster, err)
		}
	}
	return tree, nil
}
