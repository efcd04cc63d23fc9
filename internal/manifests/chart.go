package manifests

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	istio "istio.io/istio/manifests"

	"github.com/meshgen/meshgen/internal/plan"
)

// embeddedMinor is the Istio minor of the embedded chart: the module pinned in
// go.mod is a commit of release-1.31, and its chart says 1.0.0.
const embeddedMinor = "1.31"

const embeddedFolder = "charts/istio-control/istio-discovery"

// Builder holds the istiod chart and the proofs that were made with it. It may
// be used from several goroutines.
type Builder struct {
	chart  *chart.Chart
	minor  string
	proofs sync.Map // of proof, by what it depends on
}

// Open reads the istiod chart at a path, a folder or a .tgz, or the embedded one
// when the path is empty.
func Open(path string) (*Builder, error) {
	if path == "" {
		c, err := embedded()
		return &Builder{chart: c, minor: embeddedMinor}, err
	}
	c, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("read the chart %s: %w", path, err)
	}
	if c.Metadata.Name != "istiod" && c.Metadata.Name != "istio-discovery" {
		return nil, fmt.Errorf("the chart %s is %q, not istiod", path, c.Metadata.Name)
	}
	return &Builder{chart: c, minor: minorOf(c)}, nil
}

func embedded() (*chart.Chart, error) {
	var files []*loader.BufferedFile
	err := fs.WalkDir(istio.FS, embeddedFolder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(istio.FS, path)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(path, embeddedFolder+"/"), Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the embedded istiod chart: %w", err)
	}
	return loader.LoadFiles(files)
}

var version = regexp.MustCompile(`^v?(\d+\.\d+)\.`)

// minorOf is the Istio minor that a chart says it is of; empty when it is a
// placeholder.
func minorOf(c *chart.Chart) string {
	for _, text := range []string{c.Metadata.AppVersion, c.Metadata.Version} {
		if m := version.FindStringSubmatch(text); m != nil && m[1] != "1.0" {
			return m[1]
		}
	}
	return ""
}

// render is the chart's objects with these values, offline: no lookups, no DNS.
func (b *Builder) render(i plan.Istiod, values map[string]any) ([]map[string]any, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	kube, err := chartutil.ParseKubeVersion("v" + i.KubernetesVersion + ".0")
	if err != nil {
		return nil, err
	}
	capabilities.KubeVersion = *kube
	release := chartutil.ReleaseOptions{Name: i.Deployment, Namespace: i.Namespace, IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(b.chart, deepCopy(values), release, capabilities)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Engine{}.Render(b.chart, all)
	if err != nil {
		return nil, err
	}
	return objectsOf(texts)
}

func objectsOf(texts map[string]string) ([]map[string]any, error) {
	var objects []map[string]any
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, ".txt") || strings.TrimSpace(texts[name]) == "" {
			continue
		}
		found, err := decodeAll([]byte(texts[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// judged is the objects as text, without what prints every value whether it is
// used or not: ConfigMap values, and the key values of the injector's.
func judged(objects []map[string]any) (string, error) {
	var s strings.Builder
	for _, object := range objects {
		name, _ := at(object, "metadata", "name").(string)
		if object["kind"] == "ConfigMap" && (name == "values" || strings.HasPrefix(name, "values-")) {
			continue
		}
		if object["kind"] == "ConfigMap" && strings.HasPrefix(name, "istio-sidecar-injector") {
			object = maps.Clone(object)
			data, _ := object["data"].(map[string]any)
			data = maps.Clone(data)
			delete(data, "values")
			object["data"] = data
		}
		text, err := json.Marshal(object)
		if err != nil {
			return "", err
		}
		s.Write(text)
		s.WriteByte('\n')
	}
	return s.String(), nil
}

// merge lays one set of values over another, as Helm does with -f: maps merge,
// everything else is replaced, and a null stays, to delete a default.
func merge(under, over map[string]any) map[string]any {
	merged := maps.Clone(under)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range over {
		below, isMap := merged[key].(map[string]any)
		if above, also := value.(map[string]any); isMap && also {
			merged[key] = merge(below, above)
			continue
		}
		merged[key] = value
	}
	return merged
}

func deepCopy(values map[string]any) map[string]any {
	copied := make(map[string]any, len(values))
	for key, value := range values {
		copied[key] = copyValue(value)
	}
	return copied
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return deepCopy(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copyValue(item)
		}
		return list
	}
	return value
}

// digest is a short name for what a proof depends on.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}
