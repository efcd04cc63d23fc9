package istio_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/config/validation"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// ofIstio is the line of an object of any of Istio's API groups.
var ofIstio = regexp.MustCompile(`(?m)^apiVersion: .*\bistio\.io/`)

// resources are Istio's among the files of a cluster, whatever their kind and
// wherever they stand, read by Istio's own parser, which knows every field.
func resources(t *testing.T, folder string) []config.Config {
	t.Helper()
	var all []config.Config
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !ofIstio.Match(text) {
			return err
		}
		parsed, unknown, err := crd.ParseInputs(string(text))
		if err != nil || len(unknown) > 0 || len(parsed) == 0 {
			t.Fatalf("%s: %d objects, %d of unknown kind, %v", path, len(parsed), len(unknown), err)
		}
		all = append(all, parsed...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sidecars are the Sidecars of a cluster.
func sidecars(t *testing.T, folder string) []config.Config {
	t.Helper()
	var all []config.Config
	for _, object := range resources(t, folder) {
		if object.GroupVersionKind.Kind == "Sidecar" {
			all = append(all, object)
		}
	}
	return all
}

func TestIstioAdmitsEveryResource(t *testing.T) {
	folders := map[string]string{"mixed": mixed(t).folder}
	for _, name := range cluster.Names(t) {
		folders[name] = cluster.Folder(name)
	}
	got := map[string]int{}
	for name, folder := range folders {
		for _, object := range resources(t, folder) {
			kind := object.GroupVersionKind
			schema, known := collections.PilotGatewayAPI().FindByGroupVersionAliasesKind(kind)
			if !known {
				t.Fatalf("%s: Istio knows no %s", name, kind)
			}
			warning, err := schema.ValidateConfig(object)
			if warning != nil || err != nil {
				t.Errorf("%s: %s %s/%s: warning %v, error %v", name, kind.Kind, object.Namespace, object.Name, warning, err)
			}
			got[strings.Join([]string{name, kind.Kind}, " ")]++
		}
	}
	want := map[string]int{"boutique Sidecar": 12, "thousand Sidecar": 40, "mixed Sidecar": 7}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources, by cluster and kind (-want +got):\n%s", diff)
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
			sidecar := withHosts(sidecars(t, cluster.Folder("boutique"))[0], "istio-system/*", c.host)
			warning, err := validation.ValidateSidecar(sidecar)
			if (warning != nil) != c.warned || (err != nil) != c.failed {
				t.Errorf("warning %v, error %v; want a warning: %v, an error: %v", warning, err, c.warned, c.failed)
			}
		})
	}
}
