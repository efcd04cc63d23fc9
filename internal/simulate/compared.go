package simulate

import "slices"

// Comparison is one setting as every world has it.
type Comparison struct {
	Name    string
	Differs bool
	Worlds  []Setting // of that name; empty where a world has none
}

// Compared are the settings of all worlds side by side, in the order in which the
// worlds name them.
func (r *Report) Compared() []Comparison {
	var all []Comparison
	for _, w := range r.Worlds {
		for _, s := range w.Settings {
			if !slices.ContainsFunc(all, func(c Comparison) bool { return c.Name == s.Name }) {
				all = append(all, r.compare(s.Name))
			}
		}
	}
	return all
}

func (r *Report) compare(name string) Comparison {
	c := Comparison{Name: name}
	for _, w := range r.Worlds {
		var own Setting
		if i := slices.IndexFunc(w.Settings, func(s Setting) bool { return s.Name == name }); i >= 0 {
			own = w.Settings[i]
		}
		c.Worlds = append(c.Worlds, own)
		c.Differs = c.Differs || own.Value != c.Worlds[0].Value
	}
	return c
}
