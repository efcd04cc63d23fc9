package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
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
	tree     *artifact.Tree         // complete only with status clean
	values   []manifests.ValuesFile // the user's
	objects  []manifests.Object
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
func (w *worker) decide(path string) (*outcome, error) { return w.read(onDisk(path)) }

// read is decide for a profile wherever from.
func (w *worker) read(in input) (*outcome, error) {
	defer limitMemory()()
	o := &outcome{}
	p, found := w.loader.Load(in.fsys, in.name)
	absolute(p, found, in.prefix)
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
	if err := o.gate(ctx, onDisk(path), base, proofs); err != nil || o.status != clean {
		return o, err
	}
	if w.simulates {
		if err := o.simulate(ctx); err != nil {
			return o, err
		}
	}
	return o, review.Render(o.profile, o.plan, o.findings, o.tree)
}

// gate generates from the plan, proves what it comes to, and asks the policies.
func (o *outcome) gate(ctx context.Context, in input, base string, proofs *manifests.Builder) (err error) {
	if o.tree, err = generators.Render(o.plan); err != nil {
		return err
	}
	ended := false
	if o.objects, ended, err = o.prove(in, base, proofs); err != nil || ended {
		return err
	}
	found, err := policies.Check(ctx, o.plan, o.objects)
	o.add(found, denied)
	return err
}

// prove builds what the cluster will receive, over the user's own base when it
// is not empty.
func (o *outcome) prove(in input, base string, proofs *manifests.Builder) (objects []manifests.Object, ended bool, err error) {
	values, found := userValues(in, o.profile)
	if o.add(found, invalid) {
		return nil, true, nil
	}
	o.values = values
	objects, found, err = proofs.Build(manifests.Input{Plan: o.plan, Tree: o.tree, Values: values, Base: base, Pos: o.profile.Pos})
	if err != nil {
		return nil, false, err
	}
	return objects, o.add(found, invalid), nil
}

// userValues reads the Helm values files that the profile names; they stay
// inside the profile's folder, links included.
func userValues(in input, p *profile.Profile) ([]manifests.ValuesFile, diag.List) {
	var files []manifests.ValuesFile
	var found diag.List
	for i, name := range p.Spec.Istiod.Values {
		data, err := readValues(in.beside, name)
		if err != nil {
			found = append(found, unreadableValues(p, i, err))
			continue
		}
		files = append(files, manifests.ValuesFile{Name: in.folder + path.Clean(name), Data: data})
	}
	return files, found
}

// readValues looks at the kind and size before it opens: a named pipe would block.
func readValues(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > schema.MaxSize {
		return nil, fmt.Errorf("it is not a file of at most %d MiB", schema.MaxSize>>20)
	}
	return fs.ReadFile(folder, name)
}

func unreadableValues(p *profile.Profile, i int, err error) diag.Finding {
	field := fmt.Sprintf("spec.istiod.values[%d]", i)
	return diag.Finding{
		Severity: diag.Error, ID: "manifests/unreadable-values", Pos: p.Pos(field), Subject: field,
		Message: fmt.Sprintf("Helm values file %s cannot be read: %v", p.Spec.Istiod.Values[i], err),
		Hint:    "name a file below the profile's folder, relative to it; links that leave the folder are not followed",
	}
}
