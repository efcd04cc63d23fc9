package simulate

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
)

// values are what istiod is configured with, in one of the two worlds.
type values struct {
	name        string
	age         time.Duration
	cores       *big.Rat // the CPU limit
	scaling     scaling
	surge       share
	unavailable share
	calendar    bool // triggers of istiod and of the workloads go before events
	settings    []Setting
	err         error
}

func (v *values) set(name, from, format string, args ...any) {
	v.settings = append(v.settings, Setting{name, fmt.Sprintf(format, args...), from})
}

// The HPA's defaults (Kubernetes API, HPAScalingRules) and what generators/istiod
// writes for scaling out: double, or four more, every 15 seconds.
func doubling() []policy {
	return []policy{{percent: 100, period: 15_000}, {pods: 4, period: 15_000}}
}

// planned are the values that the plan decides, as generators/istiod writes them.
func planned(pl *plan.Plan) values {
	v := values{name: "planned", cores: new(big.Rat), calendar: true}
	v.cores.SetInt64(v.whole(pl, "istiod.cpu"))
	v.age = v.duration(pl, "istiod.keepaliveMaxServerConnectionAge")
	up := v.duration(pl, "istiod.scaleUp.stabilizationWindow")
	v.scaling = scaling{
		threshold: v.whole(pl, "istiod.connectionThreshold"),
		min:       v.whole(pl, "istiod.replicas.min"), max: v.whole(pl, "istiod.replicas.max"),
		fallback: v.whole(pl, "istiod.fallback.replicas"),
		// the query looks back for what the window has beyond one sync (plan: triggers)
		lookback: (up - 15*time.Second).Milliseconds(),
		up:       rules{up.Milliseconds(), doubling()},
		down:     rules{600_000, []policy{{percent: 10, period: 60_000}}},
	}
	if pl.Istiod.HardZoneSpread {
		v.scaling.multiple = pl.Istiod.Zones
	}
	v.scaling.weight = pl.Istiod.Triggers[0].Weight
	v.surge = v.percent(pl, "istiod.rollout.maxSurge")
	v.set("connection threshold", "istiod.connectionThreshold", "%d", v.scaling.threshold)
	if w := v.scaling.weight; w != nil {
		v.set("connections × endpoints", "istiod.connectionBudget", "%d", w.Budget(v.scaling.threshold))
	}
	v.set("connection age", "istiod.keepaliveMaxServerConnectionAge", "%s", durationText(v.age))
	v.set("fewest replicas", "istiod.replicas.min", "%d", v.scaling.min)
	v.set("most replicas", "istiod.replicas.max", "%d", v.scaling.max)
	for _, t := range pl.Istiod.Triggers {
		if t.Event != "" {
			v.set("ahead of "+t.Event, "istiod.prescale.window."+t.Event, "%d", t.Replicas)
		}
	}
	v.set("without Prometheus", "istiod.fallback.replicas", "%d, or those that run", v.scaling.fallback)
	v.set("scale out", "istiod.scaleUp.stabilizationWindow", "after %s, double or 4 more every 15s", durationText(up))
	v.set("scale in", "the written ScaledObject", "after 10m, a tenth a minute")
	v.set("rollout", "istiod.rollout.maxSurge", "25 %% more, none taken first")
	v.set("CPU", "istiod.cpu", "%s", v.cores.RatString())
	v.set("memory", "spec.istiod.resources.memory", "%s", pl.Istiod.Memory)
	return v
}

func (v *values) whole(pl *plan.Plan, subject string) int64 {
	n, err := pl.Int(subject)
	v.fail(err)
	return n
}

func (v *values) duration(pl *plan.Plan, subject string) time.Duration {
	text, err := pl.Text(subject)
	v.fail(err)
	d, err := time.ParseDuration(text)
	v.fail(err)
	return d
}

// percent is a share that is written as "25%".
func (v *values) percent(pl *plan.Plan, subject string) share {
	text, err := pl.Text(subject)
	v.fail(err)
	n, err := strconv.ParseInt(text[:max(0, len(text)-1)], 10, 64)
	v.fail(err)
	return share{millionths: n * 10_000}
}

func (v *values) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// The istiod chart's defaults, the same in Istio 1.21 to 1.31 (its values.yaml).
const (
	chartAge         = 30 * time.Minute
	chartMin         = 1
	chartMax         = 5
	chartUtilization = 0.80
	chartRequest     = 0.5 // cores
	kedaMax          = 100 // maxReplicaCount
)

// running are the values of today: the profile's, and the chart's defaults.
func running(p *profile.Profile) values {
	r, i := p.Spec.Istiod.Running, p.Spec.Istiod
	v := values{name: "running", age: chartAge, cores: &i.Resources.CPU.Rat}
	v.scaling = scaling{
		min: chartMin, max: chartMax, lookback: p.Spec.Metrics.ScrapeInterval.Milliseconds(),
		up: rules{0, doubling()}, down: rules{300_000, []policy{{percent: 100, period: 15_000}}},
	}
	chart, behavior := defaultsOf+" the chart of Istio "+p.Spec.Istio.Version, defaultsOf+" the HPA"
	least, most := chart, chart
	if r.ConnectionThreshold != nil {
		v.scaling.threshold, v.scaling.max = *r.ConnectionThreshold, kedaMax
		least, most = defaultsOf+" KEDA", defaultsOf+" KEDA"
		v.set("connection threshold", runningField("connectionThreshold"), "%d", v.scaling.threshold)
	} else {
		cost, _ := i.ReconnectCost.Float64()
		v.scaling.cpuPerReconnect, v.scaling.cpuTarget = cost, chartUtilization*chartRequest
		v.set("CPU to scale at", chart, "80 %% of 500m")
	}
	from := chart
	if r.KeepaliveMaxServerConnectionAge != nil {
		v.age, from = r.KeepaliveMaxServerConnectionAge.Duration, runningField("keepaliveMaxServerConnectionAge")
	}
	v.set("connection age", from, "%s", durationText(v.age))
	if r.MinReplicas != nil {
		v.scaling.min, least = max(1, *r.MinReplicas), runningField("minReplicas")
	}
	if r.MaxReplicas != nil {
		v.scaling.max, most = *r.MaxReplicas, runningField("maxReplicas")
	}
	v.scaling.max = max(v.scaling.min, v.scaling.max)
	v.set("fewest replicas", least, "%d", v.scaling.min)
	v.set("most replicas", most, "%d", v.scaling.max)
	v.set("scale out", behavior, "at once, double or 4 more every 15s")
	v.set("scale in", behavior, "after 5m, all at once")
	v.set("rollout", chart, "100 %% more, 25 %% taken first")
	v.surge, v.unavailable = share{millionths: 1_000_000}, share{millionths: 250_000}
	v.set("CPU", "spec.istiod.resources.cpu", "%s", i.Resources.CPU.Text)
	v.set("memory", "spec.istiod.resources.memory", "%s", i.Resources.Memory.Text)
	return v
}

// defaultsOf begins where a setting is from that is nobody's choice.
const defaultsOf = "default of"

func runningField(name string) string { return "spec.istiod.running." + name }

// nothingRuns reports whether the profile says nothing of what runs today.
func nothingRuns(p *profile.Profile) bool {
	r := p.Spec.Istiod.Running
	return r.ConnectionThreshold == nil && r.KeepaliveMaxServerConnectionAge == nil && r.MinReplicas == nil && r.MaxReplicas == nil
}

// interval is the microseconds between two connections that a pod admits: its
// admission limit min(15 + 5·⌈cpu⌉, 100) a second, or what its cores can serve,
// cpu/c, whichever is less.
func interval(cores, cost *big.Rat) int64 {
	whole := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(cores.Num()), cores.Denom()))
	most := big.NewRat(min(15+5*min(whole.Int64(), 20), 100), 1)
	if cost.Sign() > 0 {
		if served := new(big.Rat).Quo(cores, cost); served.Cmp(most) < 0 {
			most = served
		}
	}
	each := new(big.Rat).Quo(big.NewRat(1_000_000, 1), most)
	f, _ := each.Float64()
	return int64(min(f, 1e12) + 0.5)
}

// durationText is a duration without the zeros at its end.
func durationText(d time.Duration) string {
	text := d.String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		text = whole + "m"
	}
	if whole, ok := strings.CutSuffix(text, "h0m"); ok {
		text = whole + "h"
	}
	return text
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
