// Command meshgen computes the safe values of an Istio mesh from a cluster
// profile and writes them as Helm values and kustomize overlays.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/schema"
)

// garbage is how much of it, in percent of what lives, may lie about before it is
// collected. A run is short and lives in little: four times as much memory at the
// most for a sixth of the time of a mesh of 1,000 services. GOGC overrides it.
const garbage = 400

// untilFirst is the same up to the first collection, in percent of the 4 MB that the
// runtime takes for what lives then: the run of one cluster makes 75 MB in all, and
// needs none.
const untilFirst = 2000

// putOff puts the first collection off. Whatever is unreachable is found by it, and
// tells that it is over.
func putOff() {
	debug.SetGCPercent(untilFirst)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, garbage)
}

func main() {
	if os.Getenv("GOGC") == "" {
		putOff()
	}
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a command reads and writes: data on out, findings on err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns its exit status.
func run(args []string, s streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cue := newEvaluator()
	defer cue.Close()
	root := newRoot(s, cue)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if status := status(0); errors.As(err, &status) {
		return int(status)
	}
	if err != nil {
		s.fail(err)
		return int(failed)
	}
	return int(clean)
}

func newRoot(s streams, cue *schema.Evaluator) *cobra.Command {
	root := &cobra.Command{
		Use:   "meshgen",
		Short: "Safe values for an Istio mesh, computed from one cluster profile",
		Long: `meshgen reads a cluster profile (zones, nodes, endpoints, the control plane's
memory model, the calendar of events) and computes the values that keep the mesh
standing on its worst day. It writes Helm values and kustomize overlays, each
number with its reason, and only when every stage from schema to policies was
clean.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.AddCommand(newValidate(s, cue), newRender(s, cue), newBuild(s, cue), newPlan(s, cue), newExplain(s, cue), newSimulate(s, cue), newDiff(s, cue), newPolicy(s), newCalibrate(s), newKRM(s, cue), newSchema(s), newVersion(s), newEvaluate(s))
	return root
}
