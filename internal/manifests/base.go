package manifests

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/internal/diag"
)

const originAnnotation = "config.kubernetes.io/origin"

// base is the user's own kustomization, and what it builds to.
type base struct {
	given   string // as the user named the folder
	real    string // absolute, links followed; empty for the items of a ResourceList
	scope   scope
	objects []baseObject
	index   map[ref][]baseObject // by the name that each has, and by the one before prefixes
	sources sources
}

// baseObject is an object of the user's base, and where it was written.
type baseObject struct {
	ref    ref
	object map[string]any
	file   string // absolute; empty when kustomize does not say
	source string // its name in that file, before prefixes
}

// overBase proves the Components over the user's base, and returns what comes
// out for the objects that meshgen touches. What the base must not have is a
// finding; what the Components then damage is a failure.
func (in Input) overBase(components map[string]*component) ([]Object, diag.List, error) {
	b := &base{given: in.Base}
	if found := b.load(); found != nil {
		return nil, diag.List{*found}, nil
	}
	j := baseJudge{in: in, base: b, actual: map[ref]baseObject{}, taken: map[ref]ref{}}
	j.judge()
	if j.found.HasErrors() {
		return nil, j.found, nil
	}
	after, err := b.build("after", components)
	if err != nil {
		return nil, nil, fmt.Errorf("the Components over %s: %w", in.Base, err)
	}
	objects, err := j.compare(after, components)
	if err != nil {
		return nil, nil, fmt.Errorf("the Components over %s: %w", in.Base, err)
	}
	return objects, j.found, nil
}

// show names a file as the user would: below the folder that was given.
func (b *base) show(file string) string {
	if b.real == "" {
		return file
	}
	if below, err := filepath.Rel(b.real, file); err == nil {
		file = filepath.Join(b.given, below)
	}
	return filepath.ToSlash(file)
}

// kustomization is the folder's own, for findings that have no better place.
func (b *base) kustomization() diag.Pos {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if b.real == "" {
			break
		}
		if _, err := os.Stat(filepath.Join(b.real, name)); err == nil {
			return diag.Pos{File: b.show(filepath.Join(b.real, name)), Line: 1, Column: 1}
		}
	}
	return diag.Pos{File: filepath.ToSlash(b.given)}
}

// load builds the base alone.
func (b *base) load() *diag.Finding {
	absolute, err := filepath.Abs(b.given)
	if err == nil {
		b.real, err = filepath.EvalSymlinks(absolute)
	}
	if err == nil {
		b.scope, err = scopeOf(b.given, b.real)
	}
	if err != nil {
		return b.fails(pathless(err))
	}
	b.sources = sources{b.scope, map[string][]*yamlnode.Node{}}
	if info, err := os.Stat(b.real); err == nil && !info.IsDir() {
		return b.fails(errors.New("it is a file; name its folder"))
	}
	objects, err := b.build("before", nil)
	var refused refusal
	if errors.As(err, &refused) {
		return &refused.finding
	}
	if err != nil {
		return b.fails(err)
	}
	b.objects, b.index = objects, map[ref][]baseObject{}
	for _, o := range objects {
		b.index[o.ref] = append(b.index[o.ref], o)
		if before := o.ref.named(o.source); before != o.ref {
			b.index[before] = append(b.index[before], o)
		}
	}
	return nil
}

// pathless is an error without the path, which the message names already.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (b *base) fails(err error) *diag.Finding {
	return &diag.Finding{
		Severity: diag.Error, ID: "manifests/base-fails", Pos: b.kustomization(), Subject: b.given,
		Message: fmt.Sprintf("the base %s cannot be built: %s", b.given, b.said(err)),
		Hint:    "--base takes a folder with a kustomization; see what kustomize build says of it",
	}
}

// said is what kustomize says, in one line, from where it gave up trying the
// base as a file, with the base called as the user does.
func (b *base) said(err error) string {
	const triedAsFile = " must resolve to a file': "
	text := strings.Join(strings.Fields(err.Error()), " ")
	if i := strings.LastIndex(text, triedAsFile); i >= 0 {
		text = text[i+len(triedAsFile):]
	}
	below, err := filepath.Rel(inMemory+"/before", b.real)
	if err != nil || b.real == "" {
		return text
	}
	return strings.NewReplacer(below, b.given, b.real, b.given).Replace(text)
}

// refusal is an error that carries the finding which says it better.
type refusal struct{ finding diag.Finding }

func (r refusal) Error() string { return r.finding.Message }

// build is the base under an overlay in memory, with the Components or without.
func (b *base) build(name string, components map[string]*component) ([]baseObject, error) {
	disk, folder := newOffline(b.scope, b.show), inMemory+"/"+name
	if err := b.overlay(disk, folder, components); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, folder)
	if disk.refused != nil {
		return nil, refusal{*disk.refused}
	}
	if err != nil {
		return nil, err
	}
	var objects []baseObject
	for _, r := range built.Resources() {
		object, err := r.Map()
		if err != nil {
			return nil, err
		}
		o := baseObject{object: object, file: takeOrigin(object, folder)}
		o.ref = refOf(object)
		o.source = b.sources.name(o)
		objects = append(objects, o)
	}
	return objects, nil
}

// overlay lays out a kustomization over the base and the Components.
func (b *base) overlay(disk *offline, folder string, components map[string]*component) error {
	below, err := filepath.Rel(folder, b.real)
	if err != nil {
		return err
	}
	overlay := types.Kustomization{Resources: []string{filepath.ToSlash(below)}, BuildMetadata: []string{types.OriginAnnotations}}
	for _, namespace := range slices.Sorted(maps.Keys(components)) {
		c := components[namespace]
		overlay.Components = append(overlay.Components, "../components/"+c.folder)
		if err := c.writeTo(disk, inMemory+"/components/"+c.folder); err != nil {
			return err
		}
	}
	return writeKustomization(disk, folder, overlay)
}

// writeTo lays the whole Component out.
func (c *component) writeTo(disk *offline, folder string) error {
	if err := writeKustomization(disk, folder, c.kustomization); err != nil {
		return err
	}
	return writeFiles(disk, folder, c.data)
}

// takeOrigin takes kustomize's annotation off an object: the file that it came
// from, absolute; empty for one that a generator made.
func takeOrigin(object map[string]any, folder string) string {
	annotations, _ := at(object, "metadata", "annotations").(map[string]any)
	text, _ := annotations[originAnnotation].(string)
	delete(annotations, originAnnotation)
	if metadata, ok := object["metadata"].(map[string]any); ok && len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	var origin struct {
		Path string `json:"path"`
	}
	if yaml.Unmarshal([]byte(text), &origin) != nil || origin.Path == "" {
		return ""
	}
	return filepath.Join(folder, origin.Path)
}
