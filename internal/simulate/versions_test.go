package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// weightedSale is bigsale whose connections weigh by endpoints, bent by a case.
func weightedSale(t *testing.T, bend func(*profile.Istiod)) (*profile.Profile, *plan.Plan) {
	t.Helper()
	p, _ := example(t, "bigsale")
	p.Spec.Istiod.Scaling, p.Spec.Metrics.Endpoints = "weighted", "mesh_endpoints"
	bend(&p.Spec.Istiod)
	pl, err := plan.Build(p)
	if err != nil || pl.Findings.HasErrors() {
		t.Fatal(err, pl.Findings)
	}
	return p, pl
}

// floors are the rows of docs/weighted.md.
var floors = map[string]func(*profile.Istiod){
	"as it is, 24 today": func(*profile.Istiod) {},
	"allowLowerFloor":    func(i *profile.Istiod) { i.AllowLowerFloor = true },
	"allowLowerFloor, holdUnscaled: false": func(i *profile.Istiod) {
		i.AllowLowerFloor, i.HoldUnscaled = true, false
	},
}

// docs/weighted.md says what the trigger that weighs comes to beside the static one:
// every figure of its table is played here. Nothing is lost at the planned peak, with
// a zone lost there neither, and never are there more pod-hours.
func TestWeightedSavesAtRestAndLosesNothingAtThePeak(t *testing.T) {
	page, err := os.ReadFile("../../docs/weighted.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 8 || floors[cells[0]] == nil {
			continue
		}
		rows++
		t.Run(cells[0]+" "+cells[1], func(t *testing.T) {
			p, pl := weightedSale(t, floors[cells[0]])
			o := Options{Trials: 20, Seed: 1, Tolerate: 0.01}
			if cells[1] != "none" {
				o.Faults = []string{cells[1]}
			}
			r, err := Run(context.Background(), p, pl, o)
			if err != nil {
				t.Fatal(err)
			}
			judgeSaving(t, r, cells)
		})
	}
	if rows != 7 {
		t.Errorf("%d rows", rows)
	}
}

func judgeSaving(t *testing.T, r *Report, cells []string) {
	t.Helper()
	weighted, static := r.Worlds[1], r.Worlds[2]
	got := []string{
		number(static.atRest()), number(weighted.atRest()), number(static.PodHours.Median), number(weighted.PodHours.Median),
		fmt.Sprint(static.TrialsKilled), fmt.Sprint(weighted.TrialsKilled),
	}
	if want := strings.Join(cells[2:], " | "); strings.Join(got, " | ") != want {
		t.Errorf("played %s, docs/weighted.md has %s", strings.Join(got, " | "), want)
	}
	if cells[1] != "no-prescale" { // the event is announced
		if weighted.PodHours.Worst > static.PodHours.Worst {
			t.Errorf("%v pod-hours, %v without weights", weighted.PodHours, static.PodHours)
		}
		if weighted.TrialsKilled > 0 || weighted.most() != static.most() {
			t.Errorf("killed in %d trials with %v pods at the peak, where static has %v", weighted.TrialsKilled, weighted.most(), static.most())
		}
	}
	if note := r.Notes[len(r.Notes)-1]; !strings.Contains(note, number(static.PodHours.Median)) || !strings.HasPrefix(note, "static is what") {
		t.Errorf("the last note is %q", note)
	}
}

// While the series of endpoints is away the trigger asks for what the static one
// does, and weighs again when it is back.
func TestLostEndpointsCountAsThoseOfTheWorstMoment(t *testing.T) {
	p, pl := weightedSale(t, floors["allowLowerFloor, holdUnscaled: false"])
	d, err := dayOf(p, pl, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.disturb([]string{"endpoints=10m@-80m"}); err != nil {
		t.Fatal(err)
	}
	w, err := d.world(planned(pl))
	if err != nil {
		t.Fatal(err)
	}
	played := &trial{world: w}
	played.begin(rand.NewPCG(1, 1))
	for _, c := range []struct {
		minutes float64
		desired int64
	}{{8, 8}, {9 + 1, 8}, {9 + 3, 14}, {9 + 10, 14}, {9 + 35, 8}} {
		if got := stateAt(played, c.minutes); got.desired != c.desired {
			t.Errorf("minute %v: %d pods are asked for, want %d", c.minutes, got.desired, c.desired)
		}
	}
}
