package helm_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// release is Istio of one minor version: its chart of istiod, and the folder of
// its sources.
type release struct {
	minor   string
	sources string
	chart   *chart.Chart
}

// releases are the versions of Istio whose module is to be had, oldest first. A
// program can have one version of a module, so each has a module of its own here
// with nothing but the requirement and its hashes.
func releases(t *testing.T) []release {
	t.Helper()
	modules, err := filepath.Glob("charts/*/go.mod")
	if err != nil || len(modules) < 3 {
		t.Fatalf("%d versions of Istio, %v; want at least 3", len(modules), err)
	}
	var all []release
	for _, module := range modules {
		all = append(all, newRelease(t, filepath.Dir(module)))
	}
	return all
}

func newRelease(t *testing.T, module string) release {
	t.Helper()
	r := release{minor: filepath.Base(module), sources: download(t, module)}
	if is := strings.TrimSpace(string(read(t, r.sources+"/VERSION"))); is != r.minor {
		t.Fatalf("%s: the module is of Istio %s", module, is)
	}
	c, err := loader.Load(r.sources + "/manifests/charts/istio-control/istio-discovery")
	if err != nil {
		t.Fatalf("%s: %v", module, err)
	}
	r.chart = c
	return r
}

// download is the folder of Istio's module, whose hash is in go.sum.
func download(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", "istio.io/istio")
	cmd.Dir = module
	out, err := cmd.Output()
	var got struct{ Dir, Version, Sum, Error string }
	if bad := json.Unmarshal(out, &got); err != nil || bad != nil || got.Error != "" {
		t.Fatalf("%s: download: %v, %v, %s", module, err, bad, got.Error)
	}
	if want := "istio.io/istio " + got.Version + " " + got.Sum + "\n"; !bytes.Contains(read(t, module+"/go.sum"), []byte(want)) {
		t.Fatalf("%s: go.sum does not have %s", module, want)
	}
	return got.Dir
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The chart that meshgen proves its values against is one of those below.
func TestTheEmbeddedChartIsJudged(t *testing.T) {
	var versions []string
	for _, r := range releases(t) {
		_, version, _ := strings.Cut(filepath.Base(r.sources), "@")
		versions = append(versions, version)
	}
	for _, module := range []string{"../../go.mod", "../go.mod"} {
		text := read(t, module)
		found := false
		for _, version := range versions {
			found = found || bytes.Contains(text, []byte("istio.io/istio "+version+"\n"))
		}
		if !found {
			t.Errorf("%s requires none of Istio %v", module, versions)
		}
	}
}

// install is what Helm makes of the chart and the values for a cluster, template
// by template, sorted by name.
func (r release) install(t *testing.T, name, namespace, kubernetes string, with map[string]any) []string {
	t.Helper()
	version, err := chartutil.ParseKubeVersion("v" + kubernetes + ".0")
	if err != nil {
		t.Fatal(err)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	options := chartutil.ReleaseOptions{Name: name, Namespace: namespace, IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(r.chart, with, options, capabilities)
	if err != nil {
		t.Fatalf("Istio %s: %v", r.minor, err)
	}
	made, err := engine.Render(r.chart, all)
	if err != nil {
		t.Fatalf("Istio %s: %v", r.minor, err)
	}
	var documents []string
	for _, template := range slices.Sorted(maps.Keys(made)) {
		if !strings.HasSuffix(template, "/NOTES.txt") {
			documents = append(documents, strings.Split("\n"+made[template], "\n---")...)
		}
	}
	return documents
}

// merged are Helm values files, the last of which wins.
func merged(t *testing.T, files []string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, file := range files {
		over, err := chartutil.ReadValuesFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = chartutil.CoalesceTables(over, all)
	}
	return all
}
