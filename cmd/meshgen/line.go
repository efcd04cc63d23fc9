package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/review"
	"github.com/meshgen/meshgen/policies"
	"github.com/meshgen/meshgen/schema"
)

// outcome is how far one cluster's line came, and what was found on the way.
type outcome struct {
	cluster  string // empty when the profile could not be read
	profile  *profile.Profile
	plan     *plan.Plan
	tree     *artifact.Tree // complete only with status clean
	findings diag.List
	status   status
}

// add takes in a stage's findings; errors set the status and end the line.
func (o *outcome) add(found diag.List, onError status) (ended bool) {
	o.findings = append(o.findings, found...)
	if found.HasErrors() {
		o.status = onError
	}
	return o.status != clean
}

// decide runs the line up to the plan.
func (w *worker) decide(path string) (*outcome, error) {
	defer limitMemory()()
	fsys, name, prefix := open(path)
	p, found := w.loader.Load(fsys, name)
	absolute(p, found, prefix)
	return planned(p, found)
}

// planned is the line of a profile that was read, up to the plan.
func planned(p *profile.Profile, found diag.List) (*outcome, error) {
	o := &outcome{}
	if o.add(found, invalid) || p == nil {
		return o, nil
	}
	o.profile, o.cluster = p, p.Metadata.Name
	pl, err := plan.Build(p)
	if err != nil {
		return o, err
	}
	o.plan = pl
	o.add(pl.Findings, invalid)
	return o, nil
}

// deciding is what memory a profile should be read and planned in, in bytes: the
// limit makes the collector work harder, and is lifted once the profile is known to
// be sound. GOMEMLIMIT overrides it.
const deciding = 340 << 20

func limitMemory() (lift func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(deciding)
	return func() { debug.SetMemoryLimit(before) }
}

// walk runs the whole line for one profile: decide, generate, prove, gate,
// simulate where a report is asked for, review. Nothing is written.
func (w *worker) walk(ctx context.Context, path, base string, proofs *manifests.Builder) (*outcome, error) {
	o, err := w.decide(path)
	if err != nil || o.status != clean {
		return o, err
	}
	if o.tree, err = generators.Render(o.plan); err != nil {
		return o, err
	}
	objects, ended, err := o.prove(path, base, proofs)
	if err != nil || ended {
		return o, err
	}
	found, err := policies.Check(ctx, o.plan, objects)
	if err != nil {
		return o, err
	}
	if o.add(found, denied) {
		return o, nil
	}
	if w.simulates {
		if err := o.simulate(ctx); err != nil {
			return o, err
		}
	}
	return o, review.Render(o.profile, o.plan, o.findings, o.tree)
}

// prove builds what the cluster will receive, over the user's own base when it
// is not empty.
func (o *outcome) prove(path, base string, proofs *manifests.Builder) (objects []manifests.Object, ended bool, err error) {
	in, ended := o.input(path, base)
	if ended {
		return nil, true, nil
	}
	objects, found, err := proofs.Build(in)
	if err != nil {
		return nil, false, err
	}
	return objects, o.add(found, invalid), nil
}

// input is the cluster's part of a build; path is where the profile was read.
func (o *outcome) input(path, base string) (in manifests.Input, ended bool) {
	values, found := userValues(path, o.profile)
	return manifests.Input{Plan: o.plan, Tree: o.tree, Values: values, Base: base, Pos: o.profile.Pos}, o.add(found, invalid)
}

// userValues reads the Helm values files that the profile names; they stay
// inside the profile's folder, links included.
func userValues(path string, p *profile.Profile) ([]manifests.ValuesFile, diag.List) {
	if len(p.Spec.Istiod.Values) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, diag.List{unreadableValues(p, 0, err)}
	}
	defer root.Close()
	var files []manifests.ValuesFile
	var found diag.List
	for i, name := range p.Spec.Istiod.Values {
		data, err := readValues(root, name)
		if err != nil {
			found = append(found, unreadableValues(p, i, err))
			continue
		}
		files = append(files, manifests.ValuesFile{Name: filepath.ToSlash(filepath.Join(filepath.Dir(path), name)), Data: data})
	}
	return files, found
}

// readValues looks at the kind and size before it opens: a named pipe would block.
func readValues(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, outside(err)
	}
	if !info.Mode().IsRegular() || info.Size() > schema.MaxSize {
		return nil, fmt.Errorf("it is not a file of at most %d MiB", schema.MaxSize>>20)
	}
	return root.ReadFile(name)
}

func unreadableValues(p *profile.Profile, i int, err error) diag.Finding {
	field := fmt.Sprintf("spec.istiod.values[%d]", i)
	return diag.Finding{
		Severity: diag.Error, ID: "manifests/unreadable-values", Pos: p.Pos(field), Subject: field,
		Message: fmt.Sprintf("Helm values file %s cannot be read: %v", p.Spec.Istiod.Values[i], err),
		Hint:    "name a file below the profile's folder, relative to it; links that leave the folder are not followed",
	}
}
