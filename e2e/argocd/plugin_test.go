package argocd_test

import (
	"os"
	"slices"
	"testing"

	"github.com/argoproj/argo-cd/v3/cmpserver/plugin"
	"sigs.k8s.io/yaml"
)

// The plugin file is what Argo CD's sidecar reads: no field that it does not know,
// and valid by its own rules.
func TestPluginFile(t *testing.T) {
	data, err := os.ReadFile(root + "/docs/ci/argocd/plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var strict plugin.PluginConfig
	if err := yaml.UnmarshalStrict(data, &strict); err != nil {
		t.Fatal(err)
	}
	read, err := plugin.ReadPluginConfig(root + "/docs/ci/argocd")
	if err != nil {
		t.Fatal(err)
	}
	if !read.Spec.Discover.IsDefined() || !slices.Equal(read.Spec.Generate.Command, []string{"meshgen", "build", "profile.yaml"}) {
		t.Errorf("Argo CD reads %+v", read.Spec)
	}
}
