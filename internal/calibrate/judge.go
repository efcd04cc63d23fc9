package calibrate

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

const (
	// leastPods and leastHours are below what intervals by clusters can hold.
	leastPods  = 4
	leastHours = 6
	// leastSamples is 4 pods' for 6 hours, one every 7 minutes.
	leastSamples = 200
	// leastRange is how far the endpoints must move: the plan trusts a model up to
	// this multiple of the endpoints that it was fitted on.
	leastRange = 1.5
	// leastCorrelation is between measured and fitted memory.
	leastCorrelation = 0.9
)

// missing finds a series that there must be.
func (f *fitter) missing(in Input) {
	q := QueriesFor()
	for _, s := range []struct {
		name   string
		series []Series
		hint   string
	}{
		{"memory", in.Memory, "cAdvisor in the kubelet has it: " + q.Memory},
		{"connections", in.Connections, "istiod has it on port 15014: " + q.Connections},
		{"endpoints", in.Endpoints, "kube-state-metrics has it when it collects endpointslices: " + q.Endpoints + "; otherwise --endpoints '" + olderEndpoints + "'"},
	} {
		if !slices.ContainsFunc(s.series, func(s Series) bool { return len(s.Points) > 0 }) {
			f.reject("calibrate/no-series", s.name, "there are no "+s.name+" in what was given", s.hint)
		}
	}
}

// clusterLike are labels that tell meshes in one store apart.
var clusterLike = regexp.MustCompile(`(?i)cluster|^(env|environment|region|stage|tenant|prometheus|namespace)$`)

// ClusterLabel reports whether a label's name is one that tells meshes in one
// store apart.
func ClusterLabel(name string) bool { return clusterLike.MatchString(name) }

// clusters refuses pods of two meshes: a label whose values have no pod in
// common. Replicas of Prometheus differ in a label too, and see the same pods.
func (f *fitter) clusters(in Input) {
	for _, series := range [][]Series{in.Memory, in.Connections} {
		for _, label := range clusterLabels(series) {
			if values := disjoint(series, label); len(values) > 1 {
				f.reject("calibrate/two-clusters", label,
					fmt.Sprintf("the pods are of %d meshes: label %s is %s", len(values), label, strings.Join(values, ", ")),
					fmt.Sprintf("name one: --selector %s=%s", label, values[0]))
				return
			}
		}
	}
	if len(in.Endpoints) > 1 {
		f.reject("calibrate/endpoints-not-one", "endpoints",
			fmt.Sprintf("the endpoints are %d series, and the mesh has one number of them at a time", len(in.Endpoints)),
			"aggregate them in the query, such as "+QueriesFor().Endpoints)
	}
}

func clusterLabels(series []Series) []string {
	names := map[string]bool{}
	for _, s := range series {
		for name := range s.Labels {
			if ClusterLabel(name) {
				names[name] = true
			}
		}
	}
	return sortedKeys(names)
}

// disjoint is the values of a label, where no two of them have a pod in common.
func disjoint(series []Series, label string) []string {
	values := map[string]bool{}
	of := map[string]string{}
	for _, s := range series {
		value := s.Labels[label]
		if value == "" {
			continue
		}
		if before, seen := of[s.Labels["pod"]]; seen && before != value {
			return nil
		}
		of[s.Labels["pod"]] = value
		values[value] = true
	}
	return sortedKeys(values)
}

// enough refuses what no interval can be put on, and endpoints that hardly move.
func (f *fitter) enough(used []sample) {
	hours := distinct(used, sample.hour)
	if f.report.Pods < leastPods || len(hours) < leastHours || len(used) < leastSamples {
		f.reject("calibrate/too-few", "memoryModel",
			fmt.Sprintf("%d pods, %d busy hours and %d samples are left: at least %d, %d and %d are needed", f.report.Pods, len(hours), len(used), leastPods, leastHours, leastSamples),
			"give a longer period; pods that were replaced in it count too")
		return
	}
	r := f.report.Endpoints
	if ratio := float64(r.Max) / math.Max(1, float64(r.Min)); ratio < leastRange {
		f.reject("calibrate/narrow-range", "memoryModel.fittedEndpoints",
			fmt.Sprintf("the busy hours saw %d to %d endpoints, the most %.3g times the least, where %.3g times are needed: what an endpoint costs cannot be seen", r.Min, r.Max, ratio, leastRange),
			fmt.Sprintf("give a period that also has %d endpoints or more, or %d or fewer, such as an event and a quiet day", int64(math.Ceil(leastRange*float64(r.Min))), int64(float64(r.Max)/leastRange)))
	}
}

var minorVersion = regexp.MustCompile(`^v?([0-9]+\.[0-9]+)`)

// versions notes the Istio minor of the pods that were used, and refuses two.
func (f *fitter) versions(builds []Series, used []sample) {
	first, last := used[0].at, used[0].at
	for _, s := range used {
		first, last = min(first, s.at), max(last, s.at)
	}
	pods := distinct(used, func(s sample) string { return s.pod })
	seen := map[string]float64{}
	for _, s := range builds {
		m := minorVersion.FindStringSubmatch(s.Labels["tag"])
		if _, isUsed := pods[s.Labels["pod"]]; m == nil || !isUsed {
			continue
		}
		for _, p := range s.Points {
			at, known := seen[m[1]]
			if p.At >= first && p.At <= last && (!known || p.At < at) {
				seen[m[1]] = p.At
			}
		}
	}
	minors := sortedKeys(seen)
	if len(minors) == 1 {
		f.report.Version = minors[0]
	}
	if len(minors) > 1 {
		slices.SortFunc(minors, func(a, b string) int { return int(seen[a] - seen[b]) })
		later := minors[len(minors)-1]
		f.reject("calibrate/two-versions", "memoryModel.istioVersion",
			fmt.Sprintf("the pods ran Istio %s: the model is of one minor version", strings.Join(minors, " and ")),
			fmt.Sprintf("fit one of them: --from or --to %s, when %s was first seen", minute(seen[later]), later))
	}
}

// judge refuses a fit that is no model.
func (f *fitter) judge(m law) {
	if f.found.HasErrors() {
		return
	}
	if f.report.Correlation < leastCorrelation || math.IsNaN(f.report.Correlation) {
		f.reject("calibrate/weak-fit", "memoryModel",
			fmt.Sprintf("r is %.3f, below %.1f: connections and endpoints do not explain the memory of these hours", f.report.Correlation, leastCorrelation),
			"fit the hours of one event by --from and --to, or fewer hours by --busy")
		return
	}
	switch {
	case f.options.Push != nil && (m.base.Value <= 0 || m.perConnection.High <= 0):
		f.reject("calibrate/implausible", "memoryModel",
			fmt.Sprintf("base would be %s and bytesPerConnection at most %s: neither can be 0 or less; the messages that are given take more than memory has", bytes(m.base.Value), bytes(m.perConnection.High)),
			"fit hours in which every proxy is sent endpoints, or give --waiting-bytes: not every connection's message waits at once")
	case f.options.Push == nil && (m.base.Value <= 0 || m.perEndpoint.Value <= 0):
		f.reject("calibrate/implausible", "memoryModel",
			fmt.Sprintf("base would be %s and bytesPerConnectionEndpoint %.4g: neither can be 0 or less", bytes(m.base.Value), m.perEndpoint.Value),
			"fit a period with fewer connections to a pod too, such as a quiet night, by --busy 1")
	}
}
