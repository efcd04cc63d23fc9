package plan

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
)

const (
	zoneKey = "topology.kubernetes.io/zone"
	hostKey = "kubernetes.io/hostname"
	hard    = "DoNotSchedule"
	soft    = "ScheduleAnyway"
)

// spread decides the topology spread constraints of every workload that may
// have more than one pod in a mesh of more than one zone. The zones are a hard
// constraint only where zone routing relies on it: one that cannot be met keeps
// pods pending.
func (b *builder) spread() {
	if len(b.spec().Zones) < 2 {
		return
	}
	var unlabelled []int // Services of workloads without labels
	for i := range b.workloads {
		w := &b.workloads[i]
		most := b.mostReplicas(w)
		switch {
		case most < 2, b.full():
		case len(w.Labels) == 0:
			unlabelled = append(unlabelled, w.services[0])
			b.unspread(w)
		default:
			b.spreadOver(w, most)
		}
	}
	b.unlabelledFinding(unlabelled)
}

func (b *builder) mostReplicas(w *deployed) int64 {
	most := int64(0)
	for _, i := range w.services {
		most = max(most, b.spec().Services[i].Replicas.Max)
	}
	return most
}

func (b *builder) unspread(w *deployed) {
	w.SpreadReason = "the profile has no labels of its pods, without which a constraint counts nothing"
	b.decide(&derivation{}, Decision{
		Subject: w.Subject() + ".topologySpreadConstraints", Unit: spreadUnit,
		Reason: w.SpreadReason, Source: spreadSource,
	}, servicePath(w.services[0])+".workload")
}

const (
	spreadUnit   = "topologyKey whenUnsatisfiable maxSkew"
	spreadSource = "Kubernetes topology spread constraints, nodeTaintsPolicy: Honor, counted for each revision"
)

// spreadOver decides the whole list of one workload. It has no minDomains: with
// one, no pod can be placed while a zone is gone (kubernetes#115320).
func (b *builder) spreadOver(w *deployed, most int64) {
	zone, why := soft, "zones and hosts are spread over as far as there is room: no calls rely on it"
	for _, i := range w.services {
		s := b.spec().Services[i]
		if b.local[s.Namespace+"/"+s.Name] {
			zone, why = hard, fmt.Sprintf("calls to %s stay in their zone, which is safe only while every zone has its share of the pods", s.Name)
			break
		}
	}
	ours := []Spread{{zoneKey, zone, 1}, {hostKey, soft, 1}}
	path := servicePath(w.services[0]) + ".workload"
	theirs := b.keptConstraints(w)
	w.Spread = merged(ours, theirs)
	if !slices.Equal(w.Spread, ours) {
		why += "; what the profile says must stay is kept where it is not looser"
	}
	w.SpreadReason = why
	d := &derivation{terms: []Term{
		{Name: "most", Value: big.NewRat(most, 1), Unit: "replicas", From: servicePath(w.services[0]) + ".replicas.max"},
		{Name: "zones", Value: big.NewRat(int64(len(b.spec().Zones)), 1), Unit: "zones", From: "spec.zones"},
	}}
	b.decide(d, Decision{
		Subject: w.Subject() + ".topologySpreadConstraints", Value: texts(w.Spread), Unit: spreadUnit,
		Reason: why, Source: spreadSource,
	}, path)
}

// keptConstraints are those that must stay, of whatever Service names the workload.
func (b *builder) keptConstraints(w *deployed) []Spread {
	var all []Spread
	for _, i := range w.services {
		for _, c := range b.spec().Services[i].Workload.TopologySpreadConstraints {
			if kept := (Spread{c.TopologyKey, c.WhenUnsatisfiable, c.MaxSkew}); !slices.Contains(all, kept) {
				all = append(all, kept)
			}
		}
	}
	return all
}

// merged is our list with what must stay: of one topology key, ours where it is
// harder than all of theirs, else theirs. The API takes a key once as hard and
// once as soft, of which the tighter one is kept.
func merged(ours, theirs []Spread) []Spread {
	var all []Spread
	for _, own := range ours {
		same := ofKey(theirs, own.TopologyKey)
		if !slices.ContainsFunc(same, func(x Spread) bool { return !harder(own, x) }) {
			same = []Spread{own}
		}
		all = append(all, same...)
	}
	for _, x := range theirs {
		if len(ofKey(all, x.TopologyKey)) == 0 {
			all = append(all, ofKey(theirs, x.TopologyKey)...)
		}
	}
	return all
}

// ofKey are the constraints of one topology key, the tighter where two have the
// same whenUnsatisfiable.
func ofKey(all []Spread, key string) []Spread {
	var same []Spread
	for _, x := range all {
		if x.TopologyKey != key {
			continue
		}
		at := slices.IndexFunc(same, func(y Spread) bool { return y.WhenUnsatisfiable == x.WhenUnsatisfiable })
		if at < 0 {
			same = append(same, x)
		} else if harder(x, same[at]) {
			same[at] = x
		}
	}
	return same
}

// harder reports whether x keeps more pods from being placed than y.
func harder(x, y Spread) bool {
	if x.WhenUnsatisfiable != y.WhenUnsatisfiable {
		return x.WhenUnsatisfiable == hard
	}
	return x.MaxSkew < y.MaxSkew
}

func texts(all []Spread) []string {
	var lines []string
	for _, x := range all {
		lines = append(lines, x.String())
	}
	return lines
}

func (b *builder) unlabelledFinding(services []int) {
	if len(services) == 0 {
		return
	}
	first := b.spec().Services[services[0]]
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/spread-without-labels", Subject: "spec.services",
		Message: fmt.Sprintf("%s without labels: their pods are not spread over zones and hosts, and nothing guarantees where they stand (the first is %s/%s)",
			areOf(int64(len(services)), "workload"), first.Namespace, first.Workload.Name),
		Hint: "give workload.labels, the labels that select the workload's pods",
	}, servicePath(services[0])+".workload")
}
