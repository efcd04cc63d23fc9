package report

import (
	"math"

	"github.com/meshgen/meshgen/internal/simulate"
)

// bigDay is a made-up day of the usual size: a sale at minute 150 that is met
// too late where nothing is pre-scaled.
func bigDay() simulate.Report {
	return simulate.Report{
		Cluster: "bigsale", Event: "big-sale", Start: "2026-12-19T05:30:00Z", Faults: []string{"zone@19m"},
		Trials: 100, Seed: 1, Headroom: 0.85, Tolerate: 0.01,
		Marks: []simulate.Mark{{Minute: 121, Name: "pre-scale"}, {Minute: 145, Name: "workloads"}, {Minute: 150, Name: "start"}, {Minute: 169, Name: "fault: zone"}, {Minute: 390, Name: "end"}},
		Worlds: []simulate.World{
			bigWorld("running", 250, 5, 38), bigWorld("planned", 121, 0, 46),
		},
		Notes: []string{"Proxies that lose a pod return at once; the callers in the lost zone stay in the mesh."},
	}
}

func bigWorld(name string, scaled, killed, pods float64) simulate.World {
	w := simulate.World{
		Name: name,
		Settings: []simulate.Setting{
			{Name: "connection threshold", Value: map[bool]string{true: "100", false: "80"}[killed > 0], From: "spec.istiod.running.connectionThreshold"},
			{Name: "replicas", Value: "24 to 92", From: "istiod.replicas.min, istiod.replicas.max"},
			{Name: "keepaliveMaxServerConnectionAge", Value: map[bool]string{true: "30m", false: "15m"}[killed > 0], From: "istiod.keepaliveMaxServerConnectionAge"},
			{Name: "memory limit", Value: "800Mi", From: "spec.istiod.resources.memory"},
		},
		HottestConnections: simulate.Quantiles{Median: 221, P99: 244, Worst: 251},
		HottestShare:       simulate.Quantiles{Median: 0.871, P99: 0.962, Worst: 1.013},
		Headroom:           simulate.Quantiles{Median: 0.129, P99: 0.038, Worst: -0.013},
		PodsKilled:         simulate.Quantiles{Median: killed, P99: killed * 2, Worst: killed * 2.4},
		MinutesToBalance:   simulate.Quantiles{Median: 14.5, P99: 17.2, Worst: 18},
		IdlePods:           simulate.Quantiles{Median: 14, P99: 14, Worst: 15},
		ReconnectsPerSec:   simulate.Quantiles{Median: 31.6, P99: 40.2, Worst: 43.1},
		PodHours:           simulate.Quantiles{Median: 1234.5, P99: 1240.25, Worst: 1251},
		TrialsKilled:       int(killed) * 19, TrialsHot: 97, Unbalanced: 2, Safe: killed == 0,
	}
	for i := range 450 {
		w.Series = append(w.Series, bigSample(float64(i), scaled, killed, pods))
	}
	if killed == 0 {
		for i := range w.Series {
			w.Series[i].Share.Worst *= 0.8
			w.Series[i].Share.High *= 0.8
		}
		w.HottestShare = simulate.Quantiles{Median: 0.71, P99: 0.79, Worst: 0.825}
		w.Headroom = simulate.Quantiles{Median: 0.29, P99: 0.21, Worst: 0.175}
		w.TrialsHot, w.Unbalanced = 0, 0
	}
	return w
}

func bigSample(minute, scaled, killed, pods float64) simulate.Sample {
	rise := math.Min(math.Max((minute-150)/20, 0), 1)
	if minute >= 390 {
		rise = 0
	}
	connections := math.Round(1000 + 2600*rise)
	late := 24 + (pods-24)*math.Min(math.Max((minute-scaled)/10, 0), 1)
	ready := math.Round(late)
	lost := 0.0
	if minute >= 169 && minute < 180 {
		lost = math.Round(ready / 2)
	}
	mean := connections / (ready - lost)
	wobble := 1 + 0.03*float64(int(minute)%7)/7
	endpoints := math.Round(1700 + 3700*rise)
	share := func(c float64) float64 { return math.Min((240e6+400*c*endpoints)/838.8608e6, 1.02) }
	dead := 0.0
	if minute > 172 {
		dead = killed * math.Min((minute-172)/12, 1)
	}
	return simulate.Sample{
		Minute: minute, Connections: connections, Endpoints: endpoints, Needed: math.Ceil(connections / 80),
		Desired: ready, Ready: ready - lost, ReadyLow: ready - lost - math.Min(2, killed),
		Share:      simulate.Band{Low: share(mean * 1.1), Median: share(mean * 1.35 * wobble), High: share(mean * 1.5 * wobble), Worst: share(mean * 1.62 * wobble)},
		PerPod:     simulate.Band{Low: mean * 0.7, Median: mean, High: mean * 1.45 * wobble, Worst: mean * 1.62 * wobble},
		Reconnects: connections / 1500 * (1 + 8*lost/ready), Killed: dead,
	}
}
