package simulate

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sample"
	"github.com/meshgen/meshgen/schema"
)

var profiles = flag.Int("profiles", 8, "random profiles whose plans are played on their worst day")

// mostPlayed keeps a profile's trials within a second or so.
const mostPlayed = 30_000

// What is planned survives its worst day: with the loss that the profile says is
// survived, at the minute with most connections of the whole calendar, pods are
// killed in at most a hundredth of all trials, and in no profile in more than a
// twentieth of 200. The headroom is passed in at most 15 % of the trials: the
// formula's fullest pod is about the 85th percentile.
func TestPlansSurviveTheirWorstDay(t *testing.T) {
	trials, killed, hot := 0, 0, 0
	const each = 20
	for seed, played := uint64(0), 0; played < *profiles; seed++ {
		p, pl := plannedSample(t, seed)
		if pl == nil {
			continue
		}
		played++
		w := worstDay(t, p, pl, each)
		trials, killed, hot = trials+each, killed+w.TrialsKilled, hot+w.TrialsHot
		if w.TrialsKilled > 0 || w.TrialsHot > 3*each/10 {
			t.Logf("seed %d: killed in %d, hot in %d of %d; share %v; %s", seed, w.TrialsKilled, w.TrialsHot, each, w.HottestShare, brief(p, pl))
		}
		if w.TrialsKilled > 0 {
			if w := worstDay(t, p, pl, 200); w.TrialsKilled > 10 {
				t.Errorf("seed %d: a pod is killed in %d of 200 trials, hot in %d, share %v", seed, w.TrialsKilled, w.TrialsHot, w.HottestShare)
			}
		}
	}
	t.Logf("%d trials: killed in %d, above the headroom in %d", trials, killed, hot)
	if 100*killed > trials {
		t.Errorf("a pod is killed in %d of %d trials, more than 1 %%", killed, trials)
	}
	if 100*hot > 15*trials {
		t.Errorf("the headroom is passed in %d of %d trials, more than 15 %%", hot, trials)
	}
}

// plannedSample is a random profile with a plan without errors, of a mesh that is
// not too large to play; nil for other seeds.
func plannedSample(t *testing.T, seed uint64) (*profile.Profile, *plan.Plan) {
	t.Helper()
	p, found := schema.Load(fstest.MapFS{"profile.yaml": {Data: sample.Random(seed, nil)}}, "profile.yaml")
	if p == nil {
		t.Fatal(found)
	}
	pl, err := plan.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	if pl.Findings.HasErrors() || worstLoad(pl) > mostPlayed {
		return nil, nil
	}
	return p, pl
}

func worstLoad(pl *plan.Plan) int64 {
	d, _ := pl.Decision("istiod.connectionThreshold")
	for _, t := range d.Terms {
		if t.Name == "Cp" {
			return t.Value.Num().Int64()
		}
	}
	return 0
}

// worstDay plays the planned world with the loss that must be survived, until
// half an hour after it.
func worstDay(t *testing.T, p *profile.Profile, pl *plan.Plan, trials int) World {
	t.Helper()
	d, err := dayOf(p, pl, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.disturb([]string{survivable(p)}); err != nil {
		t.Fatal(err)
	}
	v := planned(pl)
	w, err := d.world(v)
	if err != nil {
		t.Fatal(err)
	}
	w.end = min(w.end, w.faults[0].at+30*minute)
	records, pods, err := play(context.Background(), w, trials, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.summary(v, records, pods, 0.01)
}

func survivable(p *profile.Profile) string {
	switch s := p.Spec.Istiod.Survive; s.Mode {
	case "zone":
		return "zone"
	case "pod":
		return "pods=1"
	default:
		share, _ := s.Share.Float64()
		return fmt.Sprintf("pods=%g%%", share*100)
	}
}

func brief(p *profile.Profile, pl *plan.Plan) string {
	text := survivable(p)
	for _, s := range []string{"istiod.connectionThreshold", "istiod.replicas.min", "istiod.fallback.replicas", "istiod.keepaliveMaxServerConnectionAge"} {
		d, _ := pl.Decision(s)
		text += fmt.Sprintf(" %s=%v", s, d.Value)
	}
	d, _ := pl.Decision("istiod.connectionThreshold")
	for _, term := range d.Terms {
		switch term.Name {
		case "Cp", "Ep", "Cr", "Er", "rho", "NSafe", "hot", "memorySafe", "binds", "A", "h":
			text += " " + term.Name + "=" + term.Short()
		}
	}
	return text
}
