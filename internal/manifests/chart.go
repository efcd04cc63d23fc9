package manifests

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	istio "istio.io/istio/manifests"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/recent"
)

// embeddedMinor is the Istio minor of the embedded chart: the module pinned in
// go.mod is a commit of release-1.31, and its chart says 1.0.0.
const embeddedMinor = "1.31"

const embeddedFolder = "charts/istio-control/istio-discovery"

// Builder holds the istiod chart, and what was made of the last clusters' inputs.
// It may be used from several goroutines.
type Builder struct {
	chart    *chart.Chart
	minor    string
	standIns map[string]standIns               // by their end, hostile or bare
	proofs   *recent.Memory[[]deadKey]         // by what they depend on
	renders  *recent.Memory[map[string]string] // what the templates print, by release and values
	decoded  *recent.Memory[[]map[string]any]  // the objects in what a template printed, by the text
	builds   *recent.Memory[[]map[string]any]  // what kustomize builds, by its files
	chunks   *recent.Memory[[]Object]          // of Components, proven, by what that depends on
	listings *recent.Memory[bool]              // whether kustomize puts out what is listed, by its outline
	reading  *reading
}

func newBuilder(c *chart.Chart, minor string, s map[string]standIns) *Builder {
	return &Builder{
		chart: c, minor: minor, standIns: s,
		proofs: recent.New[[]deadKey](64), renders: recent.New[map[string]string](16),
		decoded: recent.New[[]map[string]any](256), builds: recent.New[[]map[string]any](64),
		chunks: recent.New[[]Object](64), listings: recent.New[bool](64), reading: newReading(),
	}
}

// Open reads the istiod chart at a path, a folder or a .tgz, or the embedded one
// when the path is empty. What the first build needs of kustomize it begins to read.
func Open(path string) (*Builder, error) {
	go prepareKustomize()
	s, err := loadStandIns()
	if err != nil {
		return nil, err
	}
	if path == "" {
		c, err := embedded()
		return newBuilder(c, embeddedMinor, s), err
	}
	c, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("read the chart %s: %w", path, err)
	}
	if c.Metadata.Name != "istiod" && c.Metadata.Name != "istio-discovery" {
		return nil, fmt.Errorf("the chart %s is %q, not istiod", path, c.Metadata.Name)
	}
	return newBuilder(c, minorOf(c), s), nil
}

// load reads a chart from its folder or archive, and nothing beside it: Helm would
// follow links. What an archive calls itself is judged by Helm.
func load(path string) (*chart.Chart, error) {
	if strings.Contains(path, "://") {
		return nil, errors.New("charts are not fetched: helm pull it, and name the .tgz")
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, pathless(err)
	}
	err = filepath.WalkDir(real, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink == 0 {
			return err
		}
		name, err := filepath.Rel(real, at)
		return errors.Join(err, fmt.Errorf("%s in it is a link, and links are not followed: put the file itself there", filepath.ToSlash(name)))
	})
	if err != nil {
		return nil, err
	}
	return loader.Load(real)
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

// execute runs the templates offline: no lookups, no DNS.
func execute(c *chart.Chart, i plan.Istiod, values map[string]any) (map[string]string, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	kube, err := chartutil.ParseKubeVersion("v" + i.KubernetesVersion + ".0")
	if err != nil {
		return nil, err
	}
	capabilities.KubeVersion = *kube
	release := chartutil.ReleaseOptions{Name: i.Deployment, Namespace: i.Namespace, IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(c, deepCopy(values), release, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{}.Render(c, all)
}

// render is execute, remembered. The texts depend on the chart, the release, the
// version of Kubernetes and the values alone.
func (b *Builder) render(i plan.Istiod, values map[string]any) (map[string]string, error) {
	key, err := json.Marshal([]any{i.Deployment, i.Namespace, i.KubernetesVersion, values})
	if err != nil {
		return nil, err
	}
	return b.renders.Of(digest(string(key)), func() (map[string]string, error) { return execute(b.chart, i, values) })
}

// settledTemplate prints the values as the templates see them. Helm executes a
// folder from Z to A, so it comes after those of the chart that merge profiles
// and the legacy pilot: block into the values.
const settledTemplate = "templates/AA_settled.yaml"

// settled is what the chart makes of the values before it uses them.
func (b *Builder) settled(i plan.Istiod, values map[string]any) (map[string]any, error) {
	probe := *b.chart
	probe.Templates = append(slices.Clone(b.chart.Templates), &chart.File{Name: settledTemplate, Data: []byte("{{ toJson .Values }}")})
	texts, err := execute(&probe, i, values)
	if err != nil {
		return nil, err
	}
	return chartutil.ReadValues([]byte(texts[path.Join(probe.ChartFullPath(), settledTemplate)]))
}

// wrapper holds the defaults of charts from Istio 1.24 on.
const wrapper = "_internal_defaults_do_not_set"

// defaults are the chart's own values, without the wrapper.
func (b *Builder) defaults() map[string]any {
	wrapped, _ := b.chart.Values[wrapper].(map[string]any)
	return merge(b.chart.Values, wrapped)
}

// objectsOf is the objects in what the templates printed.
func objectsOf(texts map[string]string, decode func(text string) ([]map[string]any, error)) ([]map[string]any, error) {
	var objects []map[string]any
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		found, err := decode(texts[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// decode is decodeAll, remembered. The objects are read-only: clusters whose
// texts are equal share them.
func (b *Builder) decode(text string) ([]map[string]any, error) {
	return b.decoded.Of(text, func() ([]map[string]any, error) { return decodeText(text) })
}

func decodeText(text string) ([]map[string]any, error) { return decodeAll([]byte(text)) }

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

// digest is a short name for what a proof depends on.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}
