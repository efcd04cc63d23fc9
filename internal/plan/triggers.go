package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
)

// calendarTriggers decides when each event is scaled for, and lays out the
// triggers: connections, then weekly events as the profile lists them, then
// dated ones by start and name, so that a dated event that comes or goes moves
// no other trigger's index.
func (b *builder) calendarTriggers() bool {
	if b.spec().Metrics.ServerAddress == "" {
		b.find(diag.Finding{
			Severity: diag.Error, ID: "plan/no-prometheus", Subject: "spec.metrics.serverAddress",
			Message: "the connection trigger asks Prometheus, and the profile names none",
			Hint:    `set spec.metrics.serverAddress, such as "http://prometheus.monitoring.svc:9090"`,
		}, "spec.metrics")
		return false
	}
	for i := range b.events {
		b.lead(i)
	}
	b.plan.Istiod.Triggers = append([]Trigger{b.connectionTrigger()}, b.eventTriggers()...)
	return true
}

// connectionTrigger counts each proxy once, however often its series is
// scraped, and only those of this mesh's istiods.
func (b *builder) connectionTrigger() Trigger {
	window := durationText(b.window - 15*time.Second)
	count := fmt.Sprintf("sum(max by (pod, version) (last_over_time(pilot_xds{%s}[%s])))", b.series(), window)
	t := Trigger{Name: "connections", Threshold: b.threshold, Weight: b.weight}
	asks := fmt.Sprintf("%d connections a pod", b.threshold)
	of := int64(1) // what a connection of the worst moment counts
	if w := b.weight; w != nil {
		count, of = count+" * "+b.endpointsNow(), w.Peak+w.Own
		asks = fmt.Sprintf("%s connections × endpoints a pod; %s or fewer endpoints count as so many, and while nothing says how many there are %d connections a pod", grouped(w.Budget(b.threshold)), grouped(w.Least), b.threshold)
	}
	t.Query = b.inConnections(count, of)
	t.Reason = fmt.Sprintf("%s; each proxy counts once, a pod that has gone for at most %s more", asks, window)
	return t
}

// inConnections is a query in connections of the worst moment, each of which counts
// so much: whole ones, and as many as fill the pods of every zone where one of them
// may be lost.
func (b *builder) inConnections(count string, of int64) string {
	switch step := b.zones * b.threshold; {
	case b.loss.Mode == "zone":
		return fmt.Sprintf("%d * ceil(%s / %d)", step, count, step*of)
	case of > 1:
		return fmt.Sprintf("ceil(%s / %d)", count, of)
	}
	return count
}

func (b *builder) series() string {
	labels := []string{
		fmt.Sprintf("namespace=%q", b.plan.Istiod.Namespace),
		fmt.Sprintf(`pod=~"%s-[^-]+(-[^-]+)?"`, b.plan.Istiod.Deployment), // no other revision's pods
	}
	selector := b.spec().Metrics.Selector
	for _, name := range slices.Sorted(maps.Keys(selector)) {
		labels = append(labels, fmt.Sprintf("%s=%q", name, selector[name]))
	}
	return strings.Join(labels, ",")
}

// lead decides how long before an event its replicas are asked for.
func (b *builder) lead(i int) {
	e := &b.events[i]
	d := b.from("T", "podReady", "nodeReady", "Nmin", "W")
	d.input(Term{Name: "workloads", Value: seconds(b.longestLead(i)), Unit: "s", Note: "the longest lead of a workload that is pre-scaled for the event: it brings connections before the start"})
	d.input(Term{Name: "Nevent", Value: big.NewRat(e.replicas, 1), Unit: "replicas", From: "istiod.replicas.event." + e.Name})
	d.set("doubling", "15 * (1 + doublings(Nevent / Nmin))", "s")
	e.lead = upToMinute(d.set("lead", "workloads + 1.25*T + podReady + nodeReady + doubling + W", "s"))
	text := durationText(e.lead)
	b.decide(d, Decision{
		Subject: "istiod.prescale.lead." + e.Name, Value: text, Unit: "duration",
		Reason: fmt.Sprintf("new pods carry their share after 1.25 × %s, and must exist, be ready and be noticed first", durationText(b.age)),
		Source: "connections move only as their age ends; the HPA doubles every 15 s",
	}, e.path)
	b.prescaleWindow("istiod", e, e.lead, e.path)
	if e.Weekly == nil {
		b.freeze(e)
	}
}

// prescaleWindow decides when an event's replicas are asked for. The owner is
// what its decisions begin with, istiod or a workload; path is the field that
// they answer to.
func (b *builder) prescaleWindow(owner string, e *event, lead time.Duration, path string) {
	d := Decision{
		Subject: owner + ".prescale.window." + e.Name, Unit: "start/end",
		Reason: "from the lead before the start until the end", Source: owner + ".prescale.lead." + e.Name,
	}
	if e.Weekly == nil {
		d.Value = rfc3339(e.Start.Add(-lead)) + "/" + rfc3339(e.End.Time)
	} else {
		d.Value, d.Unit = e.window(lead).String(), "days start-end zone"
		d.Reason = "from the lead before each start until each end, by the zone's clock"
	}
	b.decide(&derivation{terms: e.windowTerms(owner, lead)}, d, path)
	b.judgeWindow(owner, e, lead)
}

func (e *event) windowTerms(owner string, lead time.Duration) []Term {
	terms := []Term{
		{Name: "start", From: e.path + ".start"},
		{Name: "end", From: e.path + ".end"},
		{Name: "lead", Text: durationText(lead), From: owner + ".prescale.lead." + e.Name},
	}
	if e.Weekly == nil {
		terms[0].Text, terms[1].Text = rfc3339(e.Start.Time), rfc3339(e.End.Time)
		return terms
	}
	terms[0].Text, terms[0].From = e.Weekly.Start, e.path+".weekly.start"
	terms[1].Text, terms[1].From = e.Weekly.End, e.path+".weekly.end"
	return terms
}

// window is a weekly event's with a lead.
func (e *event) window(lead time.Duration) calendar.Window {
	return calendar.Window{Weekly: *e.when.Weekly, Lead: lead}
}

func (b *builder) freeze(e *event) {
	frozen := e.Start.Add(-e.lead - 10*b.age)
	b.plan.Freezes = append(b.plan.Freezes, Freeze{e.Name, calendar.Span{Start: frozen, End: e.End.Time}})
	terms := append(e.windowTerms("istiod", e.lead), Term{Name: "T", Text: durationText(b.age), From: "istiod.keepaliveMaxServerConnectionAge"})
	b.decide(&derivation{terms: terms}, Decision{
		Subject: "istiod.freeze." + e.Name, Value: rfc3339(frozen) + "/" + rfc3339(e.End.Time), Unit: "start/end",
		Reason: fmt.Sprintf("no istiod rollout: reconnects come in waves for 10 connection ages (%s) after one", durationText(10*b.age)),
		Source: "connections that began together end together, ± 10 % an age",
	}, e.path)
}

// judgement is a weekly window that was judged, or a kind of problem that was
// found in an event's windows.
type judgement struct {
	event string
	lead  time.Duration
	kind  calendar.ProblemKind
}

// judgeWindow judges a weekly event's window once for each lead, and reports
// each kind of problem once for each event: all of its windows end together, and
// what mends one mends all.
func (b *builder) judgeWindow(owner string, e *event, lead time.Duration) {
	if e.Weekly == nil || !b.first(judgement{event: e.Name, lead: lead}) {
		return
	}
	w := e.window(lead)
	found, err := w.Problems(calendar.Horizon(b.whens()))
	if err != nil && b.err == nil {
		b.err = err
	}
	for _, p := range found {
		if b.first(judgement{event: e.Name, kind: p.Kind}) {
			b.weeklyProblem(owner, e, w, p)
		}
	}
}

// first reports whether the judgement is new, and remembers it.
func (b *builder) first(j judgement) bool {
	known := b.judged[j]
	b.judged[j] = true
	return !known
}

func (b *builder) whens() []calendar.Event {
	var all []calendar.Event
	for _, e := range b.events {
		all = append(all, e.when)
	}
	return all
}

func (b *builder) weeklyProblem(owner string, e *event, w calendar.Window, p calendar.Problem) {
	zone := w.Location.String()
	at := map[string]string{"start": "its start", "end": "its end", "trigger": "its pre-scale, " + durationText(w.Lead) + " before the start,"}[p.What]
	move := "move the event's start or end by an hour, or give its times in UTC if they may shift with the clocks"
	f := map[calendar.ProblemKind]diag.Finding{
		calendar.Gap: {
			ID: "plan/dst-gap", Hint: move,
			Message: fmt.Sprintf("event %s: %s falls on %s, which the clocks of %s skip: KEDA would miss that window or never end the one before", e.Name, at, p.Date, zone),
		},
		calendar.Overlap: {
			ID: "plan/dst-overlap", Hint: move,
			Message: fmt.Sprintf("event %s: %s falls on %s, which the clocks of %s show twice: KEDA waits for the second", e.Name, at, p.Date, zone),
		},
		calendar.Short: {
			ID: "plan/dst-lead", Hint: move,
			Message: fmt.Sprintf("event %s: the clocks of %s go forward between its pre-scale at %s and its start: the lead is shorter by as much", e.Name, zone, p.Date),
		},
		calendar.Touching: {
			ID: "plan/weekly-touching", Hint: "split its days over two events that take turns, such as Mon, Wed, Fri and Tue, Thu, Sat",
			Message: fmt.Sprintf("event %s: the pre-scale at %s begins before the window of the day before has ended, which a cron trigger cannot say", e.Name, p.Date),
		},
		calendar.Wrong: {
			ID: "plan/weekly-differs", Hint: "choose other times: KEDA's cron trigger is active when its next end is not later than its next start",
			Message: fmt.Sprintf("event %s: from %s on KEDA's cron trigger would be active at other times than the event asks for", e.Name, p.Date),
		},
	}[p.Kind]
	f.Severity, f.Subject = diag.Error, owner+".prescale.window."+e.Name
	b.find(f, e.path+".weekly")
}

func (b *builder) eventTriggers() []Trigger {
	var all []Trigger
	for _, i := range b.triggerOrder() {
		e := &b.events[i]
		all = append(all, e.trigger(e.replicas, e.lead))
	}
	return all
}

// triggerOrder are the events in the order of their triggers: weekly ones as the
// profile lists them, then dated ones by start and name.
func (b *builder) triggerOrder() []int {
	var weekly, dated []int
	for i, e := range b.events {
		if e.Weekly != nil {
			weekly = append(weekly, i)
		} else {
			dated = append(dated, i)
		}
	}
	slices.SortStableFunc(dated, func(i, j int) int {
		x, y := b.events[i], b.events[j]
		return cmp.Or(x.Start.Compare(y.Start.Time), strings.Compare(x.Name, y.Name))
	})
	return append(weekly, dated...)
}

// trigger asks for that many replicas from the lead before the event's start
// until its end.
func (e *event) trigger(replicas int64, lead time.Duration) Trigger {
	t := Trigger{Name: "event_" + identifier(e.Name), Event: e.Name, Replicas: replicas}
	if e.Weekly != nil {
		w := e.window(lead)
		cron := w.Cron()
		t.Start, t.End, t.TimeZone = cron.Start, cron.End, cron.Location.String()
		t.Reason = fmt.Sprintf("%s, %s", plural(replicas, "pod"), w)
		return t
	}
	start := e.Start.Add(-lead)
	t.Query = fmt.Sprintf("vector(%d * (time() >= bool %d) * (time() < bool %d))", replicas, start.Unix(), e.End.Unix())
	t.Threshold = 1
	t.Reason = fmt.Sprintf("%s from %s, %s before the start, until %s", plural(replicas, "pod"), rfc3339(start), durationText(lead), rfc3339(e.End.Time))
	return t
}
