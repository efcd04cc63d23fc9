package plan

import (
	"fmt"
	"math/big"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// Build makes every decision that the profile allows. Where no safe value
// exists, the plan's findings hold an error and what depends on it is left out.
// The error is a failure of meshgen's own arithmetic.
func Build(p *profile.Profile) (*Plan, error) {
	b := &builder{profile: p, plan: &Plan{Cluster: p.Metadata.Name}, judged: map[judgement]bool{}, local: map[string]bool{}}
	b.place()
	b.loads()
	b.judgeOverlaps()
	b.inputs()
	if !b.plan.Findings.HasErrors() {
		b.deploy()
		b.prescales()
		b.istiod()
		b.mesh()
		b.argocd()
	}
	b.plan.Findings = b.findings()
	if b.err != nil {
		return nil, fmt.Errorf("plan of %s: %w", p.Metadata.Name, b.err)
	}
	return b.plan, nil
}

// builder carries what one decision hands to the next.
type builder struct {
	profile *profile.Profile
	plan    *Plan
	err     error
	errors  int // findings that are

	workloads []deployed
	deployed  map[string]int  // index into workloads, by namespace/name
	openZones int64           // that the workloads may use
	local     map[string]bool // Services whose calls stay in their zone, by namespace/name
	judged    map[judgement]bool

	zones  int64
	loss   sizing.Loss
	events []event
	sets   [][]int         // sets of events that are ever under way together
	named  map[int]factors // of the events that Services name, by their index

	connections, endpoints factors // of the whole mesh
	terms                  map[string]Term

	memory    memoryModel
	limits    sizing.Threshold // at the worst moment
	age       time.Duration    // T
	threshold int64            // θ
	weight    *sizing.Weight   // of a connection; nil where connections count alone
	min       int64            // istiod.replicas.min
	largest   int64            // of the events, 0 without one
	window    time.Duration    // W, the scale-up window
}

// event is an event of the profile with its multipliers, and what was decided for it.
type event struct {
	profile.Event
	when                   calendar.Event
	path                   string
	connections, endpoints *big.Rat // multipliers of rest
	replicas               int64
	lead                   time.Duration
}

func (b *builder) spec() *profile.Spec { return &b.profile.Spec }

func (b *builder) find(f diag.Finding, path string) {
	f.Pos = b.profile.Pos(path)
	if f.Subject == "" {
		f.Subject = path
	}
	if f.Severity == diag.Error {
		b.errors++
	}
	b.plan.Findings = append(b.plan.Findings, f)
}

// decide adds a decision; a derivation that failed is our failure.
func (b *builder) decide(d *derivation, decision Decision, path string) {
	if d.err != nil && b.err == nil {
		b.err = fmt.Errorf("%s: %w", decision.Subject, d.err)
	}
	decision.Terms = d.terms
	decision.Pos = b.profile.Pos(path)
	b.plan.Decisions = append(b.plan.Decisions, decision)
}

// inputs are the terms that formulas take from the profile or from decisions
// before them.
func (b *builder) inputs() {
	i, s := b.spec().Istiod, b.spec()
	b.terms = map[string]Term{}
	b.field("L", ratOf(i.Resources.Memory), "bytes", "spec.istiod.resources.memory")
	b.field("cpuLimit", ratOf(i.Resources.CPU), "cores", "spec.istiod.resources.cpu")
	b.field("h", &i.Headroom.Rat, "", "spec.istiod.headroom")
	b.readMemory()
	b.field("Cr", big.NewRat(i.Load.Connections, 1), "connections", "spec.istiod.load.connections")
	b.field("Er", big.NewRat(i.Load.Endpoints, 1), "endpoints", "spec.istiod.load.endpoints")
	b.field("c", &i.ReconnectCost.Rat, "core·s/reconnect", "spec.istiod.reconnectCost")
	b.field("u", &i.UnplannedSurge.Rat, "", "spec.istiod.unplannedSurge")
	b.field("rebalanceWithin", seconds(i.RebalanceWithin.Duration), "s", "spec.istiod.rebalanceWithin")
	b.field("podReady", seconds(i.PodReady.Duration), "s", "spec.istiod.podReady")
	b.field("nodeReady", seconds(i.NodeReady.Duration), "s", "spec.istiod.nodeReady")
	b.field("scrapeInterval", seconds(s.Metrics.ScrapeInterval.Duration), "s", "spec.metrics.scrapeInterval")
	b.field("Z", big.NewRat(b.zones, 1), "zones", "spec.zones")
	if b.loss.Mode == "share" {
		b.field("x", b.loss.Share, "", "spec.istiod.survive")
	}
	peak := b.peak()
	worst := "spec.events"
	if len(b.events) == 0 {
		worst = "spec.istiod.load"
	}
	b.field("Cp", big.NewRat(peak.Connections, 1), "connections", worst)
	b.field("Ep", big.NewRat(peak.Endpoints, 1), "endpoints", worst)
}

func (b *builder) field(name string, value *big.Rat, unit, path string) {
	b.terms[name] = Term{Name: name, Value: value, Unit: unit, From: path, Default: !b.profile.Given(path)}
}

// decided makes a decision's value an input of those that follow.
func (b *builder) decided(name string, value int64, unit, subject string) {
	b.terms[name] = Term{Name: name, Value: big.NewRat(value, 1), Unit: unit, From: subject}
}

// from begins a derivation with the inputs of those names.
func (b *builder) from(names ...string) *derivation {
	d := &derivation{}
	for _, name := range names {
		t, ok := b.terms[name]
		if !ok && d.err == nil {
			d.err = fmt.Errorf("no input %s", name)
		}
		d.input(t)
	}
	return d
}

func ratOf(q *profile.Quantity) *big.Rat {
	if q == nil {
		return new(big.Rat)
	}
	return &q.Rat
}

func seconds(d time.Duration) *big.Rat {
	return big.NewRat(int64(d), int64(time.Second))
}
