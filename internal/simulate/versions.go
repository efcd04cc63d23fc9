package simulate

import (
	"fmt"

	"github.com/meshgen/meshgen/internal/plan"
)

// version is a day with the values of one world.
type version struct {
	*day
	values values
}

// versions are today's, the plan's, and where connections weigh by endpoints the
// one that the same profile has with static scaling.
func (d *day) versions() ([]version, error) {
	all := []version{{d, running(d.profile)}, {d, planned(d.plan)}}
	if d.plan.Istiod.Triggers[0].Weight == nil {
		return all, nil
	}
	static := *d.profile
	static.Spec.Istiod.Scaling = "static"
	pl, err := plan.Build(&static)
	if err != nil {
		return nil, err
	}
	other := *d
	other.profile, other.plan = &static, pl
	v := planned(pl)
	v.name = "static"
	return append(all, version{&other, v}), nil
}

// saved says what weighing connections by endpoints comes to.
func saved(planned, static World) string {
	return fmt.Sprintf("static is what scaling: static would plan: %s pods at rest and %s pod-hours on this day, where connections that weigh by endpoints have %s and %s",
		number(static.atRest()), number(static.PodHours.Median), number(planned.atRest()), number(planned.PodHours.Median))
}

// atRest is the pods of the first minute, in the median trial.
func (w World) atRest() float64 { return w.Series[0].Ready }
