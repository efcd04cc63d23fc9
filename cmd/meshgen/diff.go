package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/change"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/schema"
)

// comparing is one diff command.
type comparing struct {
	*reporter
	cue             *schema.Evaluator
	print           func(io.Writer, []*change.Cluster) error // nil for the formats of findings
	chart, oldChart string
}

func newDiff(s streams, cue *schema.Evaluator) *cobra.Command {
	d := comparing{cue: cue}
	output := "text"
	var w writing
	cmd := &cobra.Command{
		Use:   "diff OLD NEW [PATH...]",
		Short: "Show what a reviewer has to know of a change, the dangerous first",
		Long: `diff runs every stage for the profiles of OLD and of NEW and writes nothing. For
each cluster it says what is dangerous, which decisions moved and which fields of the
profile moved them, what restarts and when it must not, which findings came and went,
and where the resources differ that the cluster will receive. When nothing moved it
prints nothing; else the exit status is 2.

OLD and NEW are each a profile, a folder of profiles, or a git revision. What is there
as a file or a folder is taken for that; refs/heads/NAME is always a revision. Where a
PATH is given, both sides are read at each PATH alone; one that neither side has is
refused. Else a revision is read where the other side is, else in the working folder;
REVISION:PATH says it itself, and must be there. A revision is read from git's objects:
nothing is checked out, fetched or executed, and no link is followed.

  meshgen diff HEAD clusters
  meshgen diff origin/main HEAD clusters
  meshgen diff v1:clusters/eu/profile.yaml clusters/eu/profile.yaml

-o sarif, github, gitlab and junit write what is of high or medium risk, each at the
field that moved it, and the findings that came. Files of a revision are then named
from the repository's top.`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.format = findings.Text
			if d.print = diffFormats[output]; d.print == nil {
				if w.format = findings.Format(output); !isFormat(output) {
					return fmt.Errorf("output format %q: use text, markdown, json, sarif, github, gitlab or junit", output)
				}
			}
			d.reporter = newReporter(s, w)
			return d.close(d.run(cmd.Context(), args))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "text, markdown or json; or sarif, github, gitlab or junit: what is dangerous, as findings")
	cmd.Flags().StringVar(&output, "format", output, "the same as -o")
	documentsFlag(cmd, &w.files)
	chartFlag(cmd, &d.chart)
	cmd.Flags().StringVar(&d.oldChart, "old-chart", "", "istiod chart that OLD runs with, where it is another than NEW's")
	return cmd
}

var diffFormats = map[string]func(io.Writer, []*change.Cluster) error{
	"text": change.Text, "markdown": change.Markdown, "json": change.JSON,
}

func (d comparing) run(ctx context.Context, args []string) error {
	s := &sides{ctx: ctx}
	origins, err := s.origins(args[0], args[1], args[2:])
	if err != nil {
		return err
	}
	defer closeAll(origins)
	pairs, err := d.pairs(origins)
	if err != nil {
		return err
	}
	proofs, err := d.open()
	if err != nil {
		return err
	}
	moved, worst, err := d.compareAll(ctx, pairs, proofs)
	if err != nil {
		return err
	}
	if len(moved) == 0 {
		return worst.asError()
	}
	change.Sort(moved)
	if d.print != nil {
		if err := d.print(d.out, moved); err != nil {
			return err
		}
	}
	return worse(worst, drifted).asError()
}

func closeAll(origins [2]*origin) {
	for _, o := range origins {
		if o.revision != nil {
			o.revision.blobs.close()
		}
	}
}

// open opens the charts of OLD and of NEW, which are mostly one.
func (d comparing) open() (proofs [2]*manifests.Builder, err error) {
	if proofs[1], err = manifests.Open(d.chart); err != nil || d.oldChart == "" {
		return [2]*manifests.Builder{proofs[1], proofs[1]}, err
	}
	proofs[0], err = manifests.Open(d.oldChart)
	return proofs, err
}

// pair is a cluster's profile on both sides, of which one may be missing.
type pair [2]*input

// pairs are the profiles by the cluster's name, in the order of names. Those whose
// name cannot be read stand alone: their lines say why.
func (d comparing) pairs(origins [2]*origin) ([]pair, error) {
	byName := map[string]pair{}
	var unnamed []pair
	for side, o := range origins {
		inputs, err := o.inputs()
		if err != nil {
			return nil, err
		}
		members := namedInputs(d.cue, inputs)
		if found := sameNames(members); len(found) > 0 {
			return nil, errors.Join(d.found(findings.Suite{Name: "profiles", Judged: []string{"schema"}, Findings: found}, foldersOf(members)...), invalid)
		}
		for i, m := range members {
			p := byName[m.cluster]
			if m.cluster == "" {
				p = pair{}
			}
			p[side] = &inputs[i]
			if m.cluster == "" {
				unnamed = append(unnamed, p)
			} else {
				byName[m.cluster] = p
			}
		}
	}
	var all []pair
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	if all = append(all, unnamed...); len(all) == 0 {
		return nil, fmt.Errorf("%w below %s or %s", errNoProfile, origins[0].where(), origins[1].where())
	}
	return all, nil
}

// comparison is what moved in one pair, and what went wrong on the way.
type comparison struct {
	sides   [2]*outcome
	cluster *change.Cluster
	err     error
}

// compareAll compares on every core, and reports in the order of the pairs.
func (d comparing) compareAll(ctx context.Context, pairs []pair, proofs [2]*manifests.Builder) (moved []*change.Cluster, worst status, err error) {
	results := make([]chan comparison, len(pairs))
	slots := make(chan *worker, runtime.GOMAXPROCS(0))
	for range cap(slots) {
		slots <- newWorker(d.cue)
	}
	for i := range results {
		results[i] = make(chan comparison, 1)
	}
	go func() {
		for i, p := range pairs {
			w := <-slots
			go func() {
				results[i] <- w.compare(ctx, p, proofs)
				slots <- w
			}()
		}
	}()
	for i, p := range pairs {
		c := <-results[i]
		worst = worse(worst, d.finish(p, c))
		if c.cluster != nil {
			moved = append(moved, c.cluster)
		}
	}
	return moved, worst, ctx.Err()
}

// finish reports what kept a pair from being compared, and its status; in documents,
// what moved too.
func (d comparing) finish(p pair, c comparison) status {
	worst := clean
	for side, o := range c.sides {
		if o == nil || o.status != invalid && (o.status != denied || side == 0) {
			continue
		}
		worst = worse(worst, o.status)
		s := o.suite(member{path: p[side].path})
		if err := d.say(s, folderOf(p[side].path)); err != nil && c.err == nil {
			c.err = err
		}
		d.collect(named(s, *p[side]))
	}
	if c.cluster != nil && d.documents() {
		d.collect(concerns(p, c))
	}
	if c.err != nil {
		d.fail(fmt.Errorf("%s: %w", p.path(), c.err))
		return failed
	}
	return worst
}

// concerns are what moved in a pair, as findings in its new profile, or in the old
// one of a cluster that is gone.
func concerns(p pair, c comparison) findings.Suite {
	side := 1
	if p[1] == nil {
		side = 0
	}
	o := c.sides[side]
	s := o.suite(member{path: p[side].path})
	s.Findings = c.cluster.Concerns(o.profile.Pos(""))
	return named(s, *p[side])
}

// named has the files of a revision as they are called in the repository: who reads
// a document has no name for the revision.
func named(s findings.Suite, in input) findings.Suite {
	if in.label == "" {
		return s
	}
	s.Findings = slices.Clone(s.Findings)
	for i := range s.Findings {
		s.Findings[i].File = strings.TrimPrefix(s.Findings[i].File, in.label)
	}
	for file, at := range s.Sources {
		at.File = strings.TrimPrefix(at.File, in.label)
		s.Sources[file] = at
	}
	return s
}

func (p pair) path() string {
	if p[1] != nil {
		return p[1].path
	}
	return p[0].path
}

// compare runs the line of both sides, and compares what they come to. Where the
// profile and all that it names are the same, the rest of the line would be too.
func (w *worker) compare(ctx context.Context, p pair, proofs [2]*manifests.Builder) (c comparison) {
	for side, in := range p {
		if in == nil || c.err != nil {
			continue
		}
		c.sides[side], c.err = w.read(*in)
	}
	if c.err != nil || c.stopped() || proofs[0] == proofs[1] && c.same(p) {
		return c
	}
	for side, in := range p {
		if in == nil || c.err != nil {
			continue
		}
		c.err = c.sides[side].gate(ctx, *in, "", proofs[side], w.asOf)
	}
	if c.err != nil || c.stopped() {
		return c
	}
	c.cluster, c.err = change.Between(sideOf(c.sides[0]), sideOf(c.sides[1]), schema.Consistent)
	return c
}

// stopped reports a side that is not valid; what a policy denies can be comparison.
func (c comparison) stopped() bool {
	return slices.ContainsFunc(c.sides[:], func(o *outcome) bool { return o != nil && o.status == invalid })
}

// same reports that both sides say the same, and the files that they name do.
func (c comparison) same(p pair) bool {
	if p[0] == nil || p[1] == nil {
		return false
	}
	var said [2]string
	for side, o := range c.sides {
		values, found := userValues(*p[side], o.profile)
		if found.HasErrors() {
			return false // the line says it
		}
		var data [][]byte
		for _, v := range values {
			data = append(data, v.Data)
		}
		text, err := json.Marshal([]any{o.profile, data})
		if err != nil {
			return false
		}
		said[side] = string(text)
	}
	return said[0] == said[1]
}

func sideOf(o *outcome) *change.Side {
	if o == nil {
		return nil
	}
	return &change.Side{Profile: o.profile, Plan: o.plan, Findings: o.findings, Values: o.values, Objects: o.objects, Denied: o.status == denied}
}
