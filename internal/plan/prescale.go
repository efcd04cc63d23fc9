package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
)

// prescale is what one workload needs for one event that its Services name.
type prescale struct {
	event     int    // into the builder's events
	services  []int  // into spec.services: those that name the event
	m         []Term // of each of them, its multiplier
	lead      time.Duration
	leadTerms *derivation
	replicas  int64 // 0 where no safe number exists
}

// prescales finds which workloads are scaled ahead of which events, and how long
// ahead: istiod's own leads begin before theirs.
func (b *builder) prescales() {
	order := b.triggerOrder()
	for i := range b.workloads {
		w := &b.workloads[i]
		if !b.managed(w) {
			continue
		}
		for _, e := range order {
			if named := b.naming(w, e); len(named) > 0 {
				w.prescales = append(w.prescales, b.prescale(e, named))
			}
		}
	}
}

// managed reports whether meshgen writes the workload's autoscaler.
func (b *builder) managed(w *deployed) bool {
	return b.service(w.services[0]).Autoscaling.ManagedBy == "meshgen"
}

func (b *builder) service(i int) *profile.Service { return &b.spec().Services[i] }

// naming are the Services in front of the workload that name the event.
func (b *builder) naming(w *deployed, event int) []int {
	var named []int
	for _, i := range w.services {
		if _, ok := b.service(i).Events[b.events[event].Name]; ok {
			named = append(named, i)
		}
	}
	return named
}

func (b *builder) prescale(event int, services []int) prescale {
	p := prescale{event: event, services: services}
	for n, i := range services {
		p.m = append(p.m, b.multiplierTerm("m"+ordinal(n), i, event))
	}
	p.leadTerms = b.from("nodeReady")
	asks := []string{"300"}
	for n, i := range services {
		p.leadTerms.input(b.readyTerm("podReady"+ordinal(n), i))
		p.leadTerms.input(p.m[n])
		asks = append(asks, fmt.Sprintf("podReady%[1]s + nodeReady + 15*(1 + doublings(m%[1]s))", ordinal(n)))
	}
	p.lead = upToMinute(p.leadTerms.set("lead", "max("+strings.Join(asks, ", ")+")", "s"))
	return p
}

// ordinal tells the terms of a workload's second Service, and of those after it,
// from the terms of its first.
func ordinal(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n + 1)
}

// multiplierTerm is a Service's largest combined multiplier in any segment that
// the event covers, among the events that the Service names.
func (b *builder) multiplierTerm(name string, service, event int) Term {
	return b.eventTerm(name, event, b.serviceFactors(service), b.eventPath(service, event))
}

// eventPath is the field by which a Service names an event.
func (b *builder) eventPath(service, event int) string {
	return servicePath(service) + ".events." + b.events[event].Name
}

// readyTerm is how long a Service's new pod takes, where its owner says nothing
// as long as istiod's.
func (b *builder) readyTerm(name string, service int) Term {
	ready := b.service(service).PodReady
	if ready == nil {
		t := b.terms["podReady"]
		t.Name = name
		return t
	}
	return Term{Name: name, Value: seconds(ready.Duration), Unit: "s", From: servicePath(service) + ".podReady"}
}

// longestLead is the longest lead of the workloads that are scaled ahead of the
// event; 0 without one.
func (b *builder) longestLead(event int) time.Duration {
	var longest time.Duration
	for _, w := range b.workloads {
		for _, p := range w.prescales {
			if p.event == event {
				longest = max(longest, p.lead)
			}
		}
	}
	return longest
}

// prescaled decides a workload's replicas, lead and window for an event, and
// adds the trigger that asks for them.
func (b *builder) prescaled(w *deployed, p *prescale) {
	e, path := &b.events[p.event], b.eventPath(p.services[0], p.event)
	if !b.workloadReplicas(w, p, path) {
		return
	}
	b.decide(p.leadTerms, Decision{
		Subject: w.Subject() + ".prescale.lead." + e.Name, Value: durationText(p.lead), Unit: "duration",
		Reason: "new pods must exist, be ready and be counted before the load climbs; 5m at least",
		Source: "a node and a pod take their time; the HPA doubles every 15 s",
	}, path)
	b.prescaleWindow(w.Subject(), e, p.lead, path)
	w.Scaling.Triggers = append(w.Scaling.Triggers, e.trigger(p.replicas, p.lead))
}

// workloadReplicas decides the replicas that an event needs of a workload: what
// rest has, multiplied, and where the Service's capacity is given what keeps
// every pod at 0.75 of it with a zone lost. ok is false where it is above replicas.max.
func (b *builder) workloadReplicas(w *deployed, p *prescale, path string) (ok bool) {
	e, bounds := &b.events[p.event], b.service(w.services[0]).Replicas
	needs := b.workloadNeeds(w, p)
	replicas := needs.set("replicas", "upTo(max("+strings.Join(needs.names, ", ")+"), Z)", "replicas")
	subject := w.Subject() + ".replicas.event." + e.Name
	if replicas.Cmp(big.NewRat(bounds.Max, 1)) > 0 {
		maximum := servicePath(w.services[0]) + ".replicas.max"
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/above-maximum", Subject: subject,
			Message: fmt.Sprintf("event %s needs %s pods of %s/%s, more than the %d of replicas.max: %s", e.Name, number(replicas, 12), w.Namespace, w.Name, bounds.Max, needs.why()),
			Hint:    fmt.Sprintf("raise %s to at least %s, and see that the nodes have room for them", maximum, number(replicas, 12)),
		}, maximum)
		return false
	}
	p.replicas = replicas.Num().Int64()
	b.decide(&needs.derivation, Decision{
		Subject: subject, Value: p.replicas, Unit: "replicas",
		Reason: needs.why() + b.roundedText(),
		Source: "the HPA takes the largest of its triggers, so each must be enough alone",
	}, path)
	b.judgeUplift(e, w, p.replicas, path)
	return true
}

func (b *builder) roundedText() string {
	if b.openZones == 1 {
		return ""
	}
	return fmt.Sprintf(", up to a multiple of %d zones", b.openZones)
}

// needs is a derivation of several needs, of which the largest holds.
type needs struct {
	derivation
	names   []string
	reasons map[string]string
}

func (n *needs) need(name, expression, reason string) {
	n.set(name, expression, "replicas")
	n.names = append(n.names, name)
	n.reasons[name] = reason
}

// why is the reason of the largest need.
func (n *needs) why() string { return n.reasons[largestTerm(n.terms, n.names...)] }

func (b *builder) workloadNeeds(w *deployed, p *prescale) *needs {
	first := w.services[0]
	n := &needs{reasons: map[string]string{}}
	n.terms = make([]Term, 0, 7*len(w.services)+1)
	n.input(Term{Name: "min", Value: big.NewRat(b.service(first).Replicas.Min, 1), Unit: "replicas", From: servicePath(first) + ".replicas.min"})
	n.input(Term{Name: "Z", Value: big.NewRat(b.openZones, 1), Unit: "zones", From: "spec.zones"})
	for i := range p.services {
		n.input(p.m[i])
		n.need("scaled"+ordinal(i), "ceil(min * m"+ordinal(i)+")",
			fmt.Sprintf("%s × the %d pods of rest", number(p.m[i].Value, 4), b.service(first).Replicas.Min))
	}
	b.capacityNeed(n, w, p)
	return n
}

// capacityNeed is the fewest pods of which none is used above 0.75 at the peak in
// the event when one of the zones is lost. Services in front of one workload load
// the same pods: their shares add up, of those that do not name the event at what
// the events that overlap it multiply them by.
func (b *builder) capacityNeed(n *needs, w *deployed, p *prescale) {
	var shares, says []string
	for i, service := range w.services {
		c := b.service(service).Capacity
		if c == nil {
			continue
		}
		share := b.shareOf(n, ordinal(i), service, c)
		m := b.loadTerm(n, p, ordinal(i), service)
		if m.Name != "" {
			share = strings.Replace(share, "/", "*"+m.Name+"/", 1)
		}
		load := new(big.Rat).Mul(&c.Peak.Rat, m.Value)
		shares = append(shares, share)
		says = append(says, fmt.Sprintf("%s at %s a pod", strings.TrimSpace(number(load, 6)+" "+c.Unit), number(&c.PerEndpoint.Rat, 6)))
	}
	if len(shares) == 0 {
		return
	}
	loss, lost := "", ""
	if b.openZones > 1 {
		loss, lost = "Z/(Z - 1) * ", fmt.Sprintf(" with one of %d zones lost", b.openZones)
	}
	n.need("loaded", fmt.Sprintf("ceil(%s(%s) / 0.75)", loss, strings.Join(shares, " + ")),
		strings.Join(says, " and ")+" fill no pod above 75 %"+lost)
}

// loadTerm is what the event multiplies a Service's load by, with the events that
// overlap it. It has no name where that is 1 for a Service that does not name the
// event.
func (b *builder) loadTerm(n *needs, p *prescale, ordinal string, service int) Term {
	if at := slices.Index(p.services, service); at >= 0 {
		return p.m[at]
	}
	m := b.multiplierTerm("overlap"+ordinal, service, p.event)
	if m.Value.Cmp(big.NewRat(1, 1)) == 0 {
		return Term{Value: m.Value}
	}
	n.input(m)
	return m
}

// shareOf is what a Service takes of a pod at its peak of rest.
func (b *builder) shareOf(n *needs, ordinal string, service int, c *profile.Capacity) string {
	path := servicePath(service) + ".capacity"
	n.input(Term{Name: "peak" + ordinal, Value: &c.Peak.Rat, Unit: c.Unit, From: path + ".peak"})
	n.input(Term{Name: "perEndpoint" + ordinal, Value: &c.PerEndpoint.Rat, Unit: c.Unit, From: path + ".perEndpoint"})
	return "peak" + ordinal + "/perEndpoint" + ordinal
}

// judgeUplift warns of an event whose replicas the HPA cannot tell from those of
// rest.
func (b *builder) judgeUplift(e *event, w *deployed, replicas int64, path string) {
	least := b.service(w.services[0]).Replicas.Min
	if 10*replicas > 11*least {
		return
	}
	b.find(diag.Finding{
		Severity: diag.Warning, ID: "plan/workload-event-below-minimum", Subject: w.Subject() + ".replicas.event." + e.Name,
		Message: fmt.Sprintf("event %s asks for %d pods of %s/%s, not more than 1.1 × the %d that always run: its trigger changes nothing", e.Name, replicas, w.Namespace, w.Name, least),
		Hint:    "the trigger stays, so that it counts when replicas.min falls; take the event out if nothing else needs it",
	}, path)
}
