package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshgen/meshgen/internal/plan"
)

// perService begin the subjects of decisions of which a mesh has thousands; they
// have tables of their own.
var perService = []string{"workload/", "service/", "sidecar/"}

func ofService(subject string) bool {
	return slices.ContainsFunc(perService, func(prefix string) bool { return strings.HasPrefix(subject, prefix) })
}

// tally counts what is written of a kind.
type tally struct {
	n    int
	what string
}

// inShort counts what is written around istiod, so that a reviewer knows the size
// of the change before its parts.
func (p *page) inShort() {
	var all []string
	for _, t := range slices.Concat(p.workloadTally(), p.routeTally(), p.scopeTally()) {
		if t.n > 0 {
			all = append(all, fmt.Sprintf("%s: %d", t.what, t.n))
		}
	}
	if len(all) == 0 {
		return
	}
	p.section("In short")
	for _, line := range all {
		p.line("- %s", line)
	}
}

func (p *page) workloadTally() []tally {
	scaled, taken, extended, spread := tally{what: "workloads that get a ScaledObject"}, tally{what: "HPAs that are taken over"},
		tally{what: "ScaledObjects of yours that get the events' triggers"}, tally{what: "workloads that get other spread constraints"}
	for _, w := range p.plan.Workloads {
		if w.Spread != nil {
			spread.n++
		}
		switch {
		case w.Scaling == nil:
		case w.Scaling.Extends:
			extended.n++
		default:
			scaled.n++
			if w.Scaling.HPA != "" {
				taken.n++
			}
		}
	}
	return []tally{scaled, taken, extended, spread}
}

func (p *page) routeTally() []tally {
	set, deleted := tally{what: "Services whose calls stay in their zone"}, tally{what: "Services that lose `trafficDistribution` or topology hints"}
	for _, r := range p.plan.Routes {
		if r.TrafficDistribution != "" {
			set.n++
		} else {
			deleted.n++
		}
	}
	return []tally{set, deleted}
}

func (p *page) scopeTally() []tally {
	scopes := tally{what: "Sidecar scopes that are written"}
	for _, s := range p.plan.Scopes {
		if s.Written() {
			scopes.n++
		}
	}
	return []tally{scopes}
}

// spreading tells which workloads get other spread constraints than they may
// have: their pod template changes.
func (p *page) spreading() {
	var namespaces []string
	names := map[string][]string{}
	for _, w := range p.plan.Workloads {
		if w.Spread == nil {
			continue
		}
		if names[w.Namespace] == nil {
			namespaces = append(namespaces, w.Namespace)
		}
		names[w.Namespace] = append(names[w.Namespace], w.Name)
	}
	if len(namespaces) == 0 {
		p.line("- No workload restarts.")
		return
	}
	p.line("- These workloads roll out once where their spread constraints differ from the planned ones:")
	for _, n := range namespaces {
		p.line("  - `%s`: %s", n, few(names[n]))
	}
	p.constraints()
	p.line("- Constraints that somebody else has set than who applies these (Helm, `kubectl edit`) stay beside them: delete them once by hand.")
}

// constraints are the planned lists, each with how many workloads get it.
func (p *page) constraints() {
	var lists []string
	count := map[string]int{}
	for _, w := range p.plan.Workloads {
		if w.Spread == nil {
			continue
		}
		var all []string
		for _, s := range w.Spread {
			all = append(all, s.String())
		}
		list := strings.Join(all, "; ")
		if count[list]++; count[list] == 1 {
			lists = append(lists, list)
		}
	}
	for _, list := range lists {
		p.line("- Planned for %d of them: `%s`.", count[list], list)
	}
}

// shown is how many names of a kind stand in a line.
const shown = 8

func few(names []string) string {
	if len(names) <= shown {
		return "`" + strings.Join(names, "`, `") + "`"
	}
	return fmt.Sprintf("`%s` and %d more", strings.Join(names[:shown-1], "`, `"), len(names)-shown+1)
}

// workloads are those that meshgen scales.
func (p *page) workloads() {
	scaled := slices.DeleteFunc(slices.Clone(p.plan.Workloads), func(w plan.Workload) bool { return w.Scaling == nil })
	if len(scaled) == 0 {
		return
	}
	p.section("Workloads that are scaled")
	p.table("workload", "pods", "for events", "today")
	taken := 0
	for _, w := range scaled {
		if w.Scaling.HPA != "" {
			taken++
		}
		p.row(fmt.Sprintf("`%s/%s`", w.Namespace, w.Name), fmt.Sprintf("%d to %d", w.Scaling.Min, w.Scaling.Max), eventsOf(w.Scaling), today(w.Scaling))
	}
	if taken > 0 {
		p.line("")
		p.line("%d HPAs leave your manifests: where Argo CD prunes, it deletes them, and KEDA makes each again under its name; the pods stay as many as they are meanwhile.", taken)
	}
}

func eventsOf(s *plan.Scaling) string {
	var all []string
	for _, t := range s.Triggers {
		all = append(all, fmt.Sprintf("%s: %s", t.Event, t.Reason))
	}
	return strings.Join(all, "; ")
}

func today(s *plan.Scaling) string {
	switch {
	case s.Extends:
		return fmt.Sprintf("ScaledObject `%s` keeps its triggers, the events' come after them", s.Name)
	case s.HPA != "":
		return fmt.Sprintf("HPA `%s` is taken over by name", s.HPA)
	}
	return "no autoscaler"
}

// routing are the Services whose zone routing is written, or runs.
func (p *page) routing() {
	var rows []plan.Decision
	others := 0
	for _, d := range p.plan.Decisions {
		switch {
		case !strings.HasPrefix(d.Subject, "service/"):
		case d.Value != nil || d.Running != nil:
			rows = append(rows, d)
		default:
			others++
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("Zone routing")
	p.line("F is the load of the fullest endpoint as a multiple of the mean; stranded endpoints get no calls. S1: the callers' zones are known. S2: a hard constraint guarantees pods in every zone. S3: two pods wherever there are callers. S4: each zone carries its callers with a pod lost. S5: the autoscaler acts before the fullest pod is full. S6: F and stranded endpoints. S7: calls may leave their node. S8: the loss of a zone. S9: something moves pods back. `meshgen explain` says each with its numbers.")
	p.line("")
	p.table("service", "runs", "planned", "why")
	for _, d := range rows {
		p.row("`"+strings.TrimPrefix(strings.TrimSuffix(d.Subject, ".trafficDistribution"), "service/")+"`", runs(d), written(d.Value), d.Reason)
	}
	if others > 0 {
		p.line("")
		p.line("Services without zone routing, which get none: %d; `meshgen explain` says why for each.", others)
	}
}

func runs(d plan.Decision) string {
	if d.Running == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s, %s", written(d.Running.Value), d.Running.Verdict)
}

func written(value any) string {
	if value == nil {
		return "nothing"
	}
	return fmt.Sprint(value)
}

// scopes are the Sidecars, and those that are only reported with their hosts,
// which no file shows.
func (p *page) scopes() {
	if len(p.plan.Scopes) == 0 {
		return
	}
	p.section("Sidecar scopes")
	if slices.ContainsFunc(p.plan.Scopes, plan.Scope.Written) {
		p.line("A scope that comes or changes is a full push to its proxies: one namespace at a time, and never within a freeze.")
		p.line("")
	}
	p.table("scope", "rollout", "proxies", "hosts", "listed endpoints seen", "instead of")
	for _, s := range p.plan.Scopes {
		p.row("`"+scopeName(s)+"`", s.Rollout, fmt.Sprint(s.Proxies), fmt.Sprint(len(s.Hosts)), fmt.Sprint(s.Visible), fmt.Sprint(s.Listed))
	}
	for _, s := range p.plan.Scopes {
		if !s.Written() {
			p.line("")
			p.line("`%s` is reported and not written; it would see `%s`.", scopeName(s), strings.Join(s.Hosts, "`, `"))
		}
	}
}

func scopeName(s plan.Scope) string {
	return strings.TrimPrefix(strings.TrimSuffix(s.Subject(), ".hosts"), "sidecar/")
}
