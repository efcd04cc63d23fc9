package main

import (
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/schema"
)

// evaluate is the name of the command that evaluates CUE for another process.
const evaluate = "evaluate-cue"

// newEvaluator evaluates CUE profiles in processes of this program. They see
// nothing of the environment, which CUE would read.
func newEvaluator() *schema.Evaluator {
	return schema.NewEvaluator(func() *exec.Cmd {
		program, err := os.Executable()
		return &exec.Cmd{Path: program, Args: []string{"meshgen", evaluate}, Env: []string{"GOTRACEBACK=none"}, Err: err}
	}, runtime.GOMAXPROCS(0))
}

func newEvaluate(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    evaluate,
		Short:  "Evaluate CUE profiles for another meshgen",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return schema.ServeEvaluator(s.in, s.out) },
	}
}
