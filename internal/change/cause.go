package change

import (
	"cmp"
	"slices"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// Cause is fields of the profile that moved a decision. Alone they move it to Value;
// those that do not, take a part in it only together with the others.
type Cause struct {
	Inputs string `json:"inputs"` // a field, or the part of the profile that several are of
	Alone  bool   `json:"alone"`
	State  State  `json:"state"` // of the decision, with these fields alone
	Value  any    `json:"value"`
	By     string `json:"by"`
}

// mostProbes bounds how many plans are made to find causes: one for each field,
// or for each part of the profile where there are more.
const mostProbes = 20

// unit is edits that are tried together.
type unit struct {
	name  string
	edits []edit
}

// unitsOf takes edits one by one, by the event, Service or other item that they are
// of, or by the field of spec, whichever are few enough first.
func unitsOf(all []edit) []unit {
	var units []unit
	for _, name := range []func(edit) string{edit.path, edit.part, edit.top} {
		units = nil
		for _, e := range all {
			at := slices.IndexFunc(units, func(u unit) bool { return u.name == name(e) })
			if at < 0 {
				at = len(units)
				units = append(units, unit{name: name(e)})
			}
			units[at].edits = append(units[at].edits, e)
		}
		if len(units) <= mostProbes {
			break
		}
	}
	return joinReferences(units)
}

// joinReferences puts what refers to an event or a zone that goes away with it: alone,
// neither could.
func joinReferences(units []unit) []unit {
	for i := range units {
		for _, e := range units[i].edits {
			name, ok := e.leaves()
			for j := range units {
				if ok && i != j && slices.ContainsFunc(units[j].edits, func(r edit) bool { return r.refersTo(name) }) {
					units[i].edits = slices.Concat(units[i].edits, units[j].edits)
					units[j].edits = nil
				}
			}
		}
	}
	return slices.DeleteFunc(units, func(u unit) bool { return len(u.edits) == 0 })
}

// prober makes plans of a profile with one unit moved at a time.
type prober struct {
	from  map[string]any
	like  *profile.Profile
	sound func(*profile.Profile) bool
}

// plan is the plan with the unit moved; nil where that is no sound profile, or has
// no safe plan.
func (p prober) plan(u unit) (*plan.Plan, error) {
	changed, err := edited(p.from, u.edits, p.like)
	if err != nil || !p.sound(changed) {
		return nil, err
	}
	made, err := plan.Build(changed)
	if err != nil || made.Findings.HasErrors() {
		return nil, err
	}
	return made, nil
}

// probes are the decisions of each unit's plan by subject; nil without a plan.
func (p prober) probes(units []unit) ([]map[string]plan.Decision, error) {
	all := make([]map[string]plan.Decision, len(units))
	for i, u := range units {
		made, err := p.plan(u)
		if err != nil {
			return nil, err
		}
		if made != nil {
			all[i] = bySubject(made)
		}
	}
	return all, nil
}

// attribute finds which fields moved, and which of them moved each decision.
func (c *Cluster) attribute(old, new *Side, sound func(*profile.Profile) bool) error {
	before, err := tree(old.Profile)
	if err != nil {
		return err
	}
	after, err := tree(new.Profile)
	if err != nil {
		return err
	}
	there := edits(before, after)
	for _, e := range there {
		c.Inputs = append(c.Inputs, e.input(old.Profile, new.Profile))
	}
	c.Inputs = append(c.Inputs, filesBetween(old, new)...)
	slices.SortStableFunc(c.Inputs, func(x, y Input) int { return cmp.Compare(x.Line, y.Line) })
	if len(c.Decisions) == 0 {
		return nil
	}
	units := unitsOf(there)
	alone, err := prober{before, old.Profile, sound}.probes(units)
	if err != nil {
		return err
	}
	var without []map[string]plan.Decision
	for i := range c.Decisions {
		d := &c.Decisions[i]
		d.Causes = d.causes(units, alone)
		if slices.ContainsFunc(d.Causes, d.explains) {
			continue
		}
		if without == nil {
			back := unitsBack(units, edits(after, before))
			if without, err = (prober{after, new.Profile, sound}).probes(back); err != nil {
				return err
			}
		}
		d.Causes = append(d.Causes, d.parts(units, without)...)
	}
	return nil
}

// unitsBack are the units of the way back, with the same fields as those there.
func unitsBack(units []unit, back []edit) []unit {
	byPath := map[string]edit{}
	for _, e := range back {
		byPath[e.path()] = e
	}
	all := make([]unit, len(units))
	for i, u := range units {
		all[i].name = u.name
		for _, e := range u.edits {
			all[i].edits = append(all[i].edits, byPath[e.path()])
		}
	}
	return all
}

// causes are the units that move the decision alone.
func (d *Decision) causes(units []unit, alone []map[string]plan.Decision) []Cause {
	var all []Cause
	for i, u := range units {
		if alone[i] == nil {
			continue
		}
		got, there := alone[i][d.Subject]
		cause := Cause{Inputs: u.name, Alone: true, State: Moved, Value: got.Value}
		switch had := d.State != New; {
		case had && !there:
			cause.State = Gone
		case !had && there:
			cause.State = New
		case !there || equal(got.Value, d.Before):
			continue
		default:
			cause.By = distance(d.Before, got.Value)
		}
		all = append(all, cause)
	}
	return all
}

// explains reports a cause that alone has the whole effect.
func (d *Decision) explains(c Cause) bool { return c.State == d.State && equal(c.Value, d.After) }

// parts are the units without which the decision would not be what it is, and that
// do not move it alone.
func (d *Decision) parts(units []unit, without []map[string]plan.Decision) []Cause {
	var all []Cause
	for i, u := range units {
		if slices.ContainsFunc(d.Causes, func(c Cause) bool { return c.Inputs == u.name }) {
			continue
		}
		needed := without[i] == nil
		if !needed {
			got, there := without[i][d.Subject]
			needed = there != (d.State != Gone) || there && !equal(got.Value, d.After)
		}
		if needed {
			all = append(all, Cause{Inputs: u.name, State: d.State, Value: d.After})
		}
	}
	return all
}
