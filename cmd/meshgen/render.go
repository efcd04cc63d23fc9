package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/findings"
	"github.com/meshgen/meshgen/internal/output"
	"github.com/meshgen/meshgen/schema"
)

// rendering is one render command.
type rendering struct {
	*reporter
	cue               *schema.Evaluator
	root, chart, base string
	check, simulates  bool
	shard             shard
	asOf              time.Time
}

func newRender(s streams, cue *schema.Evaluator) *cobra.Command {
	r := rendering{cue: cue}
	w := writing{format: findings.Text}
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
a profile is there that cannot be read, or two have one name.

With --report the day with most connections is simulated as by meshgen simulate,
100 trials without a fault, and simulation.txt, simulation.json and simulation.html
say what became of it; plain render never simulates, and removes them.

With --shard i/n only the clusters of that part are written, and only orphans of
it removed: those whose name has i - 1 as its 64-bit FNV-1a hash modulo n. Give
each of the n jobs the whole fleet as the argument.

-o may be given twice: once with the folder, once with how findings are written, ` + formatWords() + `.
A document goes to standard output, alone; a diff and what was written to
standard error. A folder with such a name is ./sarif. Without a folder nothing
is written.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.reporter = newReporter(s, w)
			return r.close(r.run(cmd, args))
		},
	}
	cmd.Flags().VarP(target{&r.root, &w.format}, "output", "o", "folder to write cluster folders into, or how findings are written; again for the other")
	writingFlags(cmd, &w)
	cmd.Flags().BoolVar(&r.check, "check", false, "write nothing, print a unified diff, exit with 2 when anything differs")
	cmd.Flags().BoolVar(&r.simulates, "report", false, "simulate each cluster's day too, and write what became of it")
	chartFlag(cmd, &r.chart)
	baseFlag(cmd, &r.base)
	shardFlag(cmd, &r.shard)
	asOfFlag(cmd, &r.asOf)
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
	if err := r.checkRoot(); err != nil {
		return err
	}
	members := membersOf(r.cue, paths, fleetwide || !r.shard.whole())
	clusters, sure := clustersOf(members)
	f := fleet{reporter: r.reporter, cue: r.cue, chart: r.chart, base: r.base, shard: r.shard, simulates: r.simulates, asOf: r.asOf}
	f.put = r.putter()
	f.each = func(o *outcome) (status, error) {
		sure = sure && o.profile != nil
		return r.show(o)
	}
	worst, err := f.run(cmd.Context(), members)
	if err != nil {
		return err
	}
	if fleetwide && sure && worst != failed && r.root != "" {
		s, err := r.orphans(clusters)
		if err != nil {
			return err
		}
		worst = worse(worst, s)
	}
	return worst.asError()
}

// checkRoot looks at the folder ahead of the lines; a format alone names none.
func (r rendering) checkRoot() error {
	switch {
	case r.root == "" && (r.check || r.simulates):
		return fmt.Errorf("-o %s says how findings are written: give the folder too, with another -o", r.format)
	case r.root == "":
		_, err := fmt.Fprintf(r.err, "nothing is written: -o %s says how findings are written, and no other -o names a folder\n", r.format)
		return err
	case r.check:
		return nil
	}
	return output.CheckRoot(r.root)
}

// putter writes a cluster's files, or finds how they differ; nothing of a cluster
// whose line was not clean.
func (r rendering) putter() func(*outcome) error {
	if r.root == "" {
		return nil
	}
	put := output.NewWriter(r.root).Write
	if r.check {
		put = func(cluster string, files []artifact.File) (output.Changes, error) {
			return output.Diff(r.root, cluster, files)
		}
	}
	return func(o *outcome) (err error) {
		if o.status == clean {
			o.changes, err = put(o.cluster, o.tree.Files())
		}
		return err
	}
}

// show prints what was written, or how it would differ.
func (r rendering) show(o *outcome) (status, error) {
	if o.status != clean || r.root == "" {
		return o.status, nil
	}
	if !r.check {
		_, err := fmt.Fprintf(r.out, "%s: %s%s\n", o.cluster, o.changes.Summary(), o.exceptedText())
		return clean, err
	}
	if len(o.changes) == 0 {
		return clean, nil
	}
	for _, c := range o.changes {
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
