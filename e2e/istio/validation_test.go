package istio_test

import (
	"testing"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/validation"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// sidecars are the Sidecars that meshgen rendered for a cluster, read by Istio's
// own parser, which knows every field.
func sidecars(t *testing.T, name string) []config.Config {
	t.Helper()
	var all []config.Config
	for _, file := range cluster.Rendered(t, name, "mesh/*/sidecar-*.yaml") {
		parsed, unknown, err := crd.ParseInputs(file.Text)
		if err != nil || len(unknown) > 0 || len(parsed) != 1 {
			t.Fatalf("%s: %d objects, %d of unknown kind, %v; want one Sidecar", file.Path, len(parsed), len(unknown), err)
		}
		all = append(all, parsed[0])
	}
	return all
}

func TestIstioAdmitsEverySidecar(t *testing.T) {
	written := map[string]int{"boutique": 12, "thousand": 40}
	for _, name := range cluster.Names(t) {
		found := sidecars(t, name)
		if len(found) != written[name] {
			t.Errorf("%s: %d Sidecars, want %d", name, len(found), written[name])
		}
		for _, sidecar := range found {
			warning, err := validation.ValidateSidecar(sidecar)
			if warning != nil || err != nil {
				t.Errorf("%s: Sidecar %s/%s: warning %v, error %v", name, sidecar.Namespace, sidecar.Name, warning, err)
			}
		}
	}
}

func TestIstioRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		host           string
		warned, failed bool
	}{
		"a short name":                            {host: "shop/cart", failed: true},
		"the whole mesh beside a namespace":       {host: "*/*", warned: true},
		"a Service beside the namespace it is in": {host: "istio-system/istiod.istio-system.svc.cluster.local", warned: true},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := withHosts(sidecars(t, "boutique")[0], "istio-system/*", c.host)
			warning, err := validation.ValidateSidecar(sidecar)
			if (warning != nil) != c.warned || (err != nil) != c.failed {
				t.Errorf("host %s: warning %v, error %v", c.host, warning, err)
			}
		})
	}
}
