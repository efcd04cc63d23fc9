// Package calibrate_test lets meshgen calibrate from a real Prometheus server, which
// promtool has filled.
package calibrate_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// user, password and hash let calibrate in; the hash is bcrypt's, with few rounds.
const (
	user     = "mesh"
	password = "hush"
	hash     = "$2a$05$9uJaqP4k4tE7NCuF6Oe1/uczp2std7Zu2174V3DRVGFl8/kg5cZde"
)

// serve starts a Prometheus server over what is measured, and returns its address.
func serve(t *testing.T, openMetrics string) string {
	t.Helper()
	folder := t.TempDir()
	input, data := filepath.Join(folder, "measured.om"), filepath.Join(folder, "data")
	write(t, input, openMetrics)
	write(t, filepath.Join(folder, "prometheus.yml"), "scrape_configs: []\n")
	write(t, filepath.Join(folder, "web.yml"), "basic_auth_users: {"+user+": "+hash+"}\n")
	command(t, "promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", input, data)
	address := free(t)
	server := exec.Command("prometheus", "--config.file="+folder+"/prometheus.yml", "--web.config.file="+folder+"/web.yml",
		"--storage.tsdb.path="+data, "--storage.tsdb.retention.time=100y", "--web.listen-address="+address, "--log.level=error")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatalf("%v: Debian's package prometheus has it", err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	awaitReady(t, "http://"+address)
	return "http://" + address
}

// awaitReady asks the server until it says that it is ready.
func awaitReady(t *testing.T, url string) {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/-/ready", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.SetBasicAuth(user, password)
	for range time.Tick(100 * time.Millisecond) {
		answer, err := http.DefaultClient.Do(ask)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
	}
}

// free is an address of this machine that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
