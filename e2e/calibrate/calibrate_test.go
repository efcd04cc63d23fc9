package calibrate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// report is what the test reads of calibrate's JSON.
type report struct {
	R               float64
	Pods            int
	IstioVersion    string
	FittedEndpoints struct{ Min, Max int }
	Estimates       []struct {
		Name             string
		Value, Low, High float64
	}
	Model    any
	Findings []struct{ ID, Message, Hint string }
}

// A real server gives the model that the example was made with: its base, and what
// an endpoint costs ten times, for the store has a tenth of the endpoints.
func TestCalibrateFromAServer(t *testing.T) {
	meshgen := build(t)
	url := serve(t, openMetrics(t))

	both, status := calibrate(t, meshgen, url)
	if status != 4 || len(both.Findings) != 1 || both.Findings[0].ID != "calibrate/two-clusters" || !strings.Contains(both.Findings[0].Hint, "--selector cluster=prod") {
		t.Errorf("two meshes in one store: %d, %v", status, both.Findings)
	}

	prod, status := calibrate(t, meshgen, url, "--selector", "cluster=prod")
	if status != 0 || prod.Model == nil {
		t.Fatalf("%d: %v", status, prod.Findings)
	}
	if prod.R < 0.95 || prod.Pods != 8 || prod.IstioVersion != "1.24" || prod.FittedEndpoints.Min != 170 || prod.FittedEndpoints.Max < 430 {
		t.Errorf("%+v", prod)
	}
	truth := map[string]float64{"base": 240e6, "bytesPerConnection": 0, "bytesPerConnectionEndpoint": 400 * shrunk, "reconnectCost": 0.05}
	for _, e := range prod.Estimates {
		if e.Low > truth[e.Name] || e.High < truth[e.Name] {
			t.Errorf("%s is %g, estimated %g to %g", e.Name, truth[e.Name], e.Low, e.High)
		}
		delete(truth, e.Name)
	}
	if len(truth) > 0 {
		t.Errorf("not estimated: %v", truth)
	}

	test, status := calibrate(t, meshgen, url, "--selector", "cluster=test", "--endpoints", `count(kube_endpointslice_endpoints{cluster="test",ready="true"})`)
	if status != 0 || len(test.Estimates) != len(prod.Estimates) {
		t.Fatalf("%d: %v", status, test.Findings)
	}
	for i, e := range test.Estimates {
		if want := 2 * prod.Estimates[i].Value; e.Name == "bytesPerConnectionEndpoint" && (e.Value < want*0.99 || e.Value > want*1.01) {
			t.Errorf("with half the connections an endpoint costs %g, not twice %g", e.Value, want/2)
		}
	}
}

// Who may not read is told so, with the query.
func TestCalibrateIsNotLetIn(t *testing.T) {
	meshgen := build(t)
	url := serve(t, "# EOF\n")
	cmd := exec.Command(meshgen, "calibrate", "--prometheus", url, "--from", "2026-11-23T00:00:00Z", "--to", "2026-11-24T00:00:00Z")
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := cmd.Run(); err == nil || !strings.Contains(text.String(), `query container_memory_working_set_bytes{container="discovery"} from`) || !strings.Contains(text.String(), "401") {
		t.Errorf("%v: %s", err, &text)
	}
}

func build(t *testing.T) string {
	t.Helper()
	meshgen := filepath.Join(t.TempDir(), "meshgen")
	cmd := exec.Command("go", "build", "-o", meshgen, "./cmd/meshgen")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return meshgen
}

func calibrate(t *testing.T, meshgen, url string, flags ...string) (report, int) {
	t.Helper()
	args := []string{
		"calibrate", "--prometheus", url, "--from", "2026-11-23T00:00:00Z", "--to", "2026-11-24T00:00:00Z",
		"--step", "4m", "--username", user, "-o", "json",
	}
	cmd := exec.Command(meshgen, append(args, flags...)...)
	cmd.Env = append(cmd.Environ(), "MESHGEN_PROMETHEUS_PASSWORD="+password)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	err := cmd.Run()
	exit := &exec.ExitError{}
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s%s", err, &out, &failure)
	}
	return r, cmd.ProcessState.ExitCode()
}
