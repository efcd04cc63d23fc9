// Package profile holds the validated input: plain structs, one for each part
// of a ClusterProfile, and the position of every field that the user wrote. It
// does not read files, judge values or compute anything; package schema fills
// it in, with every default applied.
package profile

import (
	"fmt"
	"strings"

	"github.com/meshgen/meshgen/internal/diag"
)

// Profile is one cluster as its owner describes it.
type Profile struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`

	File      string              `json:"-"` // as the user named it
	Positions map[string]diag.Pos `json:"-"` // by field path, only of what the user wrote
	LastLines map[string]int      `json:"-"` // by the path of an event or an exception that is whole lines
}

// Pos is where the field at path stands ("spec.events[0].start"), or its
// nearest parent that the user wrote, or the top of the file.
func (p *Profile) Pos(path string) diag.Pos {
	for {
		if pos, ok := p.Positions[path]; ok {
			return pos
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return diag.Pos{File: p.File, Line: 1, Column: 1}
		}
		path = path[:cut]
	}
}

// Lines are where item i of the n of a list stands, for whoever deletes it: its
// lines where it is whole lines, else the one that it begins on; and a list that
// has nothing else.
func (p *Profile) Lines(list string, i, n int) string {
	path := fmt.Sprintf("%s[%d]", list, i)
	first, last := p.Pos(path).Line, p.LastLines[path]
	lines := fmt.Sprintf("lines %d to %d", first, last)
	switch last {
	case 0:
		if n == 1 {
			return fmt.Sprintf("the list that begins on line %d", p.Pos(list).Line)
		}
		lines = fmt.Sprintf("what begins on line %d", first)
	case first:
		lines = fmt.Sprintf("line %d", first)
	}
	if n == 1 {
		lines += fmt.Sprintf(", the list on line %d", p.Pos(list).Line)
	}
	return lines
}

// Given reports whether the user wrote the field at path, or its value is a
// default.
func (p *Profile) Given(path string) bool {
	_, ok := p.Positions[path]
	return ok
}

// Metadata names the cluster.
type Metadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations,omitempty"` // for other tools
}

// Spec is what the cluster is and what will happen to it.
type Spec struct {
	Kubernetes Kubernetes  `json:"kubernetes"`
	Zones      []Zone      `json:"zones"`
	Istio      Istio       `json:"istio"`
	Mesh       Mesh        `json:"mesh"`
	Metrics    Metrics     `json:"metrics"`
	Istiod     Istiod      `json:"istiod"`
	Events     []Event     `json:"events"`
	Gateways   []Gateway   `json:"gateways"`
	Namespaces []Namespace `json:"namespaces"`
	Services   []Service   `json:"services"`
	ArgoCD     *ArgoCD     `json:"argocd"` // nil writes nothing for it
	Exceptions []Exception `json:"exceptions"`
}

// Kubernetes is the platform below the mesh.
type Kubernetes struct {
	Version       string `json:"version"` // minor, "1.31"
	ClusterDomain string `json:"clusterDomain"`
	Rebalancer    string `json:"rebalancer"` // none or descheduler
	Bases         Bases  `json:"bases"`
}

// Bases is how the user's own manifests stand when the generated Components meet
// them.
type Bases struct {
	Namespaced bool `json:"namespaced"` // their objects carry a namespace
}

// Zone is a failure domain and its nodes.
type Zone struct {
	Name      string     `json:"name"`
	NodePools []NodePool `json:"nodePools"`
}

// NodePool is a set of like nodes in one zone.
type NodePool struct {
	Name              string            `json:"name"`
	Nodes             Nodes             `json:"nodes"`
	AllocatableCPU    Quantity          `json:"allocatableCPU"`    // cores a node
	AllocatableMemory *Quantity         `json:"allocatableMemory"` // bytes a node
	Labels            map[string]string `json:"labels"`
	Taints            []Taint           `json:"taints"`
}

// Taint keeps pods without its toleration off a pool's nodes.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"` // NoSchedule, PreferNoSchedule or NoExecute
}

// Toleration is a pod's leave to stand on tainted nodes.
type Toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"` // Equal (default) or Exists
	Value    string `json:"value"`
	Effect   string `json:"effect"` // empty tolerates every effect
}

// Istio is the mesh's version and place.
type Istio struct {
	Version   string `json:"version"` // minor, "1.24"
	Namespace string `json:"namespace"`
	Revision  string `json:"revision"`
	DataPlane string `json:"dataPlane"` // sidecar
}

// Mesh is what the whole mesh agrees on.
type Mesh struct {
	OutboundTrafficPolicy string   `json:"outboundTrafficPolicy"` // ALLOW_ANY, REGISTRY_ONLY or unknown
	CallGraph             string   `json:"callGraph"`             // complete or partial
	AlwaysVisible         []string `json:"alwaysVisible"`         // Sidecar hosts, ns/dnsName

	ZoneRouting ZoneRouting `json:"zoneRouting"`
}

// ZoneRouting is what a Service must keep to while its calls stay in their zone.
type ZoneRouting struct {
	MaxUtilization    Decimal `json:"maxUtilization"`    // share of what an endpoint can do
	MaxOverload       Decimal `json:"maxOverload"`       // load of the fullest endpoint as a multiple of the mean
	PodsLost          int64   `json:"podsLost"`          // in one zone at once
	TargetUtilization Decimal `json:"targetUtilization"` // where no autoscaler says otherwise
}

// Metrics is the Prometheus that the autoscaler asks.
type Metrics struct {
	ServerAddress     string             `json:"serverAddress"`
	AuthenticationRef *AuthenticationRef `json:"authenticationRef"`
	Selector          map[string]string  `json:"selector"` // labels that single out this mesh's series
	ScrapeInterval    Duration           `json:"scrapeInterval"`
	Endpoints         string             `json:"endpoints"` // PromQL of those that istiod knows
}

// AuthenticationRef names a KEDA TriggerAuthentication.
type AuthenticationRef struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // TriggerAuthentication or ClusterTriggerAuthentication
}

// Istiod is the control plane: its limits, its memory model and its load.
type Istiod struct {
	Resources         Resources    `json:"resources"` // limits of one pod
	MemoryModel       MemoryModel  `json:"memoryModel"`
	Headroom          Decimal      `json:"headroom"` // share of the memory limit that may be used
	Load              Load         `json:"load"`     // the whole mesh at rest
	Survive           Survive      `json:"survive"`
	RebalanceWithin   Duration     `json:"rebalanceWithin"`
	PodReady          Duration     `json:"podReady"`
	NodeReady         Duration     `json:"nodeReady"`
	ReconnectCost     Decimal      `json:"reconnectCost"` // core·s
	UnplannedSurge    Decimal      `json:"unplannedSurge"`
	Scaling           string       `json:"scaling"` // what the connection trigger counts: static or weighted
	AllowLowerFloor   bool         `json:"allowLowerFloor"`
	HoldUnscaled      bool         `json:"holdUnscaled"`
	Tolerations       []Toleration `json:"tolerations"`
	Values            []string     `json:"values"` // the user's Helm values files, in merge order
	PriorityClassName string       `json:"priorityClassName"`
	Running           Running      `json:"running"`
}

// Resources is an amount of CPU (cores) and memory (bytes); nil is not given.
type Resources struct {
	CPU    *Quantity `json:"cpu"`
	Memory *Quantity `json:"memory"`
}

// MemoryModel is the fitted memory of one istiod pod, of kind linear or push;
// package sizing has both laws.
type MemoryModel struct {
	Kind                       string   `json:"kind"`
	Base                       Quantity `json:"base"`                       // bytes
	BytesPerConnection         Decimal  `json:"bytesPerConnection"`         // bytes
	BytesPerConnectionEndpoint Decimal  `json:"bytesPerConnectionEndpoint"` // bytes, of kind linear
	FittedEndpoints            *Range   `json:"fittedEndpoints"`
	IstioVersion               string   `json:"istioVersion"`
	Residual                   Decimal  `json:"residual"` // standard deviation as a share
	Scoped                     bool     `json:"scoped"`   // fitted while Sidecar scopes were live

	// of kind push
	BytesPerEndpoint        Decimal  `json:"bytesPerEndpoint"`        // bytes
	HeapGrowth              Decimal  `json:"heapGrowth"`              // of heap at rest, until a collection ends
	MessageBytesPerEndpoint Decimal  `json:"messageBytesPerEndpoint"` // bytes
	VisibleShare            Decimal  `json:"visibleShare"`            // of the endpoints
	BytesPerWaitingMessage  *Decimal `json:"bytesPerWaitingMessage"`  // bytes; nil: a message waits for every connection
}

// Range is an inclusive span of counts.
type Range struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Load is proxies connected and endpoints known, of the whole mesh.
type Load struct {
	Connections int64 `json:"connections"`
	Endpoints   int64 `json:"endpoints"`
}

// Running is what the cluster runs today: compared against, never emitted.
type Running struct {
	ConnectionThreshold             *int64    `json:"connectionThreshold"`
	KeepaliveMaxServerConnectionAge *Duration `json:"keepaliveMaxServerConnectionAge"`
	MinReplicas                     *int64    `json:"minReplicas"`
	MaxReplicas                     *int64    `json:"maxReplicas"`
	ReplicasInManifest              *bool     `json:"replicasInManifest"`
}

// Event is a span of time with more load than at rest: dated, or weekly.
type Event struct {
	Name       string      `json:"name"`
	Start      *Instant    `json:"start"`
	End        *Instant    `json:"end"`
	Weekly     *Weekly     `json:"weekly"`
	Load       *EventLoad  `json:"load"`
	Multiplier *Multiplier `json:"multiplier"`
	Ramp       Duration    `json:"ramp"`
}

// Weekly is a span of the local day on some days of every week.
type Weekly struct {
	Days     []string `json:"days"`  // Mon … Sun
	Start    string   `json:"start"` // HH:MM
	End      string   `json:"end"`   // HH:MM, or 24:00; before Start it is on the next day
	TimeZone string   `json:"timeZone"`
}

// EventLoad is an absolute load during an event; nil stays at rest.
type EventLoad struct {
	Connections *int64 `json:"connections"`
	Endpoints   *int64 `json:"endpoints"`
}

// Multiplier is a load during an event as a multiple of rest; nil stays at rest.
type Multiplier struct {
	Connections *Decimal `json:"connections"`
	Endpoints   *Decimal `json:"endpoints"`
}

// Gateway is an ingress or egress gateway.
type Gateway struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	NodePool  string   `json:"nodePool"`
	Replicas  Replicas `json:"replicas"`
}

// Replicas are an autoscaler's bounds.
type Replicas struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Namespace is a namespace of the mesh.
type Namespace struct {
	Name         string         `json:"name"`
	ObservedDays int64          `json:"observedDays"`
	MTLS         string         `json:"mtls"` // STRICT, PERMISSIVE, DISABLE or unknown
	SidecarScope SidecarScope   `json:"sidecarScope"`
	ArgoCD       *ArgoCDOverlay `json:"argocd"`
}

// SidecarScope is how far proxies are scoped, and how far that has been rolled out.
type SidecarScope struct {
	Level   string `json:"level"`   // namespace or workload
	Rollout string `json:"rollout"` // report, canary or live
	Canary  string `json:"canary"`  // the workload that rollout canary selects
}

// Service is a Kubernetes Service with its workload, its endpoints and its calls.
type Service struct {
	Name                 string                  `json:"name"`
	Namespace            string                  `json:"namespace"`
	Workload             *Workload               `json:"workload"`
	Ports                []Port                  `json:"ports"`
	Replicas             Replicas                `json:"replicas"`
	Endpoints            map[string]int64        `json:"endpoints"` // by zone
	Clients              map[string]Decimal      `json:"clients"`   // share of calls by the callers' zone
	Capacity             *Capacity               `json:"capacity"`
	LongLivedConnections int64                   `json:"longLivedConnections"`
	Calls                []string                `json:"calls"`         // ns/name
	ObservedCalls        []string                `json:"observedCalls"` // ns/name
	ExternalCalls        []string                `json:"externalCalls"` // Sidecar hosts of ServiceEntries
	SelfCalls            bool                    `json:"selfCalls"`
	Requests             Resources               `json:"requests"`
	PodReady             *Duration               `json:"podReady"`
	Routing              Routing                 `json:"routing"`
	Autoscaling          Autoscaling             `json:"autoscaling"`
	Events               map[string]ServiceEvent `json:"events"` // by the event's name
}

// Workload is what runs a Service's pods.
type Workload struct {
	Kind      string            `json:"kind"` // Deployment or StatefulSet
	Name      string            `json:"name"`
	Container string            `json:"container"`
	Labels    map[string]string `json:"labels"`

	TopologySpreadConstraints []SpreadConstraint `json:"topologySpreadConstraints"`
}

// SpreadConstraint is a topology spread constraint that must stay.
type SpreadConstraint struct {
	TopologyKey       string `json:"topologyKey"`
	WhenUnsatisfiable string `json:"whenUnsatisfiable"` // DoNotSchedule or ScheduleAnyway
	MaxSkew           int64  `json:"maxSkew"`
}

// Port is a port of a Service.
type Port struct {
	Number   int64  `json:"number"`
	Protocol string `json:"protocol"`
}

// Capacity is what one endpoint can do and what the Service does at rest's peak.
type Capacity struct {
	PerEndpoint Decimal `json:"perEndpoint"`
	Peak        Decimal `json:"peak"`
	Unit        string  `json:"unit"`
}

// Routing is the zone routing that a Service has today.
type Routing struct {
	TopologyMode        string `json:"topologyMode"`
	TrafficDistribution string `json:"trafficDistribution"`

	InternalTrafficPolicy string `json:"internalTrafficPolicy"` // Cluster or Local
	Callers               string `json:"callers"`               // mesh, kube-proxy or both
}

// Autoscaling says who scales a workload.
type Autoscaling struct {
	ManagedBy         string            `json:"managedBy"`         // meshgen or none
	CPUUtilization    *int64            `json:"cpuUtilization"`    // percent of the request
	MemoryUtilization *int64            `json:"memoryUtilization"` // percent of the request
	Running           RunningAutoscaler `json:"running"`
}

// RunningAutoscaler names the autoscaler that is there today, if any.
type RunningAutoscaler struct {
	HPA                string `json:"hpa"`
	ScaledObject       string `json:"scaledObject"`
	ReplicasInManifest *bool  `json:"replicasInManifest"`
}

// ServiceEvent is what an event does to one Service.
type ServiceEvent struct {
	Multiplier Decimal `json:"multiplier"`
}

// ArgoCD is how Argo CD applies the output.
type ArgoCD struct {
	Repository  string            `json:"repository"` // of Git
	Path        string            `json:"path"`       // folder of the clusters' folders in it
	Revision    string            `json:"revision"`
	Profile     string            `json:"profile"` // folder of this profile in the repository; empty is unknown
	Version     string            `json:"version"` // minor, "3.4"
	Namespace   string            `json:"namespace"`
	Project     ArgoCDProject     `json:"project"`
	Destination ArgoCDDestination `json:"destination"`
	Chart       ArgoCDChart       `json:"chart"`
	Automated   bool              `json:"automated"`
}

// ArgoCDProject is the project of the Applications.
type ArgoCDProject struct {
	Name   string `json:"name"`   // empty is mesh-<cluster>
	Manage bool   `json:"manage"` // the AppProject is written
}

// ArgoCDDestination is the cluster as Argo CD knows it. A name wins over the
// server, which has a default.
type ArgoCDDestination struct {
	Server string `json:"server"`
	Name   string `json:"name"`
}

// ArgoCDChart is where the istiod chart comes from.
type ArgoCDChart struct {
	Repository string `json:"repository"` // of Helm
	Version    string `json:"version"`    // exact
}

// ArgoCDOverlay is a namespace's own kustomization.
type ArgoCDOverlay struct {
	Path string `json:"path"` // folder in the repository
}

// Exception is a policy that does not hold for a subject, and who says so.
type Exception struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Owner   string `json:"owner"`
	Reason  string `json:"reason"`
	Expiry  string `json:"expiry"` // YYYY-MM-DD
}
