package report

import (
	"slices"

	"github.com/meshgen/meshgen/internal/simulate"
)

// comparison is one setting as every world has it.
type comparison struct {
	Name    string
	Differs bool
	Worlds  []simulate.Setting // of that name; empty where a world has none
}

// compareSettings puts the settings of all worlds side by side, in the order in which
// the worlds name them.
func compareSettings(worlds []simulate.World) []comparison {
	var all []comparison
	for _, w := range worlds {
		for _, s := range w.Settings {
			if !slices.ContainsFunc(all, func(c comparison) bool { return c.Name == s.Name }) {
				all = append(all, compareSetting(s.Name, worlds))
			}
		}
	}
	return all
}

func compareSetting(name string, worlds []simulate.World) comparison {
	c := comparison{Name: name}
	for _, w := range worlds {
		var own simulate.Setting
		if i := slices.IndexFunc(w.Settings, func(s simulate.Setting) bool { return s.Name == name }); i >= 0 {
			own = w.Settings[i]
		}
		c.Worlds = append(c.Worlds, own)
		c.Differs = c.Differs || own.Value != c.Worlds[0].Value
	}
	return c
}
