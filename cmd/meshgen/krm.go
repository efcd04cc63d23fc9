package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/schema"
)

func newKRM(s streams, cue *schema.Evaluator) *cobra.Command {
	var chart string
	cmd := &cobra.Command{
		Use:   "krm",
		Short: "Be a KRM function: a ResourceList in, and out with what the plan makes of it",
		Long: `krm reads a ResourceList from standard input, as kustomize and kpt write it, with
the cluster profile as its functionConfig. Items that the plan decides on are
patched, HPAs that are taken over go, and ScaledObjects, the PodDisruptionBudget
and Sidecars are added, but no Applications, once every stage from schema to
policies was clean; the policies judge what comes out. What was found is in
results, and on standard error. Where something is an error, the items come out as they came in, and the
exit status is not 0. What krm has printed it can read again: nothing changes.

Items are called what they are called in the cluster. A namespace of which there
is no workload and no Service among them is not patched; a warning says so. As a
generator, krm has no items, and prints whole objects alone. Helm values of
istiod are proven and not printed: render writes them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			proofs, err := manifests.Open(chart)
			if err != nil {
				return err
			}
			in, found, err := manifests.ReadResourceList(s.in)
			if err != nil {
				return err
			}
			if in == nil {
				return errors.Join(s.report(found), invalid)
			}
			return function{s, newWorker(cue), proofs}.run(cmd.Context(), in)
		},
	}
	chartFlag(cmd, &chart)
	return cmd
}

// function is one call of krm.
type function struct {
	streams
	worker *worker
	proofs *manifests.Builder
}

func (f function) run(ctx context.Context, in *manifests.ResourceList) error {
	out, o, err := f.transform(ctx, in)
	if err != nil {
		return err
	}
	printed := out
	if o.status != clean {
		printed = in
	}
	if err := printed.Write(f.out, out.Results(o.findings)); err != nil {
		return err
	}
	for i := range o.findings {
		o.findings[i] = out.Located(o.findings[i])
	}
	return errors.Join(f.report(o.findings), o.status.asError())
}

// transform is the line for the profile and the items of a list. The list that it
// returns is the one that findings are about.
func (f function) transform(ctx context.Context, in *manifests.ResourceList) (*manifests.ResourceList, *outcome, error) {
	o, err := f.worker.decideText(manifests.FunctionConfig, in.Config())
	if err != nil || o.status != clean {
		return in, o, err
	}
	if o.tree, err = generators.Render(o.plan); err != nil {
		return in, o, err
	}
	input, ended := o.manifests(onDisk(manifests.FunctionConfig), "")
	if ended {
		return in, o, nil
	}
	out, objects, found, err := f.proofs.Apply(input, in)
	if err != nil || o.add(found, invalid) {
		return in, o, err
	}
	o.objects = objects
	return out, o, o.judge(ctx, time.Time{})
}

// decideText is decide for the text of a YAML profile, which findings call name.
func (w *worker) decideText(name string, data []byte) (*outcome, error) {
	defer limitMemory()()
	return w.planned(w.loader.Parse(name, data))
}
