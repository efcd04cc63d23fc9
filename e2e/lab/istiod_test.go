package lab_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/meshgen/meshgen/e2e/apiserver"
)

// istiod is a process of the real istiod that serves proxies in plain text.
type istiod struct {
	process          *exec.Cmd
	xds, http, admin string        // addresses
	log              string        // a path
	ended            chan struct{} // closed when the process has
}

// newIstiod starts an istiod on one core, as the vectors have it, and waits until
// it is ready. What a proxy is not sent is switched off: certificates, injection
// and webhooks.
func (m *mesh) newIstiod(t *testing.T, flags ...string) *istiod {
	t.Helper()
	i := &istiod{xds: freeAddress(t), http: freeAddress(t), admin: freeAddress(t), log: filepath.Join(t.TempDir(), "istiod.log")}
	log, err := os.Create(i.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, port, err := net.SplitHostPort(i.xds)
	if err != nil {
		t.Fatal(err)
	}
	i.process = exec.Command(apiserver.Program(t, "istio.io/istio/pilot/cmd/pilot-discovery"), append([]string{
		"discovery", "--kubeconfig", m.kubeconfig, "--grpcAddr", i.xds, "--httpAddr", i.http, "--monitoringAddr", i.admin,
		"--httpsAddr", "", "--secureGRPCAddr", "", "--ctrlz_port", "0", "--log_output_level", "default:warn",
	}, flags...)...)
	i.process.Dir = t.TempDir()
	i.process.Stdout, i.process.Stderr = log, log
	i.process.Env = []string{
		"GOMAXPROCS=1", "AUTOMEMLIMIT=off", "POD_NAME=istiod-" + port, "POD_NAMESPACE=" + m.profile.Istio.Namespace,
		"ENABLE_CA_SERVER=false", "PILOT_CERT_PROVIDER=none", "INJECT_ENABLED=false", "VALIDATION_WEBHOOK_CONFIG_NAME=",
	}
	if err := i.process.Start(); err != nil {
		t.Fatal(err)
	}
	i.ended = make(chan struct{})
	go func() {
		_ = i.process.Wait()
		close(i.ended)
	}()
	t.Cleanup(i.kill)
	await(t, 5*time.Minute, "an istiod that is ready", i.ready)
	return i
}

// ready is nil when istiod would be sent connections; an error has what it logged
// last.
func (i *istiod) ready() error {
	answer, err := http.Get("http://" + i.http + "/ready")
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		err = errors.New(answer.Status)
	}
	text, _ := os.ReadFile(i.log)
	err = fmt.Errorf("%w\n%s", err, text[max(0, len(text)-2000):])
	select {
	case <-i.ended:
		return over{err}
	default:
		return err
	}
}

// over is an error that no waiting mends.
type over struct{ error }

// kill ends the process as a node's loss does, its connections with it.
func (i *istiod) kill() {
	_ = i.process.Process.Kill()
	<-i.ended
}

// freeAddress is one of this machine's own that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// metrics are what istiod says of itself: the sum of each metric's samples.
func (i *istiod) metrics() (map[string]float64, error) {
	answer, err := http.Get("http://" + i.admin + "/metrics")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("metrics of istiod: %w", err)
	}
	all := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			all[name] += valueOf(m)
		}
	}
	return all, nil
}

func valueOf(m *dto.Metric) float64 {
	return m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
}

// usage is what an istiod takes at a moment.
type usage struct {
	Heap     float64 `json:"heap"`     // bytes
	Resident float64 `json:"resident"` // bytes
	CPU      float64 `json:"cpu"`      // core·s so far
}

func (i *istiod) look() (usage, error) {
	all, err := i.metrics()
	return usage{all["go_memstats_heap_alloc_bytes"], all["process_resident_memory_bytes"], all["process_cpu_seconds_total"]}, err
}

func (i *istiod) usage(t *testing.T) usage {
	t.Helper()
	u, err := i.look()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// rest is what it takes when all garbage has been collected.
func (i *istiod) rest(t *testing.T) usage {
	t.Helper()
	for range 2 {
		answer, err := http.Get("http://" + i.admin + "/debug/pprof/heap?gc=1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("istiod collects no garbage: %s, %v", answer.Status, err)
		}
		answer.Body.Close()
	}
	return i.usage(t)
}

// await asks until there is no error any more.
func await(t *testing.T, longest time.Duration, what string, ask func() error) {
	t.Helper()
	for end := time.Now().Add(longest); ; time.Sleep(50 * time.Millisecond) {
		err := ask()
		if err == nil {
			return
		}
		if errors.As(err, &over{}) || time.Now().After(end) {
			t.Fatalf("waited %s for %s: %v", longest, what, err)
		}
	}
}
