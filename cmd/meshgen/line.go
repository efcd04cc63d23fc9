package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/exceptions"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/internal/output"
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
	judged   []string // the stages and policies that were reached
	findings diag.List
	excepted []findings.Excepted // as any day's files have it
	still    []findings.Excepted // of these, what is excepted on the day of --as-of
	dated    diag.List           // what that day finds: no file has it
	status   status
	changes  output.Changes // of what was there before
}

// reported are the findings that a command prints.
func (o *outcome) reported() diag.List { return append(slices.Clone(o.findings), o.dated...) }

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
	p, found := w.loader.Load(in.fsys, in.name)
	absolute(p, found, in.prefix)
	return w.planned(p, found)
}

// planned is the line of a profile that was read, up to the plan.
func (w *worker) planned(p *profile.Profile, found diag.List) (*outcome, error) {
	o := &outcome{judged: []string{"schema"}}
	if o.add(found, invalid) || p == nil {
		return o, nil
	}
	o.profile, o.cluster = p, p.Metadata.Name
	pl, err := plan.Build(p)
	if err != nil {
		return o, err
	}
	o.plan = pl
	o.judged = append(o.judged, "plan")
	o.add(pl.Findings, invalid)
	o.date(w.asOf)
	return o, o.judgeExceptions()
}

// date finds what is over on the day of --as-of.
func (o *outcome) date(asOf time.Time) {
	if !asOf.IsZero() {
		o.dated = append(plan.Ended(o.profile, asOf), exceptions.Expired(o.profile, asOf)...)
	}
}

// judgeExceptions finds exceptions from what is no policy. The policies are asked
// for only where there is one: that compiles them.
func (o *outcome) judgeExceptions() error {
	if len(o.profile.Spec.Exceptions) == 0 {
		return nil
	}
	ids, err := policiesOf(true)
	if err != nil {
		return err
	}
	o.add(exceptions.Judge(o.profile, ids), invalid)
	return nil
}

// deciding is what memory a profile should be read and planned in, in bytes: the
// limit makes the collector work harder, and is lifted once the profile is known to
// be sound. GOMEMLIMIT overrides it.
const deciding = 340 << 20

func limitMemory() (lift func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	readers.Lock()
	defer readers.Unlock()
	if readers.count++; readers.count == 1 {
		readers.before = debug.SetMemoryLimit(deciding)
	}
	return func() {
		readers.Lock()
		defer readers.Unlock()
		if readers.count--; readers.count == 0 {
			debug.SetMemoryLimit(readers.before)
		}
	}
}

// readers are the workers that read and plan right now: the limit is the process's,
// and the last of them lifts it.
var readers struct {
	sync.Mutex
	count  int
	before int64
}

// walk runs the whole line for one profile: decide, generate, prove, gate,
// simulate where a report is asked for, review. Nothing is written.
func (w *worker) walk(ctx context.Context, path, base string, proofs *manifests.Builder) (*outcome, error) {
	o, err := w.decide(path)
	if err != nil || o.status != clean {
		return o, err
	}
	if err := o.gate(ctx, onDisk(path), base, proofs, w.asOf); err != nil || o.status != clean {
		return o, err
	}
	if w.simulates {
		if err := o.simulate(ctx); err != nil {
			return o, err
		}
	}
	return o, review.Render(o.profile, o.plan, o.ofProfile(), o.excepted, o.tree)
}

// ofProfile are the findings that depend on the profile alone, which files may have.
// The proof's depend on --chart and --base too: a drift check with another chart
// than the render had must not find a difference.
func (o *outcome) ofProfile() diag.List {
	return slices.DeleteFunc(slices.Clone(o.findings), func(f diag.Finding) bool { return strings.HasPrefix(f.ID, "manifests/") })
}

// judge holds the objects against the policies, but for what the profile excepts.
// What an exception that has expired no longer covers is found on that day alone:
// where it denies, nothing is written, and else the files are those of any day.
func (o *outcome) judge(ctx context.Context, asOf time.Time) error {
	ids, err := policiesOf(true)
	if err != nil {
		return err
	}
	found, err := policies.Check(ctx, o.plan, o.objects)
	if err != nil {
		return err
	}
	o.judged = append(o.judged, ids...)
	left, excepted := exceptions.Apply(o.profile, found)
	back, still := exceptions.Lapsed(excepted, asOf)
	o.excepted, o.still = excepted, still
	o.dated = append(o.dated, back...)
	if back.HasErrors() {
		o.status = denied
	}
	o.add(left, denied)
	return nil
}

// gate generates from the plan, proves what it comes to, and asks the policies.
func (o *outcome) gate(ctx context.Context, in input, base string, proofs *manifests.Builder, asOf time.Time) (err error) {
	if o.tree, err = generators.Render(o.plan); err != nil {
		return err
	}
	ended := false
	if o.objects, ended, err = o.prove(in, base, proofs); err != nil || ended {
		return err
	}
	return o.judge(ctx, asOf)
}

// prove builds what the cluster will receive, over the user's own base when it
// is not empty.
func (o *outcome) prove(in input, base string, proofs *manifests.Builder) (objects []manifests.Object, ended bool, err error) {
	cluster, ended := o.manifests(in, base)
	if ended {
		return nil, true, nil
	}
	o.judged = append(o.judged, "manifests")
	objects, found, err := proofs.Build(cluster)
	if err != nil {
		return nil, false, err
	}
	return objects, o.add(found, invalid), nil
}

// manifests is the cluster's part of a build.
func (o *outcome) manifests(in input, base string) (cluster manifests.Input, ended bool) {
	values, found := userValues(in, o.profile)
	o.values = values
	return manifests.Input{Plan: o.plan, Tree: o.tree, Values: values, Base: base, Pos: o.profile.Pos}, o.add(found, invalid)
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
	field, name := fmt.Sprintf("spec.istiod.values[%d]", i), p.Spec.Istiod.Values[i]
	return diag.Finding{
		Severity: diag.Error, ID: "manifests/unreadable-values", Pos: p.Pos(field), Subject: field,
		Message: fmt.Sprintf("Helm values file %s cannot be read: %s", name, strings.TrimPrefix(diag.Reason(err), name+": ")),
		Hint:    "name a file below the profile's folder, relative to it; links that leave the folder are not followed",
	}
}
