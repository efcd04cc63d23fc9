package promql_test

import (
	"context"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// scaledObject is what the tests read of a rendered ScaledObject.
type scaledObject struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		ScaleTargetRef struct{ Name string }
		Triggers       []trigger
		Advanced       struct {
			HPA struct {
				Behavior struct {
					ScaleUp struct {
						Window int `json:"stabilizationWindowSeconds"`
					}
				}
			} `json:"horizontalPodAutoscalerConfig"`
		}
	}
}

type trigger struct {
	Type, Name, MetricType string
	Metadata               map[string]string
}

// scaledObjects are those that meshgen rendered into a cluster's folder. What
// patches one of the user's own is judged where that stands in a base.
func scaledObjects(t *testing.T, folder string) []scaledObject {
	t.Helper()
	files := append(cluster.Files(t, folder, "istiod/scaledobject-*.yaml"), cluster.Files(t, folder, "workloads/*/scaledobject-*.yaml")...)
	var all []scaledObject
	for _, file := range files {
		if object := newScaledObject(t, file.Text); len(object.Spec.Triggers) > 0 {
			all = append(all, object)
		}
	}
	return all
}

func newScaledObject(t *testing.T, text string) scaledObject {
	t.Helper()
	var object scaledObject
	if err := yaml.Unmarshal([]byte(text), &object); err != nil || object.Kind != "ScaledObject" {
		t.Fatalf("kind %q, %v; want a ScaledObject in\n%s", object.Kind, err, text)
	}
	return object
}

// patched are the ScaledObjects of a base under a rendered Component, built by
// kustomize.
func patched(t *testing.T, base, component string) []scaledObject {
	t.Helper()
	disk := filesys.MakeFsInMemory()
	write := func(path, text string) {
		if err := disk.WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"base": base, "component": component} {
		for _, file := range cluster.Files(t, from, "*.yaml") {
			write("/"+to+"/"+path.Base(file.Path), file.Text)
		}
	}
	write("/all/kustomization.yaml", "resources: [../base]\ncomponents: [../component]\n")
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/all")
	if err != nil {
		t.Fatal(err)
	}
	var all []scaledObject
	for _, object := range objects.Resources() {
		if object.GetKind() == "ScaledObject" {
			all = append(all, newScaledObject(t, object.MustYaml()))
		}
	}
	return all
}

// prometheus is the engine of Prometheus over some series.
type prometheus struct {
	*promql.Engine
	series storage.Queryable
}

// mostSamples is how many samples one query may hold.
const mostSamples = 1_000_000

// newPrometheus has the series that are given in the notation of Prometheus' own
// tests.
func newPrometheus(t *testing.T, series string) prometheus {
	t.Helper()
	return prometheus{
		promqltest.NewTestEngine(t, false, 0, mostSamples),
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
	triggers := map[string]int{}
	for _, name := range cluster.Names(t) {
		folder := cluster.Folder(name)
		if patches := cluster.Files(t, folder, "workloads/*/triggers-*.yaml"); len(patches) > 0 {
			t.Errorf("%s patches an autoscaler whose base is not here", patches[0].Path)
		}
		triggers[name] = judgeWindows(t, cluster.Example(name), scaledObjects(t, folder))
	}
	component := cluster.Render(t, shared) + "/workloads/shop"
	triggers["shared"] = judgeWindows(t, shared, patched(t, path.Dir(shared)+"/base", component))
	if diff := cmp.Diff(map[string]int{"bigsale": 4, "boutique": 0, "featureflag": 0, "thousand": 207, "shared": 2}, triggers); diff != "" {
		t.Errorf("triggers judged, by cluster (-want +got):\n%s", diff)
	}
}

// shared is the profile of a mesh that shares its Prometheus, is scraped once a
// minute, and has a ScaledObject of its own.
const shared = "testdata/shared/profile.yaml"

// judgeWindows judges the dated events in the triggers of ScaledObjects by the
// plan of a profile, and returns how many triggers they have.
func judgeWindows(t *testing.T, file string, objects []scaledObject) int {
	t.Helper()
	p := newPrometheus(t, "")
	plan, events, judged := cluster.Plan(t, file), dated(cluster.ReadProfile(t, file)), 0
	for _, object := range objects {
		for _, event := range events {
			subject := object.subject()
			pods, planned := plan[subject+".replicas.event."+event].Value.(float64)
			found := object.triggerOf(event)
			if planned != (found != nil) {
				t.Fatalf("%s: %s: event %s is planned: %v, has a trigger: %v", file, subject, event, planned, found != nil)
			}
			if planned {
				judged++
				p.judgeWindow(t, *found, pods, plan[subject+".prescale.window."+event])
			}
		}
	}
	return judged
}

// The triggers of a ScaledObject of the user's own stay as they are and where they
// are, for KEDA names metrics by their order; those of events come after them.
func TestTriggersOfTheUsersComeFirst(t *testing.T) {
	component := cluster.Render(t, shared) + "/workloads/shop"
	var got []string
	for _, object := range patched(t, path.Dir(shared)+"/base", component) {
		for _, trigger := range object.Spec.Triggers {
			got = append(got, strings.Join([]string{object.Metadata.Name, trigger.Type, trigger.Name}, " "))
		}
	}
	want := []string{
		"cart-scaler cpu busy", "cart-scaler prometheus orders", "cart-scaler prometheus event_big_sale",
		"stock cpu cpu", "stock prometheus event_big_sale",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
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
func (o scaledObject) subject() string {
	if o.Spec.ScaleTargetRef.Name == "istiod" {
		return "istiod"
	}
	return "workload/" + o.Metadata.Namespace + "/" + o.Spec.ScaleTargetRef.Name
}

// triggerOf is the trigger of an event; nil where there is none.
func (o scaledObject) triggerOf(event string) *trigger {
	return o.trigger("event_" + strings.ReplaceAll(event, "-", "_"))
}

// trigger is the trigger of a name; nil where there is none.
func (o scaledObject) trigger(name string) *trigger {
	for i, found := range o.Spec.Triggers {
		if found.Name == name {
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
			trigger := istiod(t, cluster.Folder(name)).connections(t)
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
	query := istiod(t, cluster.Folder("bigsale")).connections(t).Metadata["query"]
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

// istiod is the ScaledObject of istiod in a cluster's folder.
func istiod(t *testing.T, folder string) scaledObject {
	t.Helper()
	files := cluster.Files(t, folder, "istiod/scaledobject-*.yaml")
	if len(files) != 1 {
		t.Fatalf("%s has %d ScaledObjects for istiod", folder, len(files))
	}
	return newScaledObject(t, files[0].Text)
}

// connections is the trigger on connections.
func (o scaledObject) connections(t *testing.T) trigger {
	t.Helper()
	found := o.trigger("connections")
	if found == nil {
		t.Fatalf("%s has no connection trigger", o.Metadata.Name)
	}
	return *found
}

// Of a store that has the series of other clusters, of other tenants and of other
// revisions, the mesh's own are counted; at a scrape a minute for three minutes,
// so that two that are missed change nothing, and no longer.
func TestConnectionsInASharedStore(t *testing.T) {
	p := newPrometheus(t, `
load 60s
  pilot_xds{cluster="prod",tenant="a\"b\\c",namespace="istio-system",pod="istiod-blue-5c4f9-aaaaa",version="1.31.0"} 1000 1000 _ _ 1000 1000 1000
  pilot_xds{cluster="prod",tenant="a\"b\\c",namespace="istio-system",pod="istiod-blue-5c4f9-bbbbb",version="1.31.0"} 500 500 500 stale
  pilot_xds{cluster="stage",tenant="a\"b\\c",namespace="istio-system",pod="istiod-blue-5c4f9-aaaaa",version="1.31.0"} 7000x7
  pilot_xds{cluster="prod",tenant="b",namespace="istio-system",pod="istiod-blue-5c4f9-aaaaa",version="1.31.0"} 7000x7
  pilot_xds{cluster="prod",tenant="a\"b\\c",namespace="istio-system",pod="istiod-5c4f9-aaaaa",version="1.31.0"} 7000x7
`)
	query := istiod(t, cluster.Render(t, shared)).connections(t).Metadata["query"]
	for name, c := range map[string]struct {
		at   int64
		want float64
	}{
		"while both are scraped":                                {120, 1500},
		"when a scrape of one was missed":                       {179, 1500},
		"when two were missed, and the other has gone":          {239, 1500},
		"a second before the gone pod's three minutes are over": {299, 1500},
		"when they are over":                                    {300, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			if got, answered := p.ask(t, query, time.Unix(c.at, 0)); got != c.want || !answered {
				t.Errorf("%v connections, answered %v; want %v", got, answered, c.want)
			}
		})
	}
}

// For every number of connections up to 10,000 the trigger asks for as many pods
// as the threshold needs, up to a multiple of the zones where a zone's loss is to
// be survived.
func TestReplicasComeInMultiplesOfTheZones(t *testing.T) {
	type mesh struct {
		file, folder, pod string
		zones             int
	}
	for name, m := range map[string]mesh{
		"bigsale":     {cluster.Example("bigsale"), cluster.Folder("bigsale"), "istiod-5c4f9-aaaaa", 2},
		"boutique":    {cluster.Example("boutique"), cluster.Folder("boutique"), "istiod-5c4f9-aaaaa", 3},
		"featureflag": {cluster.Example("featureflag"), cluster.Folder("featureflag"), "istiod-5c4f9-aaaaa", 2},
		"thousand":    {cluster.Example("thousand"), cluster.Folder("thousand"), "istiod-5c4f9-aaaaa", 3},
		"shared":      {shared, cluster.Render(t, shared), "istiod-blue-5c4f9-aaaaa", 1},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 10000
			p := newPrometheus(t, fmt.Sprintf("load 15s\n  pilot_xds{cluster=\"prod\",tenant=%q,namespace=\"istio-system\",pod=%q,version=\"1.31.0\"} 0+1x%d", `a"b\c`, m.pod, most))
			trigger := istiod(t, m.folder).connections(t)
			threshold := int(cluster.Plan(t, m.file)["istiod.connectionThreshold"].Value.(float64))
			if trigger.Metadata["threshold"] != strconv.Itoa(threshold) {
				t.Fatalf("threshold %s, planned %d", trigger.Metadata["threshold"], threshold)
			}
			values := p.every15(t, trigger.Metadata["query"], most)
			for connections, value := range values {
				pods := (connections + threshold - 1) / threshold
				want := (pods + m.zones - 1) / m.zones * m.zones
				if got := int(math.Ceil(value / float64(threshold))); got != want {
					t.Fatalf("%d pods for %d connections at %d a pod, want %d", got, connections, threshold, want)
				}
			}
		})
	}
}

// every15 is what a query answers each 15 seconds from 0 on, that many times more.
func (p prometheus) every15(t *testing.T, query string, times int) []float64 {
	t.Helper()
	asked, err := p.NewRangeQuery(context.Background(), p.series, nil, query, time.Unix(0, 0), time.Unix(int64(15*times), 0), 15*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer asked.Close()
	matrix, err := asked.Exec(context.Background()).Matrix()
	if err != nil || len(matrix) != 1 || len(matrix[0].Floats) != times+1 {
		t.Fatalf("%s: %d series, %v; want one of %d values", query, len(matrix), err, times+1)
	}
	var all []float64
	for _, point := range matrix[0].Floats {
		all = append(all, point.F)
	}
	return all
}
