// Package simulate plays the day of an event many times over: proxies, pods, the
// autoscaler and memory, with the values that run today and with those that are
// planned. It is pure: the same worlds and seed give the same numbers anywhere.
package simulate

// Report is what each world did on the day of one event.
type Report struct {
	Cluster string   `json:"cluster"`
	Event   string   `json:"event"`  // empty where the calendar is
	Start   string   `json:"start"`  // minute 0 of every series, RFC 3339 in UTC
	Faults  []string `json:"faults"` // as they were given
	Trials  int      `json:"trials"`
	Seed    uint64   `json:"seed"`

	Headroom float64 `json:"headroom"` // of the profile: above this share of its limit a pod is hot
	Tolerate float64 `json:"tolerate"` // share of the trials in which a pod may be killed

	Marks  []Mark   `json:"marks"`
	Worlds []World  `json:"worlds"` // running, planned; static where connections weigh by endpoints
	Notes  []string `json:"notes"`  // what the model leaves out, or what a reader must know of this day
}

// Mark is a moment of the day: the pre-scale, the start, a fault.
type Mark struct {
	Minute float64 `json:"minute"`
	Name   string  `json:"name"`
}

// World is one set of values, and what became of it over all trials.
type World struct {
	Name     string    `json:"name"` // running, planned or static
	Settings []Setting `json:"settings"`

	HottestConnections Quantiles `json:"hottestConnections"`  // of the pod with the most, over the day
	HottestShare       Quantiles `json:"hottestShare"`        // memory of the fullest pod as a share of the limit
	Headroom           Quantiles `json:"headroom"`            // 1 − hottestShare: P1 stands under p99
	PodsKilled         Quantiles `json:"podsKilled"`          // pods that passed their limit, a trial
	MinutesToBalance   Quantiles `json:"minutesToBalance"`    // from the last disturbance until the spread is as even as chance allows
	Unbalanced         int       `json:"unbalanced"`          // trials that were not balanced when they ended
	IdlePods           Quantiles `json:"idlePods"`            // most ready pods at once with under a tenth of their share
	ReconnectsPerSec   Quantiles `json:"reconnectsPerSecond"` // the busiest ten seconds of the mesh
	PodHours           Quantiles `json:"podHours"`

	TrialsKilled int  `json:"trialsKilled"` // in which a pod was killed
	TrialsHot    int  `json:"trialsHot"`    // in which a pod passed headroom × limit
	Safe         bool `json:"safe"`         // killed in no more trials than are tolerated

	Series []Sample `json:"series"`
}

// Setting is a value that a world runs with, and where it is from.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // the profile's field, a decision, or the default of what
}

// Quantiles are of one number a trial.
type Quantiles struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Worst  float64 `json:"worst"`
}

// Sample is one minute of a world over all trials.
type Sample struct {
	Minute      float64 `json:"minute"`
	Connections float64 `json:"connections"` // that the calendar asks for, median
	Endpoints   float64 `json:"endpoints"`
	Needed      float64 `json:"needed"`     // replicas that the demand needs at the threshold
	Desired     float64 `json:"desired"`    // replicas, median
	Ready       float64 `json:"ready"`      // pods, median
	ReadyLow    float64 `json:"readyLow"`   // the fewest of any trial
	Share       Band    `json:"share"`      // memory of the fullest pod, as a share of the limit, over trials
	PerPod      Band    `json:"perPod"`     // connections of a ready pod, over pods and trials
	Reconnects  float64 `json:"reconnects"` // a second, median
	Killed      float64 `json:"killed"`     // so far, mean
}

// Band is a spread.
type Band struct {
	Low    float64 `json:"low"` // P1 (of pods: the emptiest hundredth)
	Median float64 `json:"median"`
	High   float64 `json:"high"` // P99
	Worst  float64 `json:"worst"`
}
