package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/output"
)

// rendering is one render command.
type rendering struct {
	streams
	root, chart, base string
	check             bool
}

func newRender(s streams) *cobra.Command {
	r := rendering{streams: s}
	cmd := &cobra.Command{
		Use:   "render PROFILE|FOLDER... -o DIR",
		Short: "Write each cluster's files, or show what would change with --check",
		Long: `render runs every stage for each profile and writes the cluster's folder below
DIR. Nothing of a cluster is written unless each of its stages was clean of
errors. With --check nothing is written: what would change is printed as a
unified diff, and the exit status is 2.

With a folder of clusters as the argument, cluster folders below DIR that a
meshgen.lock.json calls meshgen's, and whose profile is gone, are removed; the
folder of one cluster leaves the others alone.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	cmd.Flags().StringVarP(&r.root, "output", "o", "", "folder to write cluster folders into")
	cmd.Flags().BoolVar(&r.check, "check", false, "write nothing, print a unified diff, exit with 2 when anything differs")
	chartFlag(cmd, &r.chart)
	baseFlag(cmd, &r.base)
	if err := cmd.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is defined three lines above
	}
	return cmd
}

func (r rendering) run(cmd *cobra.Command, args []string) error {
	paths, fleetwide, err := findProfiles(args)
	if err != nil {
		return err
	}
	if !r.check {
		if err := output.MakeRoot(r.root); err != nil {
			return err
		}
	}
	var clusters []string
	unnamed := false
	worst, err := fleet{streams: r.streams, chart: r.chart, base: r.base, each: func(o *outcome) (status, error) {
		unnamed = unnamed || o.cluster == ""
		clusters = append(clusters, o.cluster)
		if o.status != clean {
			return o.status, nil
		}
		return r.put(o)
	}}.run(cmd.Context(), paths)
	if err != nil {
		return err
	}
	if fleetwide && !unnamed && worst != failed {
		s, err := r.orphans(clusters)
		if err != nil {
			return err
		}
		worst = worse(worst, s)
	}
	return worst.asError()
}

// put writes a cluster's files, or prints how they differ.
func (r rendering) put(o *outcome) (status, error) {
	changes, err := output.Diff(r.root, o.cluster, o.tree.Files())
	if err != nil {
		return failed, err
	}
	if r.check {
		return r.show(changes)
	}
	if err := output.Write(r.root, o.cluster, o.tree.Files()); err != nil {
		return failed, err
	}
	_, err = fmt.Fprintf(r.out, "%s: %s\n", o.cluster, changes.Summary())
	return clean, err
}

func (r rendering) show(changes output.Changes) (status, error) {
	if len(changes) == 0 {
		return clean, nil
	}
	for _, c := range changes {
		if _, err := fmt.Fprint(r.out, c.Diff); err != nil {
			return failed, err
		}
	}
	return drifted, nil
}

// orphans removes, or with --check names, cluster folders without a profile.
func (r rendering) orphans(clusters []string) (status, error) {
	orphans, err := output.Orphans(r.root, clusters)
	if err != nil {
		return failed, err
	}
	worst := clean
	for _, cluster := range orphans {
		if r.check {
			fmt.Fprintf(r.out, "%s: orphaned: its profile is gone; render removes its files\n", cluster)
			worst = drifted
			continue
		}
		if err := output.Remove(r.root, cluster); err != nil {
			return failed, err
		}
		fmt.Fprintf(r.out, "%s: removed, its profile is gone\n", cluster)
	}
	return worst, nil
}
