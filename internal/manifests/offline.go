package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
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

// offline is the disk for reading, with one folder of memory laid over it. A
// kustomization that would reach for the network, a plugin or helm, or leave the
// scope, is refused when it is read, before kustomize can follow it: it has no
// switch for that.
type offline struct {
	filesys.FileSystem // in memory; whatever is written is written there
	disk               filesys.FileSystem
	scope              scope
	show               func(file string) string // as the user would name it
	kustomizations     map[string]string        // the folder of each, by the file that it is, links followed
	refused            *diag.Finding            // what stopped the build, if it was not kustomize
}

func newOffline(within scope, show func(string) string) *offline {
	return &offline{
		FileSystem: filesys.MakeFsInMemory(), disk: filesys.MakeFsOnDisk(),
		scope: within, show: show, kustomizations: map[string]string{},
	}
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

// CleanedAbs follows links, which kustomize does before it reads: a kustomization
// may be a link to a file of any name.
func (o *offline) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	disk := o.under(path)
	folder, name, err := disk.CleanedAbs(path)
	if err != nil || disk == o.FileSystem {
		return folder, name, err
	}
	if !o.scope.holds(folder.Join(name)) {
		return "", "", o.leave(path)
	}
	if isKustomization(path) {
		o.kustomizations[folder.Join(name)] = filepath.Dir(path)
	}
	return folder, name, nil
}

// ReadFile reads regular files of a bounded size within the scope, and
// kustomizations only when they can be built from what is here.
func (o *offline) ReadFile(path string) ([]byte, error) {
	disk := o.under(path)
	if disk == o.FileSystem {
		return disk.ReadFile(path)
	}
	if !o.scope.holds(path) {
		return nil, o.leave(path)
	}
	data, err := o.scope.read(path)
	if errors.Is(err, errUnbounded) {
		return nil, o.refuse(path, err)
	}
	folder, known := o.kustomizations[path]
	if err != nil || !known && !isKustomization(path) {
		return data, err
	}
	if !known {
		folder = filepath.Dir(path)
	}
	return o.judged(path, folder, data)
}

func isKustomization(path string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path))
}

// judged is a kustomization that may be built, in the spelling of today. What
// cannot be read as one is left to kustomize to refuse.
func (o *offline) judged(path, folder string, data []byte) ([]byte, error) {
	var k types.Kustomization
	if k.Unmarshal(data) != nil {
		return data, nil
	}
	k, err := o.modern(k, folder)
	if err != nil {
		return nil, o.refuse(path, err)
	}
	faults := append(unbuildable(k), o.outside(k, folder)...)
	if len(faults) == 0 {
		return sigsyaml.Marshal(k)
	}
	first := faults[0]
	pos := positionOf(data, first.entry)
	pos.File = o.show(path)
	o.find(diag.Finding{
		Severity: diag.Error, ID: first.id, Pos: pos, Subject: first.field,
		Message: fmt.Sprintf("the base cannot be built here: %s %s is %s", first.field, firstLine(first.text), first.what), Hint: first.hint(),
	})
	return nil, errors.New(first.what)
}

// outside are the files and folders that a kustomization asks for beyond the scope.
func (o *offline) outside(k types.Kustomization, folder string) []reference {
	var all []reference
	for _, r := range references(k) {
		at := r.text
		if !filepath.IsAbs(at) {
			at = filepath.Join(folder, at)
		}
		if r.text != "" && !isRemote(r.text) && !o.scope.holds(at) {
			r.id, r.what = baseOutside, "outside of "+o.scope.name
			all = append(all, r)
		}
	}
	return all
}

// leave finds a path beyond the scope that no kustomization spells: links lead there.
func (o *offline) leave(path string) error {
	r := reference{id: baseOutside, what: "outside of " + o.scope.name}
	o.find(diag.Finding{
		Severity: diag.Error, ID: r.id, Pos: diag.Pos{File: o.show(path), Line: 1, Column: 1}, Subject: o.show(path),
		Message: "the base cannot be built here: it leads " + r.what, Hint: r.hint(),
	})
	return errors.New(r.what)
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

// patches are the entries of patchesStrategicMerge, each a file or a patch, which
// has more lines than one.
func (o *offline) patches(entries any, folder string) []any {
	var all []any
	for _, entry := range list(entries) {
		text, _ := entry.(string)
		field := "patch"
		inline := strings.Contains(text, "\n")
		if !inline && isRemote(text) || o.disk.Exists(filepath.Join(folder, text)) {
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

const (
	baseOffline = "manifests/base-offline"
	baseOutside = "manifests/base-outside"
)

// reference is a file or more that a kustomization asks for.
type reference struct {
	field, text string
	entry       string // as it stands in the kustomization
	id, what    string // what is wrong with it
}

func (r reference) hint() string {
	if r.id == baseOutside {
		return "a base below the working folder may use all that lies there, another one its own folder alone; links that leave it are not followed: run meshgen in the folder that holds both"
	}
	return "the proof reads local files alone; build this part beforehand, and list the file that it makes among the resources"
}

// unbuildable is what a kustomization asks for that is not local files.
func unbuildable(k types.Kustomization) []reference {
	var all []reference
	refuse := func(field, text, what string) {
		all = append(all, reference{field: field, text: text, entry: text, id: baseOffline, what: what})
	}
	for _, plugins := range []struct {
		field   string
		entries []string
	}{{"generators", k.Generators}, {"transformers", k.Transformers}, {"validators", k.Validators}} {
		for _, entry := range plugins.entries {
			refuse(plugins.field, firstLine(entry), "a plugin, and plugins are off")
		}
	}
	for _, c := range k.HelmCharts {
		refuse("helmCharts", c.Name, "a chart, and helm is off")
	}
	for _, c := range k.HelmChartInflationGenerator {
		refuse("helmChartInflationGenerator", c.ChartName, "a chart, and helm is off")
	}
	for _, r := range references(k) {
		if isRemote(r.text) {
			r.id, r.what = baseOffline, "on the network"
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
			all = append(all, reference{field: field, text: text, entry: text})
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
		all = append(all, sourcesOf("configMapGenerator", g.KvPairSources)...)
	}
	for _, g := range k.SecretGenerator {
		all = append(all, sourcesOf("secretGenerator", g.KvPairSources)...)
	}
	return all
}

// sourcesOf are the files of a generator, without the keys that they get.
func sourcesOf(field string, s types.KvPairSources) []reference {
	var all []reference
	for _, entry := range slices.Concat(s.FileSources, s.EnvSources, []string{s.EnvSource}) {
		file := entry
		if key, path, ok := strings.Cut(file, "="); ok && !isRemote(key) {
			file = path
		}
		all = append(all, reference{field: field, text: file, entry: entry})
	}
	return all
}

// remote is wider than what kustomize takes for a URL or a Git repository: any
// scheme, user@host, and github.com without either.
var remote = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]*:|git::|[a-z][a-z0-9-]*@|github\.com[/:])`)

func isRemote(text string) bool { return remote.MatchString(strings.TrimSpace(text)) }

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
