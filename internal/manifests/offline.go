package manifests

import (
	"encoding/json"
	"errors"
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
	refused            *diag.Finding            // what stopped the build, if it was not kustomize
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
		return nil, o.refuse(path, fmt.Errorf("it is not a file of at most %d MiB", mostBytes>>20))
	}
	data, err := disk.ReadFile(path)
	if err != nil || !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return data, err
	}
	return o.judged(path, data)
}

// judged is a kustomization that may be built, in the spelling of today. What
// cannot be read as one is left to kustomize to refuse.
func (o *offline) judged(path string, data []byte) ([]byte, error) {
	var k types.Kustomization
	if k.Unmarshal(data) != nil {
		return data, nil
	}
	k, err := o.modern(k, filepath.Dir(path))
	if err != nil {
		return nil, o.refuse(path, err)
	}
	all := unbuildable(k)
	if len(all) == 0 {
		return sigsyaml.Marshal(k)
	}
	pos := positionOf(data, all[0].text)
	pos.File = o.show(path)
	o.find(diag.Finding{
		Severity: diag.Error, ID: "manifests/base-offline", Pos: pos, Subject: all[0].field,
		Message: fmt.Sprintf("the base cannot be built here: %s %s is %s", all[0].field, all[0].text, all[0].what),
		Hint:    "the proof reads local files alone; build this part beforehand, and list the file that it makes among the resources",
	})
	return nil, errors.New(all[0].what)
}

// refuse finds a file that kustomize would take for absent, or read for ever.
func (o *offline) refuse(path string, err error) error {
	o.find(diag.Finding{
		Severity: diag.Error, ID: "manifests/base-fails", Pos: diag.Pos{File: o.show(path), Line: 1, Column: 1}, Subject: o.show(path),
		Message: "the base cannot be built: " + err.Error(), Hint: "see what kustomize build says of it",
	})
	return err
}

// find keeps the first finding: what kustomize makes of the error is beyond use.
func (o *offline) find(f diag.Finding) {
	if o.refused == nil {
		o.refused = &f
	}
}

// modern is a kustomization without deprecated fields, of each of which kustomize
// tells standard error. Vars have no other spelling and are left out: they put
// text into fields that are not meshgen's, before and after alike.
func (o *offline) modern(k types.Kustomization, folder string) (types.Kustomization, error) {
	data, err := json.Marshal(k)
	if err != nil {
		return k, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return k, err
	}
	delete(fields, "vars")
	fields["patches"] = slices.Concat(o.patches(fields["patchesStrategicMerge"], folder), list(fields["patches"]))
	delete(fields, "patchesStrategicMerge")
	if data, err = json.Marshal(fields); err != nil {
		return k, err
	}
	k = types.Kustomization{}
	if err := json.Unmarshal(data, &k); err != nil {
		return k, err
	}
	k.FixKustomization()
	return k, k.FixKustomizationPreMarshalling(o.FileSystem)
}

// patches are the entries of patchesStrategicMerge, each a file or a patch.
func (o *offline) patches(entries any, folder string) []any {
	var all []any
	for _, entry := range list(entries) {
		text, _ := entry.(string)
		field := "patch"
		if isRemote(text) || o.disk.Exists(filepath.Join(folder, text)) {
			field = "path"
		}
		all = append(all, map[string]any{field: text})
	}
	return all
}

func list(value any) []any {
	all, _ := value.([]any)
	return all
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
	add("components", k.Components...)
	add("crds", k.Crds...)
	add("configurations", k.Configurations...)
	add("openapi", k.OpenAPI["path"])
	for _, p := range k.Patches {
		add("patches", p.Path)
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
