package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/schema"
)

// example is a profile of examples/clusters with its plan.
func example(t *testing.T, name string) (*profile.Profile, *plan.Plan) {
	t.Helper()
	p, found := schema.Load(os.DirFS("../../examples/clusters/"+name), "profile.yaml")
	if p == nil {
		t.Fatal(found)
	}
	pl, err := plan.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, pl
}

// scaledObject is what is read of the written one.
type scaledObject struct {
	Spec struct {
		Min      int64 `yaml:"minReplicaCount"`
		Max      int64 `yaml:"maxReplicaCount"`
		Polling  int64 `yaml:"pollingInterval"`
		Fallback struct {
			Failures int64  `yaml:"failureThreshold"`
			Replicas int64  `yaml:"replicas"`
			Behavior string `yaml:"behavior"`
		}
		Triggers []struct {
			Type       string
			MetricType string `yaml:"metricType"`
			Metadata   map[string]string
		}
		Advanced struct {
			HPA struct {
				Behavior struct {
					ScaleUp   direction `yaml:"scaleUp"`
					ScaleDown direction `yaml:"scaleDown"`
				}
			} `yaml:"horizontalPodAutoscalerConfig"`
		}
	}
}

type direction struct {
	Window   int64  `yaml:"stabilizationWindowSeconds"`
	Select   string `yaml:"selectPolicy"`
	Policies []struct {
		Type   string
		Value  int64
		Period int64 `yaml:"periodSeconds"`
	}
}

func (d direction) rules() rules {
	r := rules{window: d.Window * 1000}
	for _, p := range d.Policies {
		if p.Type == "Percent" {
			r.policies = append(r.policies, policy{percent: p.Value, period: p.Period * 1000})
		} else {
			r.policies = append(r.policies, policy{pods: p.Value, period: p.Period * 1000})
		}
	}
	return r
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// The planned world runs with what is written: every number of it stands in the
// rendered ScaledObject, or in the values of the chart.
func TestThePlannedWorldIsWhatIsWritten(t *testing.T) {
	for _, name := range []string{"bigsale", "boutique", "featureflag", "thousand"} {
		t.Run(name, func(t *testing.T) {
			p, pl := example(t, name)
			d, err := dayOf(p, pl, "")
			if err != nil {
				t.Fatal(err)
			}
			v := planned(pl)
			w, err := d.world(v)
			if err != nil {
				t.Fatal(err)
			}
			written := writtenWorld(t, name, d)
			if diff := cmp.Diff(written, w.scaling, cmp.AllowUnexported(scaling{}, rules{}, policy{}, window{})); diff != "" {
				t.Errorf("scaling (-written +played):\n%s", diff)
			}
			judgeValues(t, name, v)
		})
	}
}

var (
	lookback = regexp.MustCompile(`\[(\w+)\]`)
	multiple = regexp.MustCompile(`^(\d+) \* ceil`)
	dated    = regexp.MustCompile(`^vector\((\d+) \* \(time\(\) >= bool (\d+)\) \* \(time\(\) < bool (\d+)\)\)$`)
)

func writtenWorld(t *testing.T, name string, d *day) scaling {
	t.Helper()
	files, _ := filepath.Glob("../../golden/" + name + "/istiod/scaledobject-*.yaml")
	if len(files) != 1 {
		t.Fatalf("%d ScaledObjects of istiod", len(files))
	}
	var o scaledObject
	decode(t, files[0], &o)
	f := o.Spec.Fallback
	if f.Failures != failureThreshold || f.Behavior != "currentReplicasIfHigher" || o.Spec.Polling != 0 {
		t.Errorf("fallback %+v, polling %d", f, o.Spec.Polling)
	}
	behavior := o.Spec.Advanced.HPA.Behavior
	s := scaling{
		min: o.Spec.Min, max: o.Spec.Max, fallback: f.Replicas,
		up: behavior.ScaleUp.rules(), down: behavior.ScaleDown.rules(),
		scrape: d.profile.Spec.Metrics.ScrapeInterval.Milliseconds(),
	}
	for i, trigger := range o.Spec.Triggers {
		if trigger.MetricType != "AverageValue" {
			t.Errorf("trigger %d is of type %s", i, trigger.MetricType)
		}
		m := trigger.Metadata
		switch {
		case i == 0:
			s.threshold = whole(t, m["threshold"])
			back, err := time.ParseDuration(lookback.FindStringSubmatch(m["query"])[1])
			if err != nil {
				t.Fatal(err)
			}
			s.lookback = back.Milliseconds()
			if found := multiple.FindStringSubmatch(m["query"]); found != nil {
				s.multiple = whole(t, found[1]) / s.threshold
			}
		case trigger.Type == "prometheus":
			found := dated.FindStringSubmatch(m["query"])
			from, to := time.Unix(whole(t, found[2]), 0), time.Unix(whole(t, found[3]), 0)
			s.windows = append(s.windows, window{d.plan.Istiod.Triggers[i].Event, d.millis(from), d.millis(to), whole(t, found[1]), true})
		default:
			s.windows = append(s.windows, cronWindows(t, d, i, m)...)
		}
	}
	s.windows = slices.DeleteFunc(s.windows, func(w window) bool { return w.to <= 0 || w.from >= d.millis(d.End) })
	return s
}

// cronWindows are those of a cron trigger, minute by minute of the local clock.
func cronWindows(t *testing.T, d *day, i int, m map[string]string) []window {
	t.Helper()
	trigger := d.plan.Istiod.Triggers[i]
	if m["start"] != trigger.Start || m["end"] != trigger.End || m["timezone"] != trigger.TimeZone {
		t.Fatalf("cron trigger %v, planned %+v", m, trigger)
	}
	spans, err := d.spans("istiod", trigger, d.Span)
	if err != nil {
		t.Fatal(err)
	}
	var all []window
	for _, s := range spans {
		all = append(all, window{trigger.Event, d.millis(s.Start), d.millis(s.End), whole(t, m["desiredReplicas"]), false})
	}
	return all
}

func judgeValues(t *testing.T, name string, v values) {
	t.Helper()
	var values struct {
		Age         string `yaml:"keepaliveMaxServerConnectionAge"`
		Surge       string `yaml:"rollingMaxSurge"`
		Unavailable int64  `yaml:"rollingMaxUnavailable"`
		Resources   struct{ Limits struct{ CPU, Memory string } }
	}
	decode(t, "../../golden/"+name+"/istiod/values.yaml", &values)
	got := fmt.Sprint(values.Age, " ", values.Surge, " ", values.Unavailable, " ", values.Resources.Limits.CPU)
	if want := fmt.Sprintf("%s %d%% %d %s", durationText(v.age), v.surge.millionths/10_000, v.unavailable.down(1000), v.cores.RatString()); got != want {
		t.Errorf("written %s, played %s", got, want)
	}
}

func whole(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
