package plan

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/profile"
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
	if b.loss.Mode == "zone" {
		step := b.zones * b.threshold
		count = fmt.Sprintf("%d * ceil(%s / %d)", step, count, step)
	}
	return Trigger{
		Name: "connections", Query: count, Threshold: b.threshold,
		Reason: fmt.Sprintf("%d connections a pod; each proxy counts once, a pod that has gone for at most %s more", b.threshold, window),
	}
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
	d.input(Term{Name: "workloads", Value: seconds(b.workloadLead(e.Name)), Unit: "s", Note: "the longest lead of a workload that is pre-scaled for the event: it brings connections before the start"})
	d.input(Term{Name: "Nevent", Value: big.NewRat(e.replicas, 1), Unit: "replicas", From: "istiod.replicas.event." + e.Name})
	d.set("doubling", "15 * (1 + doublings(Nevent / Nmin))", "s")
	e.lead = upToMinute(d.set("lead", "workloads + 1.25*T + podReady + nodeReady + doubling + W", "s"))
	text := durationText(e.lead)
	b.decide(d, Decision{
		Subject: "istiod.prescale.lead." + e.Name, Value: text, Unit: "duration",
		Reason: fmt.Sprintf("new pods carry their share after 1.25 × %s, and must exist, be ready and be noticed first", durationText(b.age)),
		Source: "connections move only as their age ends; the HPA doubles every 15 s",
	}, e.path)
	if e.Weekly != nil {
		b.weeklyWindow(e)
		return
	}
	b.datedWindow(e)
}

func (b *builder) datedWindow(e *event) {
	start := e.Start.Add(-e.lead)
	frozen := start.Add(-10 * b.age)
	terms := &derivation{terms: []Term{
		{Name: "start", Text: rfc3339(e.Start.Time), From: e.path + ".start"},
		{Name: "end", Text: rfc3339(e.End.Time), From: e.path + ".end"},
		{Name: "lead", Text: durationText(e.lead), From: "istiod.prescale.lead." + e.Name},
	}}
	b.decide(terms, Decision{
		Subject: "istiod.prescale.window." + e.Name, Value: rfc3339(start) + "/" + rfc3339(e.End.Time), Unit: "start/end",
		Reason: "from the lead before the start until the end", Source: "istiod.prescale.lead." + e.Name,
	}, e.path)
	terms = &derivation{terms: append(slices.Clone(terms.terms), Term{Name: "T", Text: durationText(b.age), From: "istiod.keepaliveMaxServerConnectionAge"})}
	b.decide(terms, Decision{
		Subject: "istiod.freeze." + e.Name, Value: rfc3339(frozen) + "/" + rfc3339(e.End.Time), Unit: "start/end",
		Reason: fmt.Sprintf("no istiod rollout: reconnects come in waves for 10 connection ages (%s) after one", durationText(10*b.age)),
		Source: "connections that began together end together, ± 10 % an age",
	}, e.path)
}

func (b *builder) weeklyWindow(e *event) {
	w := calendar.Window{Weekly: *e.when.Weekly, Lead: e.lead}
	b.decide(&derivation{terms: []Term{
		{Name: "start", Text: e.Weekly.Start, From: e.path + ".weekly.start"},
		{Name: "end", Text: e.Weekly.End, From: e.path + ".weekly.end"},
		{Name: "lead", Text: durationText(e.lead), From: "istiod.prescale.lead." + e.Name},
	}}, Decision{
		Subject: "istiod.prescale.window." + e.Name, Value: w.String(), Unit: "days start-end zone",
		Reason: "from the lead before each start until each end, by the zone's clock", Source: "istiod.prescale.lead." + e.Name,
	}, e.path)
	found, err := w.Problems(calendar.Horizon(b.whens()))
	if err != nil && b.err == nil {
		b.err = err
	}
	for _, p := range found {
		b.weeklyProblem(e, w, p)
	}
}

func (b *builder) whens() []calendar.Event {
	var all []calendar.Event
	for _, e := range b.events {
		all = append(all, e.when)
	}
	return all
}

func (b *builder) weeklyProblem(e *event, w calendar.Window, p calendar.Problem) {
	zone := w.Location.String()
	at := map[string]string{"start": "its start", "end": "its end", "trigger": "its pre-scale, " + durationText(e.lead) + " before the start,"}[p.What]
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
			Message: fmt.Sprintf("event %s: the clocks of %s go forward between its pre-scale at %s and its start: the lead is an hour short", e.Name, zone, p.Date),
		},
		calendar.Touching: {
			ID: "plan/weekly-touching", Hint: "split its days over two events that take turns, such as Mon, Wed, Fri and Tue, Thu, Sat",
			Message: fmt.Sprintf("event %s: the pre-scale at %s begins before the window of the day before has ended, which a cron trigger cannot say", e.Name, p.Date),
		},
		calendar.Wrong: {
			ID: "plan/weekly-differs", Hint: "choose other times: KEDA's cron trigger is active when its next end is not later than its next start",
			Message: fmt.Sprintf("event %s: from %s on KEDA's cron trigger would not be active when the event asks for it", e.Name, p.Date),
		},
	}[p.Kind]
	f.Severity, f.Subject = diag.Error, "istiod.prescale.window."+e.Name
	b.find(f, e.path+".weekly")
}

func (b *builder) eventTriggers() []Trigger {
	var weekly, dated []*event
	for i := range b.events {
		if e := &b.events[i]; e.Weekly != nil {
			weekly = append(weekly, e)
		} else {
			dated = append(dated, e)
		}
	}
	slices.SortStableFunc(dated, func(x, y *event) int {
		if c := x.Start.Compare(y.Start.Time); c != 0 {
			return c
		}
		return strings.Compare(x.Name, y.Name)
	})
	var all []Trigger
	for _, e := range append(weekly, dated...) {
		all = append(all, e.trigger())
	}
	return all
}

func (e *event) trigger() Trigger {
	t := Trigger{Name: "event_" + identifier(e.Name), Event: e.Name, Replicas: e.replicas}
	if e.Weekly != nil {
		w := calendar.Window{Weekly: *e.when.Weekly, Lead: e.lead}
		cron := w.Cron()
		t.Start, t.End, t.TimeZone = cron.Start, cron.End, cron.Location.String()
		t.Reason = fmt.Sprintf("%d pods, %s", e.replicas, w)
		return t
	}
	start := e.Start.Add(-e.lead)
	t.Query = fmt.Sprintf("vector(%d * (time() >= bool %d) * (time() < bool %d))", e.replicas, start.Unix(), e.End.Unix())
	t.Threshold = 1
	t.Reason = fmt.Sprintf("%d pods from %s, %s before the start, until %s", e.replicas, rfc3339(start), durationText(e.lead), rfc3339(e.End.Time))
	return t
}

// workloadLead is the longest lead of the workloads that meshgen scales for the
// event.
func (b *builder) workloadLead(name string) time.Duration {
	var longest time.Duration
	for i, e := range b.events {
		if e.Name != name {
			continue
		}
		for _, s := range b.spec().Services {
			if _, named := s.Events[name]; named && s.Autoscaling.ManagedBy == "meshgen" {
				longest = max(longest, b.leadOf(s, i))
			}
		}
	}
	return longest
}

// leadOf is max(5 m, podReady + nodeReady + 15 s·(1 + doublings(m))) up to the
// whole minute, m being the Service's largest combined multiplier in the event.
func (b *builder) leadOf(s profile.Service, event int) time.Duration {
	m := b.most(event, func(i int) *big.Rat {
		if named, ok := s.Events[b.events[i].Name]; ok {
			return &named.Multiplier.Rat
		}
		return big.NewRat(1, 1)
	})
	ready := b.spec().Istiod.PodReady.Duration
	if s.PodReady != nil {
		ready = s.PodReady.Duration
	}
	ready += b.spec().Istiod.NodeReady.Duration + time.Duration(1+doublings(m))*15*time.Second
	return max(5*time.Minute, upToMinute(seconds(ready)))
}
