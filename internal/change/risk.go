package change

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/plan"
)

// Risk is how closely a reviewer should look.
type Risk string

// High takes a margin away that the cluster has; Medium takes away what may be spared,
// restarts pods, pushes to proxies or sends calls elsewhere; Low is anything else.
const (
	High   Risk = "high"
	Medium Risk = "medium"
	Low    Risk = "low"
)

func (r Risk) rank() int { return slices.Index([]Risk{High, Medium, Low}, r) }

// Danger is one thing of more than low risk, with the reason.
type Danger struct {
	Risk    Risk   `json:"risk"`
	Rule    string `json:"rule"`    // a row of Rules
	Subject string `json:"subject"` // a decision, a resource or the cluster
	Detail  string `json:"detail"`  // how it moved
	What    string `json:"what"`
	Why     string `json:"why"`
}

// Rule is a row of the table of risks.
type Rule struct {
	ID   string
	Risk Risk
	What string // happens
	Why  string // it is of that risk

	subject *regexp.Regexp // of decisions that it is about; nil for one about anything else
	moved   movement
}

// movement reports whether a decision moved in such a way; floors says how many pods
// always run of what a subject is about.
type movement func(d *Decision, floors floors) bool

// Rules are the rules by which risk is judged. The first that holds for a decision is
// its own, and what none holds for is low.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{"cluster-gone", High, "a profile goes away", "Argo CD prunes all that was rendered from it", nil, nil},
	{"denied", High, "a policy denies the new output", "nothing of it would be written", nil, nil},
	{"scaledobject-gone", High, "a ScaledObject goes away", "nothing scales its pods any more, and events are not met", nil, nil},
	{"budget-gone", High, "a PodDisruptionBudget goes away", "drains may take every pod at once", nil, nil},
	{"control-plane-gone", High, "a Deployment of the istiod chart goes away", "the proxies that it serves lose their control plane", nil, nil},
	{"floor-falls", High, "fewer pods always run", "there is less to lose before the HPA acts", regexp.MustCompile(`\.replicas\.min$`), falls},
	{"event-gone", High, "an event's trigger goes away, and its ScaledObject stays", "nothing is scaled ahead of the event", regexp.MustCompile(`\.replicas\.event\.`), goes},
	{"event-falls", High, "an event asks for fewer pods", "there are fewer when it begins", regexp.MustCompile(`\.replicas\.event\.`), fallsAboveFloor},
	{"window-shorter", High, "an event is scaled for during less time", "pods are ready later, or go earlier", regexp.MustCompile(`\.prescale\.window\.`), shorter},
	{"fallback-falls", High, "fewer pods run while Prometheus does not answer", "an outage of Prometheus in an event is met with fewer", regexp.MustCompile(`\.fallback\.replicas$`), falls},
	{"threshold-rises", High, "each istiod holds more connections", "the fullest pod is nearer to its memory limit", regexp.MustCompile(`^istiod\.connectionThreshold$`), rises},
	{"budget-widens", High, "a drain may take more pods at once, and no more always run", "more connections move at one instant", regexp.MustCompile(`\.podDisruptionBudget\.maxUnavailable$`), risesAlone},
	{"spread-softens", High, "a hard spread constraint goes away", "a zone's loss may take more pods than planned with", regexp.MustCompile(`\.topologySpreadConstraints$`), softens},
	{"scope-narrows", High, "proxies see fewer hosts, or are scoped for the first time", "calls that are not listed fail", regexp.MustCompile(`^sidecar/.*\.hosts$`), narrows},
	{"ceiling-falls", Medium, "fewer pods may run", "an event larger than planned meets the ceiling earlier", regexp.MustCompile(`\.replicas\.max$`), falls},
	{"budget-grows", Medium, "a drain may take more pods at once, of more that always run", "more connections move at one instant", regexp.MustCompile(`\.podDisruptionBudget\.maxUnavailable$`), rises},
	{"hotter", Medium, "the autoscaler lets pods be used more", "there is less room until new pods are ready", regexp.MustCompile(`\.(cpu|memory)Utilization$`), rises},
	{"lead-falls", Medium, "scaling for an event begins nearer to its start", "slow nodes or pods are ready too late", regexp.MustCompile(`\.prescale\.lead\.`), falls},
	{"window-moves", Medium, "an event is scaled for at another time", "the time that is left out has no pods of its own", regexp.MustCompile(`\.prescale\.window\.`), moves},
	{"routing", Medium, "calls choose among zones in another way", "load moves between endpoints as soon as it is applied", regexp.MustCompile(`\.trafficDistribution$`), anyway},
	{"scope-widens", Medium, "proxies see more hosts, or are scoped no more", "every proxy of the scope gets a full push, and grows", regexp.MustCompile(`^sidecar/.*\.hosts$`), anyway},
	{"skew-lasts", Medium, "connections live longer", "an uneven spread takes longer to go", regexp.MustCompile(`^istiod\.keepaliveMaxServerConnectionAge$`), rises},
	{"resource-gone", Medium, "any other resource goes away", "Argo CD prunes it", nil, nil},
	{"istiod-restarts", Medium, "istiod's pod template changes", "every pod is replaced, and every proxy connects anew", nil, nil},
	{"workload-restarts", Medium, "a workload's pod template changes", "its pods are replaced", nil, nil},
	{"proxies-change", Medium, "what the injector makes proxies from changes", "each may be another from its next start on, whenever that is", nil, nil},
}

// judge gives every decision its risk, and gathers what is of more than low risk,
// the highest first.
func (c *Cluster) judge(old, new *Side) {
	orphaned, floors := c.unscaled(old), floors{bySubject(old.Plan), bySubject(new.Plan)}
	for i := range c.Decisions {
		d := &c.Decisions[i]
		d.Risk = Low
		if d.State == Gone && slices.ContainsFunc(orphaned, func(owner string) bool { return strings.HasPrefix(d.Subject, owner+".") }) {
			continue // the ScaledObject's end says it once
		}
		for _, r := range rules {
			if r.subject != nil && r.subject.MatchString(d.Subject) && r.moved(d, floors) {
				d.Risk, d.Why = r.Risk, r.Why
				c.danger(r, d.Subject, d.brief())
				break
			}
		}
	}
	if new.Denied {
		c.danger(rule("denied"), c.Name, "")
	}
	c.judgeResources(old)
	for _, r := range c.Restarts {
		id := "workload-restarts"
		switch {
		case r.Istiod:
			id = "istiod-restarts"
		case r.Later:
			id = "proxies-change"
		}
		c.danger(rule(id), r.Workload, "")
	}
	c.settle()
}

// settle sorts the dangers and takes the highest as the cluster's own risk.
func (c *Cluster) settle() {
	slices.SortStableFunc(c.Dangers, func(x, y Danger) int { return cmp.Compare(x.Risk.rank(), y.Risk.rank()) })
	c.Risk = Low
	if len(c.Dangers) > 0 {
		c.Risk = c.Dangers[0].Risk
	}
}

func (c *Cluster) danger(r Rule, subject, detail string) {
	c.Dangers = append(c.Dangers, Danger{r.Risk, r.ID, subject, detail, r.What, r.Why})
}

// rule is the row with that id.
func rule(id string) Rule {
	for _, r := range rules {
		if r.ID == id {
			return r
		}
	}
	panic("no rule " + id) // a test asks for each
}

func (c *Cluster) judgeWhole(s *Side) {
	if c.State == Gone {
		c.danger(rule("cluster-gone"), c.Name, fmt.Sprintf("(%d objects of %d kinds)", len(c.Resources), len(kinds(c.Resources))))
	}
	if c.State == New && s.Denied {
		c.danger(rule("denied"), c.Name, "")
	}
	c.settle()
}

// judgeResources looks at resources that go away.
func (c *Cluster) judgeResources(old *Side) {
	for _, r := range c.Resources {
		if r.State != Gone || r.Yours {
			continue
		}
		id := "resource-gone"
		switch {
		case r.Kind == "ScaledObject":
			id = "scaledobject-gone"
		case r.Kind == "PodDisruptionBudget":
			id = "budget-gone"
		case r.Kind == "Deployment":
			id = "control-plane-gone"
		case r.Kind == "Sidecar":
			continue // its decision says what proxies see now
		}
		c.danger(rule(id), r.String(), handedBack(r, old))
	}
}

// handedBack says which HPA a ScaledObject that goes had taken over.
func handedBack(r Resource, old *Side) string {
	for _, w := range old.Plan.Workloads {
		if r.Kind == "ScaledObject" && w.Scaling != nil && w.Namespace == r.Namespace && w.Scaling.Name == r.Name && w.Scaling.HPA != "" {
			return "(your HPA " + w.Scaling.HPA + " scales again, where your manifests have it)"
		}
	}
	return ""
}

// unscaled begin the subjects of the workloads that lose their ScaledObject.
func (c *Cluster) unscaled(old *Side) []string {
	gone := map[string]bool{}
	for _, r := range c.Resources {
		gone[r.Namespace+"/"+r.Name] = gone[r.Namespace+"/"+r.Name] || r.Kind == "ScaledObject" && r.State == Gone && !r.Yours
	}
	var owners []string
	for _, w := range old.Plan.Workloads {
		if w.Scaling != nil && gone[w.Namespace+"/"+w.Scaling.Name] {
			owners = append(owners, w.Subject())
		}
	}
	return owners
}

// touchesMesh reports what is a full push to proxies: like a restart, nothing for a
// freeze.
func (c *Cluster) touchesMesh() bool {
	return slices.ContainsFunc(c.Resources, func(r Resource) bool { return r.Kind == "Sidecar" })
}

// ordered is the two values as numbers that can be compared; durations are seconds.
func (d *Decision) ordered() (before, after float64, ok bool) {
	if d.State != Moved {
		return 0, 0, false
	}
	before, okB := magnitude(d.Before)
	after, okA := magnitude(d.After)
	return before, after, okB && okA
}

func magnitude(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case string:
		length, err := time.ParseDuration(v)
		return length.Seconds(), err == nil
	}
	return 0, false
}

// floors are the decisions of both sides by subject.
type floors struct{ old, new map[string]plan.Decision }

// of are the pods that always run, on both sides, of what a decision is about.
func (f floors) of(d *Decision) (before, after float64) {
	owner, _, _ := strings.Cut(d.Subject, ".")
	before, _ = magnitude(f.old[owner+floor].Value)
	after, _ = magnitude(f.new[owner+floor].Value)
	return before, after
}

const floor = ".replicas.min"

func anyway(*Decision, floors) bool { return true }

func goes(d *Decision, _ floors) bool { return d.State == Gone }

func falls(d *Decision, _ floors) bool {
	before, after, ok := d.ordered()
	return ok && after < before
}

func rises(d *Decision, _ floors) bool {
	before, after, ok := d.ordered()
	return ok && after > before
}

// fallsAboveFloor holds where fewer pods come of it: what always runs counts too.
func fallsAboveFloor(d *Decision, f floors) bool {
	before, after, ok := d.ordered()
	was, is := f.of(d)
	return ok && max(after, is) < max(before, was)
}

// risesAlone holds where the pods that always run do not become more as well.
func risesAlone(d *Decision, f floors) bool {
	was, is := f.of(d)
	return rises(d, f) && is <= was
}

// moves holds for a window that lies elsewhere, and not for one that only grows.
func moves(d *Decision, _ floors) bool {
	if d.State != Moved {
		return false
	}
	b, okB := windowOf(d.Before)
	a, okA := windowOf(d.After)
	return !okB || !okA || !a.covers(b)
}

// shorter holds for a window of less time in all.
func shorter(d *Decision, _ floors) bool {
	if d.State != Moved {
		return false
	}
	b, okB := windowOf(d.Before)
	a, okA := windowOf(d.After)
	return okB && okA && a.length() < b.length()
}

// softens holds where a constraint that pods must meet is gone.
func softens(d *Decision, _ floors) bool {
	before, _ := d.Before.([]string)
	after, _ := d.After.([]string)
	gone, _ := difference(before, after)
	return slices.ContainsFunc(gone, func(c string) bool {
		key, rest, _ := strings.Cut(c, " ")
		hard := strings.HasPrefix(rest, "DoNotSchedule ")
		return hard && !slices.ContainsFunc(after, func(a string) bool { return strings.HasPrefix(a, key+" DoNotSchedule ") })
	})
}

// narrows holds where hosts are gone of a scope that stays, or a scope is written
// for the first time.
func narrows(d *Decision, _ floors) bool {
	before, _ := d.Before.([]string)
	after, _ := d.After.([]string)
	gone, _ := difference(before, after)
	return len(after) > 0 && (len(before) == 0 || len(gone) > 0)
}
