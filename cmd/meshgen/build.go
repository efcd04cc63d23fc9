package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/manifests"
	"github.com/meshgen/meshgen/schema"
)

func newBuild(s streams, cue *schema.Evaluator) *cobra.Command {
	var chart, base string
	cmd := &cobra.Command{
		Use:   "build PROFILE",
		Short: "Print the objects that are applied, as kustomize build does, and write nothing",
		Long: `build runs every stage and prints the objects that are applied beside the istiod
chart: ScaledObjects, the PodDisruptionBudget, Sidecars. Applications and their
project are left out: they apply the files of render. With --base it prints all
objects of that kustomization too, patched. Without it patches have no objects, are
left out, and a warning says so. Nothing is printed unless each stage was clean.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := onlyProfile(args[0])
			if err != nil {
				return err
			}
			proofs, err := manifests.Open(chart)
			if err != nil {
				return err
			}
			return s.build(cmd.Context(), newWorker(cue), path, base, proofs)
		},
	}
	chartFlag(cmd, &chart)
	baseFlag(cmd, &base)
	return cmd
}

func (s streams) build(ctx context.Context, w *worker, path, base string, proofs *manifests.Builder) error {
	o, err := w.walk(ctx, path, base, proofs)
	if err != nil {
		return err
	}
	var applied []byte
	if o.status == clean {
		in, _ := o.manifests(onDisk(path), base) // walk has read it before
		docs, found, err := proofs.Applied(in)
		if err != nil {
			return err
		}
		applied = docs
		o.add(found, invalid)
	}
	if err := s.report(o.findings, folderOf(path)); err != nil {
		return err
	}
	_, err = s.out.Write(applied)
	return errors.Join(err, o.status.asError())
}
