package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/review"
	"github.com/meshgen/meshgen/schema"
)

func newPlan(s streams, cue *schema.Evaluator) *cobra.Command {
	var format string
	var asOf time.Time
	cmd := &cobra.Command{
		Use:   "plan PROFILE",
		Short: "Print every decision for a cluster, with what was found on the way",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer limitMemory()()
			path, err := onlyProfile(args[0])
			if err != nil {
				return err
			}
			print, ok := planFormats[format]
			if !ok {
				return fmt.Errorf("output format %q: use text, markdown or json", format)
			}
			w := newWorker(cue)
			w.asOf = asOf
			o, err := w.decide(path)
			if err != nil {
				return err
			}
			if format != "json" {
				if err := s.report(o.reported(), folderOf(path)); err != nil {
					return err
				}
			}
			if o.plan == nil {
				o.plan = &plan.Plan{Cluster: o.cluster}
			}
			if err := print(s, o); err != nil {
				return err
			}
			return o.status.asError()
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, markdown or json")
	asOfFlag(cmd, &asOf)
	return cmd
}

var planFormats = map[string]func(streams, *outcome) error{
	"text": planText,
	"markdown": func(s streams, o *outcome) error {
		_, err := fmt.Fprint(s.out, review.Markdown(o.plan, o.findings, nil))
		return err
	},
	"json": func(s streams, o *outcome) error {
		data, err := o.plan.JSON(o.reported())
		if err != nil {
			return err
		}
		_, err = s.out.Write(data)
		return err
	},
}

func planText(s streams, o *outcome) error {
	rows := table{}
	for _, d := range o.plan.Decisions {
		runs := ""
		if d.Running != nil {
			runs = fmt.Sprintf("runs %v, %s", d.Running.Value, d.Running.Verdict)
		}
		rows.add(d.Subject, plan.ValueText(d.Value, d.Unit), runs)
	}
	return rows.print(s)
}
