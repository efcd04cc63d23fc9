// Package apiserver starts a real kube-apiserver on its etcd, both built from
// their modules, with the CRDs of what meshgen writes: Istio's, KEDA's,
// prometheus-operator's and Argo CD's.
package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"istio.io/istio/manifests"
)

// Start runs an API server on loopback for as long as the test runs, with an
// etcd of its own, and gives the way in as an administrator. A webhook
// configuration that is given is installed, and answered at the address that
// comes back filled in.
func Start(t testing.TB, webhooks ...string) (*rest.Config, envtest.WebhookInstallOptions) {
	t.Helper()
	env := &envtest.Environment{
		CRDs: istioCRDs(t),
		CRDDirectoryPaths: []string{
			filepath.Join(ModuleDir(t, "..", "github.com/kedacore/keda/v2"), "config/crd/bases"),
			filepath.Join(ModuleDir(t, "../apiserver/crds", "github.com/prometheus-operator/prometheus-operator"), "example/prometheus-operator-crd"),
			filepath.Join(ModuleDir(t, "../apiserver/crds", "github.com/argoproj/argo-cd/v3"), "manifests", "crds"),
		},
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions:    envtest.WebhookInstallOptions{Paths: webhooks},
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	env.ControlPlane.Etcd = &envtest.Etcd{Path: Program(t, "go.etcd.io/etcd/server/v3")}
	env.ControlPlane.APIServer = &envtest.APIServer{Path: Program(t, "k8s.io/kubernetes/cmd/kube-apiserver")}
	// envtest's range has 254 addresses, fewer than a large mesh has Services.
	env.ControlPlane.APIServer.Configure().Set("service-cluster-ip-range", "10.96.0.0/16")
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Errorf("the API server did not stop: %v", err)
		}
	})
	config, err := env.Start()
	if err != nil {
		t.Fatalf("the API server did not start: %v", err)
	}
	// A test applies thousands of objects, and waits for each.
	config.QPS, config.Burst = -1, -1
	return config, env.WebhookInstallOptions
}

// Program is the path of a program that go.mod lists as a tool, built if it is not yet.
func Program(t testing.TB, pkg string) string {
	t.Helper()
	path := strings.TrimSpace(output(t, "..", "go", "tool", "-n", pkg))
	if !filepath.IsAbs(path) {
		t.Fatalf("go tool -n %s: %q is no path", pkg, path)
	}
	return path
}

// ModuleDir is where the files of a module lie that the go.mod in a folder
// requires, downloaded if they are not yet and compared with its go.sum.
func ModuleDir(t testing.TB, folder, module string) string {
	t.Helper()
	var found struct{ Dir string }
	if err := json.Unmarshal([]byte(output(t, folder, "go", "mod", "download", "-json", module)), &found); err != nil {
		t.Fatalf("%s: %v", module, err)
	}
	return found.Dir
}

func output(t testing.TB, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, problem.Bytes())
	}
	return string(out)
}

// istioCRDs are the CRDs of the chart that installs them.
func istioCRDs(t testing.TB) []*apiextensions.CustomResourceDefinition {
	t.Helper()
	file, err := manifests.FS.Open("charts/base/files/crd-all.gen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []*apiextensions.CustomResourceDefinition
	decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		var crd apiextensions.CustomResourceDefinition
		switch err := decoder.Decode(&crd); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("Istio's CRDs: %v", err)
		case crd.Name != "":
			all = append(all, &crd)
		}
	}
}
