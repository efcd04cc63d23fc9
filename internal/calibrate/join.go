package calibrate

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

const (
	// young is how long a pod is not in balance yet, in seconds (istiod.md §1.3).
	young = 300.0
	// lookBack is how long Prometheus takes a value to hold, in seconds.
	lookBack = 300.0
	// hour is in seconds.
	hour = 3600.0
	// year10000 is where RFC 3339 ends, in Unix seconds.
	year10000 = 253402300800.0
	// most is beyond any value that is measured here.
	most = 1e18
)

// sample is what one pod held at one moment, and the endpoints of the mesh then.
type sample struct {
	pod                            string
	at                             float64 // Unix seconds
	memory, connections, endpoints float64
}

func (s sample) hour() int64 { return int64(math.Floor(s.at / hour)) }

// The reasons why a sample is not used, in the order in which they are judged.
const (
	notANumber    = "not a number, or below 0"
	outside       = "outside of the period asked for"
	youngPod      = "of a pod younger than 5 minutes"
	noConnections = "without connections at that time"
	noEndpoints   = "without endpoints at that time"
	quietHour     = "in an hour that is not busy"
)

// drops counts samples that are not used, by reason.
type drops map[string]int

func (d drops) list() []Drop {
	all := []Drop{}
	for _, reason := range []string{notANumber, outside, youngPod, noConnections, noEndpoints, quietHour} {
		if n := d[reason]; n > 0 {
			all = append(all, Drop{reason, n})
		}
	}
	return all
}

// join puts each pod's memory together with its connections and the mesh's
// endpoints of the same time. Scrapes are not aligned: the nearest value counts,
// half a step of the memory's series away at most, 30 s at least.
func join(in Input, o Options) ([]sample, drops) {
	counts := drops{}
	memory := byPod(in.Memory, counts)
	connections := byVersion(in.Connections)
	restarts := byPod(in.CPU, drops{})
	endpoints := merged(in.Endpoints, drops{})
	step := step(memory)
	near := max(30, min(lookBack, step/2))
	var all []sample
	for _, pod := range sortedKeys(memory) {
		born := births(memory[pod], restarts[pod], silence(step))
		for _, p := range memory[pod] {
			s, reason := joined(pod, p, connections[pod], endpoints, near)
			switch {
			case !o.covers(p.At):
				counts[outside]++
			case p.At-lastBefore(born, p.At) < young:
				counts[youngPod]++
			case reason != "":
				counts[reason]++
			default:
				all = append(all, s)
			}
		}
	}
	return all, counts
}

func (o Options) covers(at float64) bool {
	return at >= o.From && (o.To == 0 || at < o.To)
}

func joined(pod string, p Point, versions [][]Point, endpoints []Point, near float64) (s sample, missing string) {
	s = sample{pod: pod, at: p.At, memory: p.Value}
	found := false
	for _, points := range versions {
		if value, ok := nearest(points, p.At, near); ok {
			s.connections += value
			found = true
		}
	}
	if !found {
		return s, noConnections
	}
	if s.endpoints, found = nearest(endpoints, p.At, near); !found {
		return s, noEndpoints
	}
	return s, ""
}

// nearest is the value nearest in time, the earlier of two, at most within away.
func nearest(points []Point, at, within float64) (float64, bool) {
	after := sort.Search(len(points), func(i int) bool { return points[i].At >= at })
	best, value := math.Inf(1), 0.0
	for _, i := range []int{after - 1, after} {
		if i >= 0 && i < len(points) && math.Abs(points[i].At-at) < best {
			best, value = math.Abs(points[i].At-at), points[i].Value
		}
	}
	return value, best <= within
}

// silence is how long a pod may have no sample, in seconds, before it counts as a
// new one: the look-back, or two steps of the memory's series with some slack.
func silence(step float64) float64 { return max(lookBack, 2.5*step) }

// births are the moments at which a pod is new: its first sample, the first after
// a gap, and where its CPU counter falls back, for the container was restarted.
// Prometheus may have shown the old container's values for a look-back longer, so
// that the new one began that much earlier.
func births(memory, cpu []Point, gap float64) []float64 {
	var all []float64
	for i, p := range memory {
		if i == 0 || p.At-memory[i-1].At > gap {
			all = append(all, p.At)
		}
	}
	for i := 1; i < len(cpu); i++ {
		if cpu[i].Value < cpu[i-1].Value {
			all = append(all, cpu[i].At-lookBack, cpu[i].At)
		}
	}
	slices.Sort(all)
	return all
}

// lastBefore is the last of sorted moments that is not after at.
func lastBefore(moments []float64, at float64) float64 {
	after := sort.Search(len(moments), func(i int) bool { return moments[i] > at })
	if after == 0 {
		return math.Inf(-1)
	}
	return moments[after-1]
}

// step is the median distance between samples of a pod, in seconds.
func step(pods map[string][]Point) float64 {
	var distances []float64
	for _, points := range pods {
		for i := 1; i < len(points); i++ {
			distances = append(distances, points[i].At-points[i-1].At)
		}
	}
	if len(distances) == 0 {
		return 0
	}
	slices.Sort(distances)
	return percentile(distances, 0.5)
}

// byPod is one sequence of points for each pod: where several series tell of it
// (replicas of Prometheus, cgroups), the largest value of a moment.
func byPod(series []Series, counts drops) map[string][]Point {
	groups := map[string][]Series{}
	for _, s := range series {
		groups[s.Labels["pod"]] = append(groups[s.Labels["pod"]], s)
	}
	pods := map[string][]Point{}
	for pod, group := range groups {
		pods[pod] = merged(group, counts)
	}
	return pods
}

// byVersion is, for each pod, one sequence for each version of its proxies: they
// add up, and replicas of Prometheus do not.
func byVersion(series []Series) map[string][][]Point {
	groups := map[[2]string][]Series{}
	for _, s := range series {
		key := [2]string{s.Labels["pod"], s.Labels["version"]}
		groups[key] = append(groups[key], s)
	}
	pods := map[string][][]Point{}
	for key, group := range groups {
		pods[key[0]] = append(pods[key[0]], merged(group, drops{}))
	}
	return pods
}

// merged is the points of all series by time, the largest where two are of one
// moment; what is no number of at least 0, or absurd, is counted and left out.
func merged(series []Series, counts drops) []Point {
	var all []Point
	for _, s := range series {
		for _, p := range s.Points {
			if p.Value >= 0 && p.Value < most && p.At >= 0 && p.At < year10000 {
				all = append(all, p)
			} else {
				counts[notANumber]++
			}
		}
	}
	slices.SortFunc(all, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.At, b.At), -cmp.Compare(a.Value, b.Value))
	})
	return slices.CompactFunc(all, func(a, b Point) bool { return a.At == b.At })
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
