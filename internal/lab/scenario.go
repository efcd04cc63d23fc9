package lab

import (
	"math"
	"time"

	"github.com/meshgen/meshgen/internal/simulate"
)

// Scenario is istiods that come and go under connections that stay, in seconds:
// what real ones do, and what the simulation plays.
type Scenario struct {
	Connections int64      `json:"connections"`
	Age         int64      `json:"age"`      // keepaliveMaxServerConnectionAge
	Admitted    int64      `json:"admitted"` // connections a second, by one istiod at the most
	Istiods     []Presence `json:"istiods"`
	End         int64      `json:"end"`
}

// Presence is from when to when an istiod serves; To is 0 where that is the end.
type Presence struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// grace is what gRPC adds to a connection's age until it is cut, in seconds, as
// Istio sets it (pkg/keepalive).
const grace = 10

// The two that are played: three istiods, one of which comes to the other two, and
// one of those is lost. Each change is given the time in which every connection
// comes of age once and a half.
var (
	short = threeIstiods(60, 5)
	long  = threeIstiods(240, 20)
)

func threeIstiods(connections, age int64) Scenario {
	life := age*11/10 + grace
	comes := int64(10)
	lost := comes + life*3/2
	return Scenario{
		Connections: connections, Age: age, Admitted: 20, // 15 + 5 for its one core
		Istiods: []Presence{{To: lost}, {}, {From: comes}}, End: lost + life*3/2,
	}
}

// played is a scenario for the simulation, second by second.
func (s Scenario) played() simulate.Redistribution {
	r := simulate.Redistribution{
		Connections: s.Connections, Age: seconds(s.Age), Admitted: s.Admitted, Every: time.Second, End: seconds(s.End),
	}
	for _, i := range s.Istiods {
		r.Istiods = append(r.Istiods, simulate.Presence{From: seconds(i.From), To: seconds(i.To)})
	}
	return r
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// Expected is what the simulation makes of a scenario: mean and standard deviation
// of each istiod's connections at each second, to a hundredth.
type Expected struct {
	Scenario
	Mean      [][]float64 `json:"mean"`
	Deviation [][]float64 `json:"deviation"`
}

func (s Scenario) expected(runs int, seed uint64) Expected {
	all := s.played().Play(runs, seed)
	e := Expected{Scenario: s}
	for i := range all[0] {
		var means, deviations []float64
		for at := range all[0][i] {
			mean, squares := 0.0, 0.0
			for _, run := range all {
				n := float64(run[i][at])
				mean += n / float64(runs)
				squares += float64(n*n) / float64(runs)
			}
			means = append(means, hundredth(mean))
			deviations = append(deviations, hundredth(math.Sqrt(max(0, squares-float64(mean*mean)))))
		}
		e.Mean, e.Deviation = append(e.Mean, means), append(e.Deviation, deviations)
	}
	return e
}

func hundredth(x float64) float64 { return math.Floor(float64(x*100)+0.5) / 100 }
