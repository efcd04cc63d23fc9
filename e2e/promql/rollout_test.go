package promql_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// rollout replaces all pods of istiod as the Deployment controller does: with at
// most surge pods more than there are to be, and with unavailable fewer that are
// ready. Times are seconds.
type rollout struct {
	pods, surge, unavailable int
	podReady, scrape         int // 60 s until a pod is ready is the profiles' default
	connections              float64
}

// begins is when the rollout begins, and lasts for how long it is watched.
const (
	begins = 300
	lasts  = 900
)

// pod is one of istiod's. One that has not gone yet goes never.
type pod struct {
	made, ready, gone int
	connections       float64
	samples           []string // by second, in the notation of Prometheus' own tests
}

const never = math.MaxInt

func (p *pod) readyAt(now int) bool { return p.ready <= now && now < p.gone }

// run is the series of all pods, and how many pods there were at each second.
func (r rollout) run() (series string, pods []int) {
	var all []*pod
	for range r.pods {
		all = append(all, &pod{gone: never, connections: r.connections / float64(r.pods)})
	}
	for now := range begins + lasts {
		if now >= begins {
			all = r.step(all, now)
		}
		for i, p := range all {
			p.scrape(now, r.scrape, 7*i%r.scrape)
		}
		pods = append(pods, count(all, func(p *pod) bool { return now < p.gone }))
	}
	var text strings.Builder
	text.WriteString("load 1s\n")
	for i, p := range all {
		fmt.Fprintf(&text, "  pilot_xds{namespace=\"istio-system\",pod=\"istiod-5c4f9-%05d\",version=\"1.29.1\",cluster=\"prod\"} %s\n", i, strings.Join(p.samples, " "))
	}
	return text.String(), pods
}

// step is what the Deployment controller does at a second, and what proxies do:
// those of a pod that goes connect to the others at once.
func (r rollout) step(all []*pod, now int) []*pod {
	dropped := 0.0
	for _, p := range all[:r.pods] {
		if ready := count(all, func(p *pod) bool { return p.readyAt(now) }); p.gone == never && ready > r.pods-r.unavailable {
			p.gone = now
			dropped += p.connections
		}
	}
	ready := count(all, func(p *pod) bool { return p.readyAt(now) })
	for _, p := range all {
		if p.readyAt(now) {
			p.connections += dropped / float64(ready)
		}
	}
	for len(all) < 2*r.pods && count(all, func(p *pod) bool { return now < p.gone }) < r.pods+r.surge {
		all = append(all, &pod{made: now, ready: now + r.podReady, gone: never, samples: slices.Repeat([]string{"_"}, now)})
	}
	return all
}

func count(pods []*pod, of func(*pod) bool) int {
	n := 0
	for _, p := range pods {
		if of(p) {
			n++
		}
	}
	return n
}

// scrape adds what Prometheus has of a pod at a second: a sample each interval
// while it is ready, then the mark that it has gone.
func (p *pod) scrape(now, interval, phase int) {
	text := "_"
	switch due := now%interval == phase; {
	case due && p.readyAt(now):
		text = strconv.FormatFloat(p.connections, 'f', 3, 64)
	case due && now >= p.gone && now < p.gone+interval:
		text = "stale"
	}
	p.samples = append(p.samples, text)
}

// autoscaler is what the HPA makes of the connection trigger: its tolerance of a
// tenth, and its scale-up stabilization, which acts on the least that was asked
// for within the window.
type autoscaler struct {
	query              string
	threshold          float64
	window             int
	minimum, asked     int
	recommended, times []int
}

// tolerance is the HPA's: a ratio so near to 1 changes nothing.
const tolerance = 0.1

// recommend is one round of the HPA, which holds the pods that there are, surge
// included, against the metric.
func (a *autoscaler) recommend(t *testing.T, p prometheus, now, pods int) {
	t.Helper()
	total, answered := p.ask(t, a.query, time.Unix(int64(now), 0))
	if !answered {
		t.Fatalf("no answer after %d s", now)
	}
	wanted := pods
	if ratio := total / (a.threshold * float64(pods)); math.Abs(ratio-1) > tolerance {
		wanted = int(math.Ceil(total / a.threshold))
	}
	a.recommended, a.times = append(a.recommended, max(wanted, a.minimum)), append(a.times, now)
	least := never
	for i, at := range a.times {
		if at > now-a.window {
			least = min(least, a.recommended[i])
		}
	}
	if now >= begins {
		a.asked = max(a.asked, least)
	}
}

// watch is the most pods that the HPA asks for during a rollout, with the trigger
// and the threshold of a ScaledObject and a scale-up window.
func (r rollout) watch(t *testing.T, of scaledObject, window int) int {
	t.Helper()
	series, pods := r.run()
	p := newPrometheus(t, series)
	trigger := of.connections(t)
	threshold, err := strconv.ParseFloat(trigger.Metadata["threshold"], 64)
	if err != nil {
		t.Fatal(err)
	}
	a := autoscaler{query: trigger.Metadata["query"], threshold: threshold, window: window, minimum: r.pods}
	for now := begins / 2; now < begins+lasts; now += 15 {
		a.recommend(t, p, now, pods[now])
	}
	if last := pods[len(pods)-1]; last != r.pods {
		t.Fatalf("the rollout has not ended: %d pods, want %d", last, r.pods)
	}
	return a.asked
}

// quarter and double are how the planned rollout and the chart's own replace n
// pods.
func quarter(n int) rollout { return rollout{pods: n, surge: (n + 3) / 4} }

func double(n int) rollout { return rollout{pods: n, surge: n, unavailable: n / 4} }

// A rollout at rest makes the HPA ask for no pod more, with pods that are ready as
// soon as the plan assumes: what is counted twice stays below what the floor has
// to spare, or is over before the scale-up window is.
func TestARolloutAtRestScalesNothing(t *testing.T) {
	for _, name := range cluster.Names(t) {
		t.Run(name, func(t *testing.T) {
			plan, profile := cluster.Plan(t, cluster.Example(name)), cluster.ReadProfile(t, cluster.Example(name))
			of := istiod(t, cluster.Folder(name))
			n := int(plan["istiod.replicas.min"].Value.(float64))
			for _, r := range []rollout{quarter(n), double(n)} {
				r.podReady, r.scrape, r.connections = 60, 15, float64(profile.Istiod.Load.Connections)
				if asked := r.watch(t, of, of.scaleUpWindow()); asked != n {
					t.Errorf("%+v: the HPA asks for %d pods", r, asked)
				}
			}
		})
	}
}

// Where every pod holds as many connections as the threshold says, a rollout that
// doubles the pods counts all of them twice for a minute. The scale-up window
// outlasts that; one as long as the minute less a round of the HPA would not.
func TestARolloutThatDoublesThePodsScalesNothing(t *testing.T) {
	plan := cluster.Plan(t, cluster.Example("bigsale"))
	of := istiod(t, cluster.Folder("bigsale"))
	r := double(int(plan["istiod.replicas.event.big-sale"].Value.(float64)))
	r.podReady, r.scrape = 60, 15
	r.connections = float64(r.pods) * plan["istiod.connectionThreshold"].Value.(float64)
	if asked := r.watch(t, of, of.scaleUpWindow()); asked != r.pods {
		t.Errorf("the HPA asks for %d pods, want the %d that there are", asked, r.pods)
	}
	if asked := r.watch(t, of, 45); asked <= r.pods {
		t.Errorf("within 45 s the HPA asks for %d pods: the test sees nothing of the rollout", asked)
	}
}

// scaleUpWindow is the HPA's scale-up stabilization, in seconds.
func (o scaledObject) scaleUpWindow() int { return o.Spec.Advanced.HPA.Behavior.ScaleUp.Window }
