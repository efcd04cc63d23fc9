package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// place finds the zones and the pools that istiod may use, and what loss it
// must survive there.
func (b *builder) place() {
	i := b.spec().Istiod
	for _, z := range b.spec().Zones {
		nodes := b.openNodes(z)
		if nodes > 0 {
			b.zones++
		}
		b.plan.Istiod.Nodes += nodes
	}
	b.loss = sizing.Loss{Mode: i.Survive.Mode, Zones: b.zones, Share: i.Survive.Share}
	b.judgeZones()
	b.facts()
}

// openNodes are a zone's nodes on which istiod's pods may stand.
func (b *builder) openNodes(z profile.Zone) int64 {
	nodes := int64(0)
	for _, p := range z.NodePools {
		if b.open(p) {
			nodes += p.Nodes.Now
		}
	}
	return nodes
}

func (b *builder) judgeZones() {
	zones := len(b.spec().Zones)
	switch {
	case b.zones == 0:
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/nowhere-to-run",
			Message: fmt.Sprintf("istiod may use no node in any of the %d zones: every pool is empty or has a taint that it does not tolerate", zones),
			Hint:    "add a pool without NoSchedule or NoExecute taints, or list the toleration under spec.istiod.tolerations",
		}, "spec.zones")
	case b.loss.Mode == "zone" && b.zones < 2:
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/no-zone-to-lose",
			Message: fmt.Sprintf("survive: zone needs nodes for istiod in at least 2 zones, found %d of %d", b.zones, zones),
			Hint:    "give istiod nodes in a second zone, or set spec.istiod.survive to pod or to a share of the pods such as 0.25",
		}, "spec.istiod.survive")
	}
}

// open reports whether istiod's pods may stand on the pool's nodes. The chart
// always adds a toleration for cni.istio.io/not-ready.
func (b *builder) open(p profile.NodePool) bool {
	for _, t := range p.Taints {
		if t.Effect != "PreferNoSchedule" && t.Key != "cni.istio.io/not-ready" && !b.tolerates(t) {
			return false
		}
	}
	return true
}

// tolerates follows the scheduler: an empty key with Exists tolerates all, an
// empty effect every effect.
func (b *builder) tolerates(t profile.Taint) bool {
	return slices.ContainsFunc(b.spec().Istiod.Tolerations, func(l profile.Toleration) bool {
		if l.Effect != "" && l.Effect != t.Effect {
			return false
		}
		if l.Operator == "Exists" {
			return l.Key == "" || l.Key == t.Key
		}
		return l.Key == t.Key && l.Value == t.Value
	})
}

// facts are what the generators and the policies need of the profile as it is.
func (b *builder) facts() {
	s := b.spec()
	i := &b.plan.Istiod
	i.Deployment = "istiod"
	if s.Istio.Revision != "" {
		i.Deployment += "-" + s.Istio.Revision
	}
	i.Namespace, i.Revision, i.Version = s.Istio.Namespace, s.Istio.Revision, s.Istio.Version
	i.KubernetesVersion = s.Kubernetes.Version
	i.CPU = fmt.Sprint(wholeCores(s.Istiod.Resources.CPU))
	i.Memory = s.Istiod.Resources.Memory.Text
	i.Zones = b.zones
	i.HardZoneSpread = b.loss.Mode == "zone"
	i.PriorityClass = s.Istiod.PriorityClassName
	i.ValuesFiles = s.Istiod.Values
	i.ServerAddress = s.Metrics.ServerAddress
	if a := s.Metrics.AuthenticationRef; a != nil {
		i.AuthenticationRef = &AuthenticationRef{a.Name, a.Kind}
	}
	for _, t := range s.Istiod.Tolerations {
		i.Tolerations = append(i.Tolerations, Toleration(t))
	}
	i.DedicatedPools = b.dedicated()
}

func wholeCores(limit *profile.Quantity) int64 {
	return max(2, sizing.Ceil(&limit.Rat).Int64())
}

// dedicated are the pools that istiod must keep off, by name, with the labels
// by which a selector tells them from the pools that are open to it.
func (b *builder) dedicated() []DedicatedPool {
	shared := map[[2]string]bool{}
	closed := map[string]map[string]string{}
	for _, z := range b.spec().Zones {
		for _, p := range z.NodePools {
			for key, value := range p.Labels {
				shared[[2]string{key, value}] = shared[[2]string{key, value}] || b.open(p)
			}
			if !b.open(p) && closed[p.Name] == nil {
				closed[p.Name] = p.Labels
			}
		}
	}
	var pools []DedicatedPool
	for name, labels := range closed {
		own := map[string]string{}
		for key, value := range labels {
			if !shared[[2]string{key, value}] {
				own[key] = value
			}
		}
		pools = append(pools, DedicatedPool{name, own})
	}
	slices.SortFunc(pools, func(x, y DedicatedPool) int { return strings.Compare(x.Name, y.Name) })
	return pools
}

// lossText is the loss in words.
func (b *builder) lossText() string {
	switch b.loss.Mode {
	case "zone":
		return fmt.Sprintf("the loss of 1 of %d zones", b.zones)
	case "pod":
		return "the loss of a pod"
	default:
		return fmt.Sprintf("the loss of %s of the pods", percent(b.loss.Share))
	}
}

func percent(share *big.Rat) string {
	return number(new(big.Rat).Mul(share, big.NewRat(100, 1)), 3) + " %"
}
