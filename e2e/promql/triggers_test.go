package promql_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// scaledObject is what the tests read of a rendered ScaledObject.
type scaledObject struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct{ Triggers []trigger }
}

type trigger struct {
	Type, Name, MetricType string
	Metadata               map[string]string
}

// scaledObjects are those that meshgen rendered for a cluster. Triggers that it
// adds to a ScaledObject of the user's own are a patch; no example has them, and
// one that had would have to be judged here.
func scaledObjects(t *testing.T, name string) []scaledObject {
	t.Helper()
	if patches := cluster.Rendered(t, name, "workloads/*/triggers-*.yaml"); len(patches) > 0 {
		t.Fatalf("%d patches of triggers, the first in %s: judge them too", len(patches), patches[0].Path)
	}
	files := append(cluster.Rendered(t, name, "istiod/scaledobject-*.yaml"), cluster.Rendered(t, name, "workloads/*/scaledobject-*.yaml")...)
	var all []scaledObject
	for _, file := range files {
		var object scaledObject
		if err := yaml.Unmarshal([]byte(file.Text), &object); err != nil || object.Kind != "ScaledObject" {
			t.Fatalf("%s: kind %q, %v; want a ScaledObject", file.Path, object.Kind, err)
		}
		all = append(all, object)
	}
	return all
}

// prometheus is the engine of Prometheus over some series.
type prometheus struct {
	*promql.Engine
	series storage.Queryable
}

// newPrometheus has the series that are given in the notation of Prometheus' own
// tests.
func newPrometheus(t *testing.T, series string) prometheus {
	t.Helper()
	return prometheus{
		promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery),
		promqltest.LoadedStorage(t, series),
	}
}

// ask is what KEDA gets from Prometheus at some moment: one number, and none
// where the answer is an empty vector.
func (p prometheus) ask(t *testing.T, query string, at time.Time) (value float64, answered bool) {
	t.Helper()
	asked, err := p.NewInstantQuery(context.Background(), p.series, nil, query, at)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer asked.Close()
	answer := asked.Exec(context.Background())
	vector, err := answer.Vector()
	if err != nil {
		t.Fatalf("%s: %v; KEDA needs a vector", query, err)
	}
	if len(vector) > 1 {
		t.Fatalf("%s: %d elements; KEDA takes no more than one", query, len(vector))
	}
	if len(vector) == 0 {
		return 0, false
	}
	return vector[0].F, true
}

// Each trigger of a dated event asks for the planned pods from the planned
// moment until the event's end, and for none before, after, or in another year.
func TestDatedEventsAskInTheirWindow(t *testing.T) {
	p := newPrometheus(t, "")
	triggers := map[string]int{}
	for _, name := range cluster.Names(t) {
		plan, events := cluster.Plan(t, cluster.Example(name)), dated(cluster.ReadProfile(t, cluster.Example(name)))
		for _, object := range scaledObjects(t, name) {
			for _, event := range events {
				subject := subject(object)
				pods, planned := plan[subject+".replicas.event."+event].Value.(float64)
				found := triggerOf(object, event)
				if planned != (found != nil) {
					t.Fatalf("%s: %s: event %s is planned: %v, has a trigger: %v", name, subject, event, planned, found != nil)
				}
				if planned {
					triggers[name]++
					p.judgeWindow(t, *found, pods, plan[subject+".prescale.window."+event])
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"bigsale": 4, "thousand": 207}, triggers); diff != "" {
		t.Errorf("triggers judged, by cluster (-want +got):\n%s", diff)
	}
}

// dated are the names of the events with a date.
func dated(p cluster.Profile) []string {
	var names []string
	for _, e := range p.Events {
		if e.Start != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// subject is what the plan calls the target of a ScaledObject.
func subject(o scaledObject) string {
	if o.Metadata.Name == "istiod" {
		return "istiod"
	}
	return "workload/" + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// triggerOf is the trigger of an event; nil where there is none.
func triggerOf(o scaledObject, event string) *trigger {
	for i, found := range o.Spec.Triggers {
		if found.Name == "event_"+strings.ReplaceAll(event, "-", "_") {
			return &o.Spec.Triggers[i]
		}
	}
	return nil
}

func (p prometheus) judgeWindow(t *testing.T, of trigger, pods float64, window cluster.Decision) {
	t.Helper()
	from, to, _ := strings.Cut(fmt.Sprint(window.Value), "/")
	start, err := time.Parse(time.RFC3339, from)
	if err != nil {
		t.Fatalf("%s: %v", window.Subject, err)
	}
	end, err := time.Parse(time.RFC3339, to)
	if err != nil {
		t.Fatalf("%s: %v", window.Subject, err)
	}
	for _, c := range []struct {
		at   time.Time
		pods float64
	}{
		{start.Add(-time.Second), 0},
		{start, pods},
		{end.Add(-time.Second), pods},
		{end, 0},
		{start.AddDate(1, 0, 0), 0},
		{end.AddDate(1, 0, 0).Add(-time.Second), 0},
	} {
		if got := p.asks(t, of, c.at); got != c.pods {
			t.Errorf("%s at %s: %v pods, want %v", window.Subject, c.at.Format(time.RFC3339), got, c.pods)
		}
	}
}

// asks is for how many pods a trigger asks: the answer over the threshold, which
// the HPA takes an average of over the pods.
func (p prometheus) asks(t *testing.T, of trigger, at time.Time) float64 {
	t.Helper()
	threshold, err := strconv.ParseFloat(of.Metadata["threshold"], 64)
	if err != nil || of.Type != "prometheus" || of.MetricType != "AverageValue" {
		t.Fatalf("trigger %s: type %s, metricType %s, threshold %q", of.Name, of.Type, of.MetricType, of.Metadata["threshold"])
	}
	value, answered := p.ask(t, of.Metadata["query"], at)
	if !answered {
		t.Fatalf("trigger %s: no answer at %s", of.Name, at)
	}
	return value / threshold
}

// scraped are connections of istiod, three minutes of scrapes at 15 s: pod a in
// two versions, by two scrapers; pod b by one; and what is not this mesh's.
const scraped = `
load 15s
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-aaaaa",version="1.29.1",job="kubernetes-pods",instance="10.0.0.1:15014"} 300x12
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-aaaaa",version="1.29.1",job="istiod",instance="10.0.0.1"} 300x12
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-aaaaa",version="1.28.0",job="kubernetes-pods",instance="10.0.0.1:15014"} 51x12
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-aaaaa",version="1.28.0",job="istiod",instance="10.0.0.1"} 50x12
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-bbbbb",version="1.29.1",job="istiod",instance="10.0.0.2"} 7000x12
  pilot_xds{namespace="istio-system",pod="istiod-canary-7d8b6-ccccc",version="1.30.0",job="istiod",instance="10.0.0.3"} 90000x12
  pilot_xds{namespace="istio-other",pod="istiod-5c4f9-ddddd",version="1.29.1",job="istiod",instance="10.0.0.4"} 90000x12
`

// The connection trigger counts each proxy once: 300 + 51 + 7,000 of this mesh's
// istiod, and asks for a whole number of pods in every zone.
func TestConnectionsCountOnce(t *testing.T) {
	p := newPrometheus(t, scraped)
	const connections = 7351
	for name, zones := range map[string]int{"bigsale": 2, "boutique": 3, "featureflag": 2, "thousand": 3} {
		t.Run(name, func(t *testing.T) {
			threshold, ok := cluster.Plan(t, cluster.Example(name))["istiod.connectionThreshold"].Value.(float64)
			if !ok {
				t.Fatal("the plan has no threshold")
			}
			step := zones * int(threshold)
			want := zones * ((connections + step - 1) / step)
			trigger := connectionTrigger(t, name)
			if got := p.asks(t, trigger, time.Unix(180, 0)); got != float64(want) {
				t.Errorf("%v pods for %d connections at %v a pod, want %d", got, connections, threshold, want)
			}
		})
	}
}

// A pod that has gone is counted for a minute more, and then no longer; no
// series at all is no answer, which KEDA's fallback takes over, and not zero.
func TestConnectionsOfAGonePodFade(t *testing.T) {
	p := newPrometheus(t, `
load 15s
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-aaaaa",version="1.29.1"} 1000x4
  pilot_xds{namespace="istio-system",pod="istiod-5c4f9-bbbbb",version="1.29.1"} 1000x8
`)
	query := connectionTrigger(t, "bigsale").Metadata["query"]
	for name, c := range map[string]struct {
		at       int64
		want     float64
		answered bool
	}{
		"while both are scraped, 2,000 are 13 times 160": {60, 2080, true},
		"a second before the minute is over":             {119, 2080, true},
		"when the minute is over, 1,000 are 7 times 160": {120, 1120, true},
		"a second before the other's minute is over":     {179, 1120, true},
		"when both have gone, nothing is answered":       {180, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, answered := p.ask(t, query, time.Unix(c.at, 0))
			if got != c.want || answered != c.answered {
				t.Errorf("%v, answered %v; want %v, %v", got, answered, c.want, c.answered)
			}
		})
	}
}

// connectionTrigger is the trigger of istiod on connections.
func connectionTrigger(t *testing.T, name string) trigger {
	t.Helper()
	for _, object := range scaledObjects(t, name) {
		for _, found := range object.Spec.Triggers {
			if object.Metadata.Name == "istiod" && found.Name == "connections" {
				return found
			}
		}
	}
	t.Fatalf("%s has no connection trigger", name)
	return trigger{}
}
