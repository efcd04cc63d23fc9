package lab_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	v3 "istio.io/istio/pilot/pkg/xds/v3"
)

// scenario is istiods that come and go under connections that stay, in seconds.
type scenario struct {
	Connections int                      `json:"connections"`
	Age         int                      `json:"age"`
	Admitted    int                      `json:"admitted"`
	Istiods     []struct{ From, To int } `json:"istiods"`
	End         int                      `json:"end"`
}

// simulated is what meshgen's simulation makes of a scenario: mean and standard
// deviation of each istiod's connections at each second.
type simulated struct {
	scenario
	Mean, Deviation [][]float64
}

// scenarios are those of meshgen (internal/lab writes the file): one for a test,
// and one to be drawn.
func scenarios(t *testing.T) (short simulated, long scenario) {
	t.Helper()
	text, err := os.ReadFile("testdata/redistribution.json")
	if err != nil {
		t.Fatal(err)
	}
	all := struct {
		Short simulated
		Long  scenario
	}{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Short, all.Long
}

// grace is what gRPC adds to a connection's age until it is cut, as Istio sets it
// (pkg/keepalive): a stream never ends by itself.
const grace = 10 * time.Second

// play does with real istiods what the simulation plays, and gives each istiod's
// connections at each second. Proxies ask for clusters alone, and come one after
// the other within a life, so that their ages are uniform when it begins.
func (m *mesh) play(t *testing.T, s scenario) [][]int {
	t.Helper()
	age := time.Duration(s.Age) * time.Second
	service := newBalancer(t)
	var istiods []*istiod
	for _, presence := range s.Istiods {
		i := m.newIstiod(t, "--keepaliveMaxServerConnectionAge="+age.String())
		istiods = append(istiods, i)
		if presence.From == 0 {
			service.add(i.xds)
		}
	}
	all := m.newProxies(t, s.Connections)
	for _, p := range all {
		p.only = v3.ClusterType
	}
	stop := connect(t, all, service.Addr().String(), age+grace)
	defer stop()
	time.Sleep(age + grace)

	began := time.Now()
	course := make([][]int, len(istiods))
	for at := 0; at <= s.End; at++ {
		time.Sleep(time.Until(began.Add(time.Duration(at) * time.Second)))
		for k, presence := range s.Istiods {
			switch {
			case at > 0 && at == presence.From:
				service.add(istiods[k].xds)
			case at > 0 && at == presence.To:
				service.remove(istiods[k].xds)
				istiods[k].kill()
			}
			course[k] = append(course[k], istiods[k].connections())
		}
	}
	return course
}

// connections are those that istiod counts, none where it is gone.
func (i *istiod) connections() int {
	all, err := i.metrics()
	if err != nil {
		return 0
	}
	return int(all["pilot_xds"])
}

// sigmas are the standard deviations beyond which a normal value is by chance
// once in a million.
const sigmas = 4.8916

// slow is by how many seconds a machine may lag, or a count be taken late.
const slow = 4

// Connections that come of age fill an istiod that comes, and those of one that
// is lost fill the others, as the simulation has it: at each second within what it
// plays a little earlier or later, chance of one in a million aside.
func (m *mesh) redistributesAsSimulated(t *testing.T) {
	want, _ := scenarios(t)
	got := m.play(t, want.scenario)
	for k := range got {
		for at, n := range got[k] {
			if least, most := want.around(k, at); float64(n) < least || float64(n) > most {
				t.Errorf("istiod %d holds %d connections after %d s, the simulation has %.1f to %.1f", k, n, at, least, most)
			}
		}
	}
	if t.Failed() {
		t.Log(table(got))
	}
}

// around is the least and the most connections that an istiod may have about a
// second.
func (s simulated) around(istiod, at int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for near := max(0, at-slow); near <= min(s.End, at+slow); near++ {
		mean, deviation := s.Mean[istiod][near], s.Deviation[istiod][near]
		least, most = min(least, mean-sigmas*deviation-1), max(most, mean+sigmas*deviation+1)
	}
	return least, most
}

func table(course [][]int) string {
	all := "connections of each istiod"
	for at := range course[0] {
		all += fmt.Sprintf("\n%3d s", at)
		for k := range course {
			all += fmt.Sprintf(" %4d", course[k][at])
		}
	}
	return all
}
