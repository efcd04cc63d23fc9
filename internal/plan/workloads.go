package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshgen/meshgen/internal/profile"
)

// deployed is a workload of the profile, with the Services in front of it.
type deployed struct {
	Workload
	services  []int      // into spec.services, in the profile's order
	prescales []prescale // for the events that name them, in the order of triggers
}

// mesh decides what stands around the control plane: autoscalers, zone routing,
// spread and scopes of the workloads.
func (b *builder) mesh() {
	b.plan.Bases.Namespaced = b.spec().Kubernetes.Bases.Namespaced
	b.scaling()
	b.routes()
	b.spread()
	b.scopes()
	b.capacity()
	for _, w := range b.workloads {
		if w.Spread != nil || w.Scaling != nil {
			b.plan.Workloads = append(b.plan.Workloads, w.Workload)
		}
	}
}

// deploy lists the workloads, by namespace and name.
func (b *builder) deploy() {
	b.deployed = map[string]int{}
	for i, s := range b.spec().Services {
		if s.Workload == nil {
			continue
		}
		key := s.Namespace + "/" + s.Workload.Name
		at, known := b.deployed[key]
		if !known {
			at = len(b.workloads)
			b.deployed[key] = at
			b.workloads = append(b.workloads, deployed{Workload: Workload{
				Namespace: s.Namespace, Name: s.Workload.Name, Kind: s.Workload.Kind,
				Container: s.Workload.Container, Labels: s.Workload.Labels,
			}})
		}
		b.workloads[at].services = append(b.workloads[at].services, i)
	}
	slices.SortFunc(b.workloads, func(x, y deployed) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	for i, w := range b.workloads {
		b.deployed[w.Namespace+"/"+w.Name] = i
	}
}

// behind is the workload that serves a Service; nil when the
// profile names none.
func (b *builder) behind(s profile.Service) *deployed {
	if s.Workload == nil {
		return nil
	}
	return &b.workloads[b.deployed[s.Namespace+"/"+s.Workload.Name]]
}

func servicePath(i int) string { return fmt.Sprintf("spec.services[%d]", i) }
