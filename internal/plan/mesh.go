package plan

import "fmt"

// Bases is how the user's own manifests stand when the generated Components meet
// them.
type Bases struct {
	Namespaced bool // their objects carry a namespace, so patches do
}

// Workload is a Deployment or StatefulSet that meshgen patches or scales.
type Workload struct {
	Namespace, Name string
	Kind            string            // Deployment or StatefulSet
	Container       string            // the one that serves; empty when the profile does not say
	Labels          map[string]string // of its pods
	Spread          []Spread          // the whole list; nil leaves the workload's own
	SpreadReason    string            // why the list is what it is
	Scaling         *Scaling          // nil when somebody else scales it, or nobody
}

// Subject is what the workload's decisions begin with.
func (w Workload) Subject() string { return "workload/" + w.Namespace + "/" + w.Name }

// Spread is one topology spread constraint. Its selector is the workload's
// labels, and its counts are apart for each revision of the workload.
type Spread struct {
	TopologyKey       string
	WhenUnsatisfiable string // DoNotSchedule or ScheduleAnyway
	MaxSkew           int64
}

// String is the constraint as decisions say it.
func (s Spread) String() string {
	return fmt.Sprintf("%s %s %d", s.TopologyKey, s.WhenUnsatisfiable, s.MaxSkew)
}

// Scaling is the ScaledObject of a workload.
type Scaling struct {
	Name               string // of the ScaledObject: of the one that runs, else the workload's
	HPA                string // the name of the HPA that runs and is taken over; empty without one
	Extends            bool   // a ScaledObject of that name runs: its triggers stay before ours
	Min, Max           int64
	MinReason          string
	MaxReason          string
	CPUUtilization     int64     // percent of the request; 0 for no such trigger
	MemoryUtilization  int64     // percent of the request; 0 for no such trigger
	Fallback           int64     // replicas while Prometheus does not answer; 0 without a prometheus trigger
	Triggers           []Trigger // of events, in their order
	ReplicasInManifest bool      // the manifest that runs today has spec.replicas
}

// Route is how a Service's calls choose among its zones. Both legacy annotations
// are deleted wherever a Route is written.
type Route struct {
	Namespace, Name     string
	TrafficDistribution string // the field's value; empty deletes it
	Reason              string
}

// Subject is the Service's decision.
func (r Route) Subject() string {
	return "service/" + r.Namespace + "/" + r.Name + ".trafficDistribution"
}

// Scope is what proxies may see: the Sidecar of a namespace, or of one workload.
type Scope struct {
	Namespace string
	Name      string            // of the Sidecar: default, or the workload's
	Selector  map[string]string // labels of the workload; nil for the namespace's own
	Hosts     []string          // egress hosts, sorted, as Istio writes them: ns/dnsName
	Rollout   string            // report (nothing is written), canary or live
	Proxies   int64             // whose scope it is
	Visible   int64             // listed endpoints that they see within it
	Listed    int64             // listed endpoints in all, which they see without it
	Reason    string
}

// Written reports whether a Sidecar is written for the scope.
func (s Scope) Written() bool { return s.Rollout != "report" }

// Subject is the scope's decision. A workload may be called default too.
func (s Scope) Subject() string {
	if s.Name == "default" && len(s.Selector) == 0 {
		return "sidecar/" + s.Namespace + ".hosts"
	}
	return "sidecar/" + s.Namespace + "/" + s.Name + ".hosts"
}
