// Package cluster reads what the tests of the real parts judge: the profiles of
// the examples, the plan as meshgen prints it, and the files that it rendered.
package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	Kubernetes struct{ Version string }
	Istio      struct{ Version, Namespace string }
	Istiod     struct{ Load Load }
	Mesh       struct {
		AlwaysVisible []string `yaml:"alwaysVisible"`
	}
	Events     []Event
	Namespaces []struct {
		Name         string
		SidecarScope struct{ Level, Rollout string } `yaml:"sidecarScope"`
	}
	Services []Service
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

// NodePool is a pool of equal nodes; AllocatableCPU is a Kubernetes quantity.
type NodePool struct {
	Nodes          Count
	AllocatableCPU string `yaml:"allocatableCPU"`
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
	if document.Spec.Istio.Namespace == "" {
		document.Spec.Istio.Namespace = "istio-system"
	}
	return document.Spec
}

// Folder is the folder of a cluster in golden/.
func Folder(name string) string { return root + "/golden/" + name }

// Render renders the profile in a file below a folder, the cluster's own folder
// in it, as `meshgen render` does.
func Render(t testing.TB, file, below string) {
	t.Helper()
	profile, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/meshgen", "render", profile, "-o", below)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("meshgen render %s: %v\n%s", profile, err, out)
	}
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
	found, err := filepath.Glob(root + "/golden/" + name + "/" + pattern)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	var files []File
	for _, file := range found {
		below, err := filepath.Rel(root+"/golden", file)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Path: filepath.ToSlash(below), Text: string(read(t, file))})
	}
	return files
}

// File is a rendered file; its path is below golden/.
type File struct{ Path, Text string }

func read(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
