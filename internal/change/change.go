// Package change says what moved between two states of a cluster, as a reviewer
// needs it: what is dangerous, which decisions moved and which fields of the profile
// moved them, what restarts and when it must not, which findings came and went, and
// where the resources differ that the cluster will receive. It decides nothing
// itself, and reads no file.
package change

import (
	"cmp"
	"maps"
	"slices"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// Side is a cluster as it was, or as it will be.
type Side struct {
	Profile  *profile.Profile
	Plan     *plan.Plan
	Findings diag.List              // of every stage
	Values   []manifests.ValuesFile // the user's, as the profile lists them
	Objects  []manifests.Object     // that the cluster will receive
	Denied   bool                   // by a policy: nothing of it would be written
}

// State says whether a cluster, a decision or a resource is on both sides.
type State string

// What is on both sides and differs has moved.
const (
	Moved State = "moved"
	New   State = "new"
	Gone  State = "gone"
)

// Cluster is what moved in one cluster.
type Cluster struct {
	Name      string     `json:"cluster"`
	State     State      `json:"state"`
	Risk      Risk       `json:"risk"`    // the highest of the dangers
	Dangers   []Danger   `json:"dangers"` // the highest first
	Inputs    []Input    `json:"inputs"`
	Decisions []Decision `json:"decisions"`
	Restarts  []Restart  `json:"restarts"`
	Freezes   []Freeze   `json:"freezes"` // in which nothing may restart
	Findings  Findings   `json:"findings"`
	Resources []Resource `json:"resources"`
}

// Between is what moved from old to new, of which one may be nil; nil where nothing
// did. sound judges the rules between fields: a profile of which one field alone has
// moved need not be one.
func Between(old, new *Side, sound func(*profile.Profile) bool) (*Cluster, error) {
	switch {
	case old == nil:
		return whole(new, New), nil
	case new == nil:
		return whole(old, Gone), nil
	}
	c := &Cluster{Name: new.Plan.Cluster, State: Moved}
	c.Findings = findingsBetween(old.Findings, new.Findings)
	c.Resources = resourcesBetween(old.Objects, new.Objects)
	c.Decisions = decisionsBetween(old.Plan, new.Plan)
	if len(c.Decisions)+len(c.Resources) == 0 && c.Findings.empty() {
		return nil, nil
	}
	if err := c.attribute(old, new, sound); err != nil {
		return nil, err
	}
	c.Restarts = restartsBetween(old, new, c.Resources)
	if len(c.Restarts) > 0 || c.touchesMesh() {
		c.Freezes = freezesOf(new.Plan)
	}
	c.judge(old, new)
	slices.SortStableFunc(c.Decisions, func(x, y Decision) int { return cmp.Compare(x.Risk.rank(), y.Risk.rank()) })
	return c, nil
}

// whole is a cluster that comes, or goes with all that it has.
func whole(s *Side, state State) *Cluster {
	c := &Cluster{Name: s.Plan.Cluster, State: state}
	for _, o := range s.Objects {
		if r := resourceOf(o, state); !o.StandIn {
			c.Resources = append(c.Resources, r)
		}
	}
	sortResources(c.Resources)
	if state == New {
		c.Findings.Appeared = s.Findings.Sorted()
		c.Freezes = freezesOf(s.Plan)
	}
	c.judgeWhole(s)
	return c
}

// Decision is a decision that is another now.
type Decision struct {
	Subject string  `json:"subject"`
	State   State   `json:"state"`
	Unit    string  `json:"unit"`
	Before  any     `json:"before"` // as in the plan: a number, a text, texts, or null where nothing is written
	After   any     `json:"after"`
	By      string  `json:"by"` // how far it moved: "+44, +96 %"
	Risk    Risk    `json:"risk"`
	Why     string  `json:"why"`    // of the risk
	Reason  string  `json:"reason"` // of the new value; of the old one where it is gone
	Causes  []Cause `json:"causes"`
	Terms   []Term  `json:"terms"` // of the derivation, that are others now
}

// Term is a named number of a decision's derivation that is another now.
type Term struct {
	Name   string `json:"name"`
	Before string `json:"before"` // with its unit; empty where the derivation had none
	After  string `json:"after"`
}

func decisionsBetween(old, new *plan.Plan) []Decision {
	before, after := bySubject(old), bySubject(new)
	var all []Decision
	for _, d := range new.Decisions {
		was, stays := before[d.Subject]
		switch {
		case !stays:
			all = append(all, Decision{Subject: d.Subject, State: New, Unit: d.Unit, After: d.Value, Reason: d.Reason})
		case !equal(was.Value, d.Value):
			all = append(all, Decision{
				Subject: d.Subject, State: Moved, Unit: d.Unit, Before: was.Value, After: d.Value,
				By: distance(was.Value, d.Value), Reason: d.Reason, Terms: termsBetween(was.Terms, d.Terms),
			})
		}
	}
	for _, d := range old.Decisions {
		if _, stays := after[d.Subject]; !stays {
			all = append(all, Decision{Subject: d.Subject, State: Gone, Unit: d.Unit, Before: d.Value, Reason: d.Reason})
		}
	}
	return all
}

func bySubject(p *plan.Plan) map[string]plan.Decision {
	all := make(map[string]plan.Decision, len(p.Decisions))
	for _, d := range p.Decisions {
		all[d.Subject] = d
	}
	return all
}

func termsBetween(before, after []plan.Term) []Term {
	was := map[string]string{}
	for _, t := range before {
		was[t.Name] = t.Short()
	}
	var all []Term
	for _, t := range after {
		if had, now := was[t.Name], t.Short(); had != now {
			all = append(all, Term{t.Name, had, now})
		}
	}
	return all
}

// Findings are those that came, those that went, and those that say something else of
// the same subject now. Where they stand in the file does not count.
type Findings struct {
	Appeared diag.List  `json:"appeared"`
	Went     diag.List  `json:"went"`
	Changed  []Reworded `json:"changed"`
}

// Reworded is a finding with other numbers.
type Reworded struct {
	diag.Finding
	Was string `json:"was"` // the message
}

func (f Findings) empty() bool { return len(f.Appeared)+len(f.Went)+len(f.Changed) == 0 }

func findingsBetween(old, new diag.List) (f Findings) {
	f.Went = without(old, new)
	for _, is := range without(new, old) {
		i := slices.IndexFunc(f.Went, func(was diag.Finding) bool {
			return was.ID == is.ID && was.Subject == is.Subject && was.Severity == is.Severity
		})
		if i < 0 {
			f.Appeared = append(f.Appeared, is)
			continue
		}
		f.Changed = append(f.Changed, Reworded{is, f.Went[i].Message})
		f.Went = slices.Delete(f.Went, i, i+1)
	}
	return f
}

// without are the findings that are not among others, wherever those stand.
func without(all, others diag.List) diag.List {
	had := map[diag.Finding]bool{}
	for _, f := range others {
		had[placeless(f)] = true
	}
	var left diag.List
	for _, f := range all.Sorted() {
		if !had[placeless(f)] {
			had[placeless(f)] = true
			left = append(left, f)
		}
	}
	return left
}

func placeless(f diag.Finding) diag.Finding {
	f.Pos = diag.Pos{}
	return f
}

// Sort puts clusters in the order in which a reviewer should meet them: those with
// the highest risk first, then by name.
func Sort(all []*Cluster) {
	slices.SortFunc(all, func(x, y *Cluster) int {
		return cmp.Or(cmp.Compare(x.Risk.rank(), y.Risk.rank()), cmp.Compare(x.Name, y.Name))
	})
}

// kinds counts objects by their kind, sorted.
func kinds(all []Resource) []string {
	count := map[string]int{}
	for _, r := range all {
		count[r.Kind]++
	}
	var text []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		text = append(text, counted(count[kind], kind))
	}
	return text
}
