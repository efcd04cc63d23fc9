package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
)

// inMemory is where the generated Components and the overlay over the user's
// base stand, for kustomize alone: nothing is written there.
const inMemory = "/.meshgen-proof"

// mostBytes is more than any file of a base has; kustomize has no limit.
const mostBytes = 32 << 20

// offline is the disk for reading, with one folder of memory laid over it. A
// kustomization that would reach for the network, a plugin or helm is refused
// when it is read, before kustomize can follow it: it has no switch for that.
type offline struct {
	filesys.FileSystem // in memory; whatever is written is written there
	disk               filesys.FileSystem
	show               func(file string) string // as the user would name it
	refused            *diag.Finding            // the first; kustomize wraps what it is told beyond use
}

func newOffline(show func(string) string) *offline {
	return &offline{FileSystem: filesys.MakeFsInMemory(), disk: filesys.MakeFsOnDisk(), show: show}
}

func (o *offline) under(path string) filesys.FileSystem {
	if path == inMemory || strings.HasPrefix(path, inMemory+"/") {
		return o.FileSystem
	}
	return o.disk
}

func (o *offline) IsDir(path string) bool                { return o.under(path).IsDir(path) }
func (o *offline) Exists(path string) bool               { return o.under(path).Exists(path) }
func (o *offline) ReadDir(path string) ([]string, error) { return o.under(path).ReadDir(path) }
func (o *offline) Glob(pattern string) ([]string, error) { return o.under(pattern).Glob(pattern) }

func (o *offline) Open(path string) (filesys.File, error) { return o.under(path).Open(path) }

func (o *offline) Walk(path string, walk filepath.WalkFunc) error {
	return o.under(path).Walk(path, walk)
}

func (o *offline) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	return o.under(path).CleanedAbs(path)
}

// ReadFile reads regular files of a bounded size, and kustomizations only when
// they can be built from what is here.
func (o *offline) ReadFile(path string) ([]byte, error) {
	disk := o.under(path)
	if disk == o.FileSystem {
		return disk.ReadFile(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostBytes {
		return nil, fmt.Errorf("%s is not a file of at most %d MiB", o.show(path), mostBytes>>20)
	}
	data, err := disk.ReadFile(path)
	if err != nil || !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return data, err
	}
	return o.judged(path, data)
}

// judged is a kustomization that may be built. What cannot be read as one is
// left to kustomize to refuse.
func (o *offline) judged(path string, data []byte) ([]byte, error) {
	var k types.Kustomization
	if k.Unmarshal(data) != nil {
		return data, nil
	}
	for _, u := range unbuildable(k) {
		if o.refused == nil {
			pos := positionOf(data, u.text)
			pos.File = o.show(path)
			o.refused = &diag.Finding{
				Severity: diag.Error, ID: "manifests/base-offline", Pos: pos, Subject: u.field,
				Message: fmt.Sprintf("the base cannot be built here: %s %s is %s", u.field, u.text, u.what),
				Hint:    "the proof reads local files alone; build this part beforehand, and list the file that it makes among the resources",
			}
		}
		return nil, fmt.Errorf("%s %s is %s", u.field, u.text, u.what)
	}
	return o.quiet(k, filepath.Dir(path), data)
}

// quiet is a kustomization without deprecated fields, of each of which kustomize
// tells standard error. Vars have no other spelling and are left out: they put
// text into fields that are not meshgen's, before and after alike.
func (o *offline) quiet(k types.Kustomization, folder string, data []byte) ([]byte, error) {
	k.Vars = nil
	for _, p := range k.PatchesStrategicMerge {
		patch := types.Patch{Patch: string(p)}
		if o.disk.Exists(filepath.Join(folder, string(p))) {
			patch = types.Patch{Path: string(p)}
		}
		k.Patches = append(k.Patches, patch)
	}
	k.PatchesStrategicMerge = nil
	k.FixKustomization()
	if err := k.FixKustomizationPreMarshalling(o.FileSystem); err != nil {
		return nil, err
	}
	return sigsyaml.Marshal(k)
}

// reference is what a kustomization asks for that is not a local file.
type reference struct{ field, text, what string }

func unbuildable(k types.Kustomization) []reference {
	var all []reference
	plugin := func(field string, entries []string) {
		for _, entry := range entries {
			all = append(all, reference{field, firstLine(entry), "a plugin, and plugins are off"})
		}
	}
	plugin("generators", k.Generators)
	plugin("transformers", k.Transformers)
	plugin("validators", k.Validators)
	for _, c := range k.HelmCharts {
		all = append(all, reference{"helmCharts", c.Name, "a chart, and helm is off"})
	}
	for _, c := range k.HelmChartInflationGenerator {
		all = append(all, reference{"helmChartInflationGenerator", c.ChartName, "a chart, and helm is off"})
	}
	for _, r := range references(k) {
		if isRemote(r.text) {
			r.what = "on the network"
			all = append(all, r)
		}
	}
	return all
}

// references are all that a kustomization can load by a path or a URL.
func references(k types.Kustomization) []reference {
	var all []reference
	add := func(field string, texts ...string) {
		for _, text := range texts {
			all = append(all, reference{field: field, text: text})
		}
	}
	add("resources", k.Resources...)
	add("resources", k.Bases...)
	add("components", k.Components...)
	add("crds", k.Crds...)
	add("configurations", k.Configurations...)
	add("openapi", k.OpenAPI["path"])
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) {
		add("patches", p.Path)
	}
	for _, p := range k.PatchesStrategicMerge {
		add("patches", string(p))
	}
	for _, r := range k.Replacements {
		add("replacements", r.Path)
	}
	for _, g := range k.ConfigMapGenerator {
		add("configMapGenerator", sourcesOf(g.KvPairSources)...)
	}
	for _, g := range k.SecretGenerator {
		add("secretGenerator", sourcesOf(g.KvPairSources)...)
	}
	return all
}

// sourcesOf are the files of a generator, without the keys that they get.
func sourcesOf(s types.KvPairSources) []string {
	var all []string
	for _, file := range slices.Concat(s.FileSources, s.EnvSources, []string{s.EnvSource}) {
		if key, path, ok := strings.Cut(file, "="); ok && !isRemote(key) {
			file = path
		}
		all = append(all, file)
	}
	return all
}

// remote is wider than what kustomize takes for a URL or a Git repository: any
// scheme, user@host, and github.com without either.
var remote = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]*:|git::|[a-z][a-z0-9-]*@|github\.com[/:])`)

func isRemote(text string) bool {
	return remote.MatchString(strings.TrimSpace(text)) && !strings.Contains(text, "\n")
}

// positionOf is where a text stands in a YAML file as a value; the file's top
// when it is not there as it is.
func positionOf(data []byte, text string) diag.Pos {
	pos := diag.Pos{Line: 1, Column: 1}
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil {
		return pos
	}
	if n := scalarOf(&doc, text); n != nil {
		pos.Line, pos.Column = n.Line, n.Column
	}
	return pos
}

func scalarOf(n *yaml.Node, text string) *yaml.Node {
	if n.Kind == yaml.ScalarNode && (n.Value == text || firstLine(n.Value) == text && text != "") {
		return n
	}
	for _, child := range n.Content {
		if found := scalarOf(child, text); found != nil {
			return found
		}
	}
	return nil
}
