package sample

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/meshgen/meshgen/internal/calibrate"
)

// Measured is what Prometheus would have seen of a mesh whose truth is known. What
// is measured of a pod is off by a share that is the pod's own, a share that
// drifts, a share that all pods have in an hour, and bytes that are each sample's
// own. The same seed gives the same measurements.
type Measured struct {
	Seed  uint64
	Pods  int
	Hours int
	Step  float64 // seconds between scrapes
	Lives float64 // hours until a pod is replaced; 0 is never

	Base, PerConnection, PerEndpoint float64         // the memory model, bytes
	Push                             *calibrate.Push // of the law of the push; nil: the field's
	ReconnectCost                    float64         // core·s
	Quiet, Peak                      float64         // endpoints

	OfPod, Drift, Shared float64 // standard deviations, as shares
	Own                  float64 // standard deviation, bytes

	Leak     float64 // bytes an hour of a pod's life
	Jump     float64 // bytes, from JumpHour on
	JumpHour float64
	Wave     float64 // bytes, up and down with the day, most at 21:00

	Version string // of istiod
}

// MeasuredFrom is the first moment, in Unix seconds.
var MeasuredFrom = float64(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC).Unix())

// TypicalMeasured is a day of a mesh as one that scaled for a sale.
func TypicalMeasured(seed uint64) Measured {
	return Measured{
		Seed: seed, Pods: 10, Hours: 24, Step: 600, Base: 240e6, PerEndpoint: 400, ReconnectCost: 0.05,
		Quiet: 1700, Peak: 5400, OfPod: 0.03, Drift: 0.03, Shared: 0.01, Own: 8e6, JumpHour: 40,
	}
}

// Truth is the coefficients by the names of calibrate's estimates.
func (m Measured) Truth() map[string]float64 {
	truth := map[string]float64{"base": m.Base, "bytesPerConnection": m.PerConnection, "reconnectCost": m.ReconnectCost}
	if m.Push != nil {
		truth["bytesPerEndpoint"] = m.PerEndpoint
	} else {
		truth["bytesPerConnectionEndpoint"] = m.PerEndpoint
	}
	return truth
}

// law is the bytes that connections and endpoints explain.
func (m Measured) law(connections, endpoints float64) float64 {
	if p := m.Push; p != nil {
		return m.Base + p.HeapGrowth*(m.PerConnection*connections+m.PerEndpoint*endpoints) + p.Buffers(connections, endpoints)
	}
	return m.Base + connections*(m.PerConnection+m.PerEndpoint*endpoints)
}

// TypicalPush is the same day of a mesh whose memory is what a push takes.
func TypicalPush(seed uint64) Measured {
	m := TypicalMeasured(seed)
	m.PerConnection, m.PerEndpoint = 150_000, 8_000
	m.Push = &calibrate.Push{MessageBytes: 73, VisibleShare: 1, HeapGrowth: 1.5}
	return m
}

// endpoints rise and fall in the first half of each day, and are quiet in the other.
func (m Measured) endpoints(at float64) float64 {
	days := (at - MeasuredFrom) / 86400
	busy := math.Max(0, math.Sin(2*math.Pi*days)) * (0.6 + 0.4*math.Sin(days))
	return math.Round(m.Quiet + (m.Peak-m.Quiet)*busy)
}

// driven is the bytes that neither connections nor endpoints explain.
func (m Measured) driven(at, born float64) float64 {
	hours := (at - MeasuredFrom) / 3600
	bytes := m.Leak*(at-born)/3600 + m.Wave*math.Cos(2*math.Pi*(hours-21)/24)
	if hours >= m.JumpHour {
		bytes += m.Jump
	}
	return bytes
}

// Input is the series. No two of them are scraped at the same moment.
func (m Measured) Input() calibrate.Input {
	r := rand.New(rand.NewPCG(m.Seed, 1))
	in := calibrate.Input{Endpoints: []calibrate.Series{{Labels: map[string]string{}}}}
	shared := make([]float64, m.Hours)
	for hour := range shared {
		shared[hour] = r.NormFloat64() * m.Shared
	}
	for at := MeasuredFrom; at < m.end(); at += m.Step {
		in.Endpoints[0].Points = append(in.Endpoints[0].Points, calibrate.Point{At: at + 7, Value: m.endpoints(at)})
	}
	for pod := range m.Pods {
		m.follow(&in, r, fmt.Sprintf("istiod-%02d", pod), shared)
	}
	return in
}

func (m Measured) end() float64 { return MeasuredFrom + float64(m.Hours)*3600 }

// measuredPod is a pod's series as they grow.
type measuredPod struct{ memory, connections, cpu, sent, build []calibrate.Point }

// follow is a place in the Deployment, and the pods that take it one after another.
func (m Measured) follow(in *calibrate.Input, r *rand.Rand, name string, shared []float64) {
	var p measuredPod
	own, drift, level, used, count := r.NormFloat64()*m.OfPod, 0.0, 20+r.Float64()*200, 0.0, 0.0
	born := MeasuredFrom
	for at := born + r.Float64()*20; at < m.end(); at += m.Step {
		if m.Lives > 0 && at-born > m.Lives*3600 {
			p.into(in, name, m.Version)
			p, name = measuredPod{}, name+"x"
			own, born, used, count = r.NormFloat64()*m.OfPod, at, 0, 0
		}
		level = math.Max(5, level+r.NormFloat64()*9-0.02*(level-120))
		drift = 0.9*drift + math.Sqrt(1-0.81)*r.NormFloat64()*m.Drift
		share := 1 + own + drift + shared[int((at-MeasuredFrom)/3600)]
		connections := math.Round(level)
		law := m.law(connections, m.endpoints(at))
		back := float64(r.IntN(1 + int(connections/2)))
		count += back
		used += back*m.ReconnectCost + m.Step*0.02*math.Exp(r.NormFloat64()*0.3)
		p.memory = append(p.memory, calibrate.Point{At: at, Value: math.Round(law*share + r.NormFloat64()*m.Own + m.driven(at, born))})
		p.connections = append(p.connections, calibrate.Point{At: at + 3, Value: connections})
		p.cpu = append(p.cpu, calibrate.Point{At: at + 2, Value: math.Round(used*1000) / 1000})
		p.sent = append(p.sent, calibrate.Point{At: at + 5, Value: count})
		p.build = append(p.build, calibrate.Point{At: at + 5, Value: 1})
	}
	p.into(in, name, m.Version)
}

func (p measuredPod) into(in *calibrate.Input, name, version string) {
	of := func(points []calibrate.Point, label, value string) calibrate.Series {
		labels := map[string]string{"pod": name}
		if value != "" {
			labels[label] = value
		}
		return calibrate.Series{Labels: labels, Points: points}
	}
	in.Memory = append(in.Memory, of(p.memory, "", ""))
	in.Connections = append(in.Connections, of(p.connections, "version", "1.24.1"))
	in.CPU = append(in.CPU, of(p.cpu, "", ""))
	in.Reconnects = append(in.Reconnects, of(p.sent, "", ""))
	if version != "" {
		in.Builds = append(in.Builds, of(p.build, "tag", version))
	}
}

// CSV is the measurements as calibrate reads them from a file: a row for each
// sample of a pod.
func (m Measured) CSV() []byte {
	in := m.Input()
	var b bytes.Buffer
	b.WriteString("time,pod,memory_bytes,connections,endpoints,cpu_seconds,reconnects,istio_version\n")
	for i, s := range in.Memory {
		for j, p := range s.Points {
			at := time.Unix(int64(p.At), 0).UTC().Format(time.RFC3339)
			fmt.Fprintf(&b, "%s,%s,%.0f,%.0f,%.0f,%v,%.0f,%s\n", at, s.Labels["pod"], p.Value,
				in.Connections[i].Points[j].Value, m.endpoints(p.At), in.CPU[i].Points[j].Value, in.Reconnects[i].Points[j].Value, m.Version)
		}
	}
	return b.Bytes()
}
