package lab_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

var (
	measures = flag.Bool("lab", false, "measure for as long as it takes, and write docs/lab.json")
	repeats  = flag.Int("repeat", 3, "runs of each kind")
)

// results are what the lab has measured; internal/lab makes a page of them.
type results struct {
	Versions       map[string]string `json:"versions"`
	Cores          int               `json:"cores"`
	Services       int               `json:"services"`
	Runs           []run             `json:"runs"`
	Redistribution [][]int           `json:"redistribution"`
}

// TestLab is the measurement: without Sidecars and with them, with few proxies and
// with many, each some times over, every run with an istiod of its own.
func TestLab(t *testing.T) {
	if !*measures {
		t.Skip("it measures for as long as it takes: make lab")
	}
	m := newMesh(t)
	found := results{Versions: versions(t), Cores: runtime.NumCPU(), Services: len(listed(m.profile))}
	for _, sidecars := range []bool{false, true} {
		if sidecars {
			m.scope(t)
		}
		for _, proxies := range []int{100, 300} {
			for range *repeats {
				r := m.measure(t, sidecars, proxies)
				t.Logf("%+v", r)
				found.Runs = append(found.Runs, r)
			}
		}
	}
	_, long := scenarios(t)
	found.Redistribution = m.play(t, long)
	t.Log(table(found.Redistribution))
	found.write(t)
}

// versions are those of the real parts, as go.mod pins them.
func versions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}
	for name, module := range map[string]string{
		"Istio": "istio.io/istio", "Kubernetes": "k8s.io/kubernetes", "etcd": "go.etcd.io/etcd/server/v3", "gRPC": "google.golang.org/grpc",
	} {
		list := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module)
		list.Dir = ".."
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		all[name] = strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	}
	return all
}

// write puts one run, and one istiod's course, on a line each.
func (r results) write(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.NewReplacer(`"runs":[`, "\n\"runs\":[\n", `},{`, "},\n{", `"redistribution":[`, "\n\"redistribution\":[\n", `],[`, "],\n[")
	if err := os.WriteFile("../../docs/lab.json", []byte(lines.Replace(string(text))+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
