// Package cluster reads what the tests of the real parts judge: the profiles of
// the examples, the plan as meshgen prints it, and the files that it rendered.
package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// root is the repository, as a test in a folder below e2e/ sees it.
const root = "../.."

// Example is the path of an example's profile.
func Example(name string) string { return root + "/examples/clusters/" + name + "/profile.yaml" }

// Profile is what the tests read of a profile: the input as its author wrote it,
// without meshgen's own code between the file and the test.
type Profile struct {
	Zones []struct {
		Name      string
		NodePools []NodePool `yaml:"nodePools"`
	}
	Kubernetes struct {
		Version       string
		ClusterDomain string `yaml:"clusterDomain"`
	}
	Istio  struct{ Version, Namespace, Revision string }
	Istiod Istiod
	Mesh   struct {
		OutboundTrafficPolicy string   `yaml:"outboundTrafficPolicy"`
		AlwaysVisible         []string `yaml:"alwaysVisible"`
	}
	Events     []Event
	Namespaces []Namespace
	Services   []Service
}

// Namespace is a namespace of the mesh with the scope of its proxies.
type Namespace struct {
	Name         string
	SidecarScope struct{ Level, Rollout, Canary string } `yaml:"sidecarScope"`
}

// Event is a dated event, or a weekly one, whose start is empty. Load is zero
// where the event has multipliers instead.
type Event struct {
	Name, Start, End, Ramp string
	Load                   Load
	Weekly                 *Weekly
}

// Load is how much istiod serves.
type Load struct{ Connections, Endpoints int }

// Weekly is a span of the local day on some days of every week: HH:MM, and days
// as their first three letters.
type Weekly struct {
	Days       []string
	Start, End string
	TimeZone   string `yaml:"timeZone"`
}

// Istiod is the control plane; quantities are Kubernetes quantities, and Values
// are paths below the profile's folder.
type Istiod struct {
	Load              Load
	Resources         struct{ CPU, Memory string }
	Tolerations       []Toleration
	PriorityClassName string `yaml:"priorityClassName"`
	Values            []string
}

// Toleration is a pod's leave to stand on tainted nodes.
type Toleration struct{ Key, Operator, Value, Effect string }

// NodePool is a pool of equal nodes; AllocatableCPU is a Kubernetes quantity.
type NodePool struct {
	Name           string
	Nodes          Count
	AllocatableCPU string `yaml:"allocatableCPU"`
	Labels         map[string]string
	Taints         []struct{ Key, Value, Effect string }
}

// Count is how many nodes there are now, written as a number or as the bounds of
// an autoscaler with the number between them.
type Count int

// UnmarshalYAML reads both spellings.
func (c *Count) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode((*int)(c))
	}
	var bounds struct{ Now int }
	err := node.Decode(&bounds)
	*c = Count(bounds.Now)
	return err
}

// Service is one entry of spec.services.
type Service struct {
	Name, Namespace string
	Workload        *Workload
	Replicas        struct{ Min int }
	Autoscaling     Autoscaling
	Ports           []struct {
		Number   int
		Protocol string
	}
	Endpoints     map[string]int
	Calls         []string
	ObservedCalls []string `yaml:"observedCalls"`
	ExternalCalls []string `yaml:"externalCalls"`
	SelfCalls     *bool    `yaml:"selfCalls"`
	Routing       struct {
		TopologyMode        string `yaml:"topologyMode"`
		TrafficDistribution string `yaml:"trafficDistribution"`
	}
}

// Workload is what runs a Service's pods; without a kind it is a Deployment.
type Workload struct {
	Kind, Name, Container string
	Labels                map[string]string
}

// Autoscaling is who scales the workload: meshgen, or what runs today.
type Autoscaling struct {
	ManagedBy string `yaml:"managedBy"`
	Running   struct{ HPA string }
}

// Serves reports whether there is a Kubernetes Service: an empty list of ports
// says that nobody calls the workload.
func (s Service) Serves() bool { return s.Ports == nil || len(s.Ports) > 0 }

// Names are the example clusters.
func Names(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob(root + "/examples/clusters/*/profile.yaml")
	if err != nil || len(found) == 0 {
		t.Fatalf("no example profiles: %v", err)
	}
	var names []string
	for _, file := range found {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names
}

// ReadProfile is the profile in a file.
func ReadProfile(t testing.TB, file string) Profile {
	t.Helper()
	var document struct{ Spec Profile }
	if err := yaml.Unmarshal(read(t, file), &document); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p := document.Spec
	p.Istio.Namespace = cmp.Or(p.Istio.Namespace, "istio-system")
	p.Kubernetes.ClusterDomain = cmp.Or(p.Kubernetes.ClusterDomain, "cluster.local")
	return p
}

// Decision is one decision of the plan. Numbers among its terms have at most
// four significant digits.
type Decision struct {
	Subject string
	Value   any
	Terms   map[string]any
	Running *struct{ Value any }
}

// Plan is the plan of the profile in a file, as `meshgen plan -o json` prints it,
// by subject.
func Plan(t testing.TB, file string) map[string]Decision {
	t.Helper()
	profile, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/meshgen", "plan", profile, "-o", "json")
	cmd.Dir = root
	var findings bytes.Buffer
	cmd.Stderr = &findings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("meshgen plan %s: %v\n%s", profile, err, findings.Bytes())
	}
	var document struct{ Decisions []Decision }
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatalf("meshgen plan %s: %v", profile, err)
	}
	plan := map[string]Decision{}
	for _, d := range document.Decisions {
		plan[d.Subject] = d
	}
	return plan
}

// Rendered are the files of a cluster in golden/ that match a pattern, sorted by
// path, each with its text.
func Rendered(t testing.TB, name, pattern string) []File {
	t.Helper()
	return Files(t, Folder(name), pattern)
}

// File is a rendered file; its path begins with the cluster's name.
type File struct{ Path, Text string }

func read(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
