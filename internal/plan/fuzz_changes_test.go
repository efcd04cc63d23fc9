package plan_test

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/plan"
)

// change is what is done to a profile, and what must hold between its plan and the
// plan from before.
type change struct {
	name  string
	edit  func(random *rand.Rand, spec *yaml.Node) bool // false where it does not apply
	holds func(j *judge, after *plan.Plan)
}

func changes() []change {
	return []change{
		{"its lists in another order", permute, (*judge).sameValues},
		{"twice the connections at rest", scale("connections", 2), (*judge).noFewerReplicas},
		{"twice the memory", memory, (*judge).noLowerThreshold},
		{"one hundredth more headroom", headroom, (*judge).noLowerThreshold},
		{"half a surge more", surge, (*judge).noLowerBounds},
		{"a Service that no event names", stranger, (*judge).sameControlPlane},
		{"connections that weigh by endpoints", weigh, (*judge).savesAtRestAlone},
	}
}

// changed plans the profile with one change, which the seed picks.
func (j *judge) changed(seed uint64) {
	j.Helper()
	random := rand.New(rand.NewPCG(seed, 11))
	c := changes()[random.IntN(len(changes()))]
	var document yaml.Node
	if err := yaml.Unmarshal(j.text, &document); err != nil {
		j.failf("%v", err)
	}
	if !c.edit(random, field(document.Content[0], "spec")) {
		return
	}
	text, err := yaml.Marshal(&document)
	if err != nil {
		j.failf("%v", err)
	}
	after, err := plan.Build(loadText(j.T, text))
	if err != nil {
		j.failf("%s: %v", c.name, err)
	}
	j.Logf("with %s", c.name)
	c.holds(j, after)
}

// field is the value of a mapping's key; nil when there is none.
func field(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// set writes a number into a mapping.
func set(mapping *yaml.Node, key, value string) {
	if n := field(mapping, key); n != nil {
		n.Value, n.Tag, n.Style = value, "", 0
		return
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
}

func permute(random *rand.Rand, spec *yaml.Node) bool {
	for _, name := range []string{"zones", "events", "namespaces", "services"} {
		if list := field(spec, name); list != nil {
			random.Shuffle(len(list.Content), func(i, k int) { list.Content[i], list.Content[k] = list.Content[k], list.Content[i] })
		}
	}
	return true
}

func scale(kind string, by int64) func(*rand.Rand, *yaml.Node) bool {
	return func(_ *rand.Rand, spec *yaml.Node) bool {
		load := field(field(spec, "istiod"), "load")
		n, ok := new(big.Int).SetString(field(load, kind).Value, 10)
		if !ok || n.Int64() > 50000000 {
			return false
		}
		set(load, kind, n.Mul(n, big.NewInt(by)).String())
		return true
	}
}

func memory(_ *rand.Rand, spec *yaml.Node) bool {
	resources := field(field(spec, "istiod"), "resources")
	n, ok := new(big.Int).SetString(strings.TrimSuffix(field(resources, "memory").Value, "Mi"), 10)
	set(resources, "memory", fmt.Sprintf("%dMi", n.Lsh(n, 1)))
	return ok
}

func headroom(_ *rand.Rand, spec *yaml.Node) bool {
	istiod := field(spec, "istiod")
	if field(istiod, "headroom") == nil {
		set(istiod, "headroom", "0.86")
		return true
	}
	n, ok := new(big.Rat).SetString(field(istiod, "headroom").Value)
	if !ok || n.Cmp(big.NewRat(88, 100)) > 0 {
		return false
	}
	set(istiod, "headroom", n.Add(n, big.NewRat(1, 100)).FloatString(2))
	return true
}

func surge(_ *rand.Rand, spec *yaml.Node) bool {
	istiod := field(spec, "istiod")
	u := big.NewRat(3, 2)
	if given := field(istiod, "unplannedSurge"); given != nil {
		u.SetString(given.Value)
	}
	set(istiod, "unplannedSurge", u.Add(u, big.NewRat(1, 2)).FloatString(2))
	return true
}

// weigh leaves a profile alone that weighs already.
func weigh(_ *rand.Rand, spec *yaml.Node) bool {
	if field(field(spec, "metrics"), "endpoints") != nil {
		return false
	}
	set(field(spec, "istiod"), "scaling", "weighted")
	set(field(spec, "metrics"), "endpoints", "sum(kube_endpoint_address)")
	return true
}

func stranger(_ *rand.Rand, spec *yaml.Node) bool {
	services, namespaces := field(spec, "services"), field(spec, "namespaces")
	text := fmt.Sprintf("{name: stranger, namespace: %s, replicas: {min: 1, max: 2}, endpoints: {zone-a: 1}}", field(namespaces.Content[0], "name").Value)
	var one yaml.Node
	if err := yaml.Unmarshal([]byte(text), &one); err != nil {
		return false
	}
	services.Content = append(services.Content, one.Content[0])
	return true
}

// sameValues holds that every decision has its value and every finding is there,
// whatever the order in which the profile lists things.
func (j *judge) sameValues(after *plan.Plan) {
	j.Helper()
	if diff := cmp.Diff(values(j.plan, ""), values(after, "")); diff != "" {
		j.failf("another order, other decisions (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(findingsOf(j.plan), findingsOf(after)); diff != "" {
		j.failf("another order, other findings (-before +after):\n%s", diff)
	}
}

func (j *judge) sameControlPlane(after *plan.Plan) {
	j.Helper()
	if diff := cmp.Diff(values(j.plan, "istiod."), values(after, "istiod.")); diff != "" {
		j.failf("a stranger, other decisions (-before +after):\n%s", diff)
	}
}

func values(p *plan.Plan, prefix string) map[string]any {
	all := map[string]any{}
	for _, d := range p.Decisions {
		if strings.HasPrefix(d.Subject, prefix) {
			all[d.Subject] = d.Value
		}
	}
	return all
}

var index = regexp.MustCompile(`\[\d+\]`)

// findingsOf are the ids and subjects, without places in lists.
func findingsOf(p *plan.Plan) []string {
	var all []string
	for _, f := range p.Findings {
		all = append(all, f.ID+" "+index.ReplaceAllString(f.Subject, "[]"))
	}
	slices.Sort(all)
	return all
}

// ordered holds a relation between the whole numbers of both plans.
func (j *judge) ordered(after *plan.Plan, relation string, subjects ...string) {
	j.Helper()
	before, then := values(j.plan, "istiod."), values(after, "istiod.")
	for _, subject := range slices.Sorted(maps.Keys(before)) {
		if !slices.ContainsFunc(subjects, func(s string) bool { return strings.HasPrefix(subject, s) }) {
			continue
		}
		x, known := before[subject].(int64)
		y, still := then[subject].(int64)
		if known && still && (relation == "≤" && x > y || relation == "≥" && x < y) {
			j.failf("%s was %d and is %d, want %s", subject, x, y, relation)
		}
	}
}

// noFewerReplicas: more load never asks for fewer pods. It is a promise of
// survive: zone; of the others the share that is lost depends on the pods.
func (j *judge) noFewerReplicas(after *plan.Plan) {
	j.Helper()
	if j.profile.Spec.Istiod.Survive.Mode == "zone" {
		j.ordered(after, "≤", "istiod.replicas.", "istiod.fallback.")
	}
}

// noLowerThreshold: more room never lowers the threshold, nor raises the floor.
func (j *judge) noLowerThreshold(after *plan.Plan) {
	j.Helper()
	j.ordered(after, "≤", "istiod.connectionThreshold")
	j.ordered(after, "≥", "istiod.replicas.", "istiod.fallback.")
}

// savesAtRestAlone: connections that weigh by endpoints lower the floor, and what
// follows from it. At the planned peak as many pods are asked for as without.
func (j *judge) savesAtRestAlone(after *plan.Plan) {
	j.Helper()
	before, then := values(j.plan, "istiod."), values(after, "istiod.")
	for _, subject := range slices.Sorted(maps.Keys(before)) {
		switch {
		case subject == "istiod.replicas.min":
			j.ordered(after, "≥", subject)
		case subject == "istiod.podDisruptionBudget.maxUnavailable", strings.HasPrefix(subject, "istiod.prescale."), strings.HasPrefix(subject, "istiod.freeze."):
		case !cmp.Equal(before[subject], then[subject]):
			j.failf("%s was %v and is %v", subject, before[subject], then[subject])
		}
	}
}

func (j *judge) noLowerBounds(after *plan.Plan) {
	j.Helper()
	j.ordered(after, "≤", "istiod.replicas.min", "istiod.replicas.max")
}
