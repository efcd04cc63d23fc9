package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/schema"
)

func newValidate(s streams, cue *schema.Evaluator) *cobra.Command {
	f := fleet{cue: cue}
	var w writing
	cmd := &cobra.Command{
		Use:   "validate PROFILE|FOLDER...",
		Short: "Run every stage and write nothing",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.reporter = newReporter(s, w)
			return f.close(f.validate(cmd, args))
		},
	}
	chartFlag(cmd, &f.chart)
	baseFlag(cmd, &f.base)
	shardFlag(cmd, &f.shard)
	asOfFlag(cmd, &f.asOf)
	findingsFlags(cmd, &w)
	return cmd
}

func (f fleet) validate(cmd *cobra.Command, args []string) error {
	paths, _, err := findProfiles(args)
	if err != nil {
		return err
	}
	f.each = func(o *outcome) (status, error) {
		if o.status == clean {
			fmt.Fprintf(f.out, "%s: valid%s\n", o.cluster, o.exceptedText())
		}
		return o.status, nil
	}
	worst, err := f.run(cmd.Context(), membersOf(f.cue, paths, !f.shard.whole()))
	if err != nil {
		return err
	}
	return worst.asError()
}

func chartFlag(cmd *cobra.Command, chart *string) {
	cmd.Flags().StringVar(chart, "chart", "", "istiod chart to prove the values against, a folder or a .tgz (default: the one built in)")
}

func baseFlag(cmd *cobra.Command, base *string) {
	cmd.Flags().StringVar(base, "base", "", "folder of your own kustomization, to prove the generated Components over it; for one profile")
}
