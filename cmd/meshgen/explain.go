package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/schema"
)

func newExplain(s streams, cue *schema.Evaluator) *cobra.Command {
	return &cobra.Command{
		Use:   "explain PROFILE [SUBJECT...]",
		Short: "Print how a decision was computed: its inputs, its formulas, their numbers",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := onlyProfile(args[0])
			if err != nil {
				return err
			}
			o, err := newWorker(cue).decide(path)
			if err != nil {
				return err
			}
			if err := s.report(concerning(o.findings, args[1:]), folderOf(path)); err != nil {
				return err
			}
			if o.plan == nil {
				return o.status.asError()
			}
			if err := explain(s, o.plan, args[1:]); err != nil {
				return err
			}
			return o.status.asError()
		},
	}
}

// concerning are the findings about the subjects, and every error.
func concerning(found diag.List, subjects []string) diag.List {
	return slices.DeleteFunc(found, func(f diag.Finding) bool {
		return f.Severity != diag.Error && !slices.Contains(subjects, f.Subject)
	})
}

// explain prints the decisions of those subjects, or the subjects there are.
func explain(s streams, p *plan.Plan, subjects []string) error {
	if len(subjects) == 0 {
		for _, d := range p.Decisions {
			fmt.Fprintln(s.out, d.Subject)
		}
		return nil
	}
	for i, subject := range subjects {
		d, ok := p.Decision(subject)
		if !ok {
			return unknownSubject(p, subject)
		}
		text, err := plan.Explain(d)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprint(s.out, text)
	}
	return nil
}

func unknownSubject(p *plan.Plan, subject string) error {
	var subjects []string
	for _, d := range p.Decisions {
		subjects = append(subjects, d.Subject)
	}
	if near, ok := diag.Nearest(subject, subjects); ok {
		return fmt.Errorf("no decision %s: did you mean %s?", subject, near)
	}
	return fmt.Errorf("no decision %s: meshgen explain PROFILE lists them", subject)
}
