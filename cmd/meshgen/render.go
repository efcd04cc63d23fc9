package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/output"
	"github.com/meshgen/meshgen/schema"
)

// rendering is one render command.
type rendering struct {
	streams
	cue               *schema.Evaluator
	root, chart, base string
	check, report     bool
	shard             shard
}

func newRender(s streams, cue *schema.Evaluator) *cobra.Command {
	r := rendering{streams: s, cue: cue}
	cmd := &cobra.Command{
		Use:   "render PROFILE|FOLDER... -o DIR",
		Short: "Write each cluster's files, or show what would change with --check",
		Long: `render runs every stage for each profile and writes the cluster's folder below
DIR. Nothing of a cluster is written unless each of its stages was clean of
errors. With --check nothing is written: what would change is printed as a
unified diff, and the exit status is 2.

With a folder of clusters as the argument, cluster folders below DIR that a
meshgen.lock.json calls meshgen's, and whose profile is gone, are removed; the
folder of one cluster leaves the others alone. None is removed while
a profile is there that cannot be read.

With --report the day with most connections is simulated as by meshgen simulate,
100 trials without a fault, and simulation.txt, simulation.json and simulation.html
say what became of it; plain render never simulates, and removes them.

With --shard i/n only the clusters of that part are written, and only orphans of
it removed: those whose name has i - 1 as its 64-bit FNV-1a hash modulo n. Give
each of the n jobs the whole fleet as the argument.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	cmd.Flags().StringVarP(&r.root, "output", "o", "", "folder to write cluster folders into")
	cmd.Flags().BoolVar(&r.check, "check", false, "write nothing, print a unified diff, exit with 2 when anything differs")
	cmd.Flags().BoolVar(&r.report, "report", false, "simulate each cluster's day too, and write what became of it")
	chartFlag(cmd, &r.chart)
	baseFlag(cmd, &r.base)
	shardFlag(cmd, &r.shard)
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
		if err := output.CheckRoot(r.root); err != nil {
			return err
		}
	}
	members := membersOf(r.cue, paths, fleetwide || !r.shard.whole())
	clusters, known := clustersOf(members)
	worst, err := fleet{streams: r.streams, cue: r.cue, chart: r.chart, base: r.base, shard: r.shard, simulates: r.report, each: func(o *outcome) (status, error) {
		known = known && o.profile != nil
		return r.put(o)
	}}.run(cmd.Context(), members)
	if err != nil {
		return err
	}
	if fleetwide && known && worst != failed {
		s, err := r.orphans(clusters)
		if err != nil {
			return err
		}
		worst = worse(worst, s)
	}
	return worst.asError()
}

// put writes a cluster's files, or prints how they differ; nothing of a cluster
// whose line was not clean.
func (r rendering) put(o *outcome) (status, error) {
	if o.status != clean {
		return o.status, nil
	}
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

// orphans removes, or with --check names, cluster folders of the shard without a
// profile among all of the fleet's.
func (r rendering) orphans(clusters []string) (status, error) {
	orphans, err := output.Orphans(r.root, clusters)
	if err != nil {
		return failed, err
	}
	worst := clean
	for _, cluster := range orphans {
		if !r.shard.has(cluster) {
			continue
		}
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
