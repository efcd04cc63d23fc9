package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/report"
	"github.com/meshgen/meshgen/internal/simulate"
	"github.com/meshgen/meshgen/schema"
)

func newSimulate(s streams, cue *schema.Evaluator) *cobra.Command {
	o := simulate.Options{}
	format := ""
	cmd := &cobra.Command{
		Use:   "simulate PROFILE",
		Short: "Play the day of an event, as the mesh runs today and as planned",
		Long: `simulate plays the day of an event many times over, with the values that run
today (spec.istiod.running, and the chart's defaults for what it leaves out) and
with those of the plan: every proxy's connection, KEDA and the HPA, pods and their
memory. Where connections weigh by endpoints, a third world is what scaling: static
would plan. Without --event it is the day on which the calendar has most connections.

What goes wrong is given with --fault, which may be given again:
  zone                     a zone of istiod's is lost
  node                     a node is lost, with the istiods on it
  pods=N, pods=N%          so many istiods are lost, and start again
  rollout                  istiod is rolled out
  prometheus[=DURATION]    Prometheus does not answer, for so long or to the end
  endpoints[=DURATION]     it has no endpoints to weigh connections by, likewise
  early=DURATION           the event's load comes earlier than the calendar has it
  load=FACTOR              the event adds so many times as much
  no-prescale              istiod's calendar triggers never fire
The first six strike when the full load is reached, or at a moment counted from
the event's start: zone@19m, rollout@-10m; without an event from minute 0.

The exit status is 3 when a pod of the planned world is killed in a larger share
of the trials than --tolerate.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, ok := simulateFormats[format]
			if !ok {
				return fmt.Errorf("output format %q: use text, json, svg or html", format)
			}
			return play(cmd, s, cue, args[0], o, print)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Event, "event", "", "event whose day is played (default the one with most connections)")
	flags.StringArrayVar(&o.Faults, "fault", nil, "KIND[=ARG][@WHEN] that goes wrong; again for more")
	flags.IntVar(&o.Trials, "trials", usualTrials, "trials of each world")
	flags.Uint64Var(&o.Seed, "seed", usualSeed, "seed of the random numbers")
	flags.Float64Var(&o.Tolerate, "tolerate", usualTolerate, "share of the trials in which a pod may be killed")
	flags.StringVarP(&format, "output", "o", "text", "text, json, svg or html")
	return cmd
}

var simulateFormats = map[string]func(io.Writer, *outcome, *simulate.Report) error{
	"text": func(w io.Writer, _ *outcome, r *simulate.Report) error {
		_, err := io.WriteString(w, r.Text())
		return err
	},
	"json": func(w io.Writer, _ *outcome, r *simulate.Report) error {
		data, err := reportJSON(r)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	},
	"svg": func(w io.Writer, _ *outcome, r *simulate.Report) error {
		data, err := report.SVG(r)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	},
	"html": func(w io.Writer, o *outcome, r *simulate.Report) error {
		data, err := report.HTML(r, o.plan, o.findings)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	},
}

// reportJSON is a report as indented JSON with a final newline.
func reportJSON(r *simulate.Report) ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// play plans a profile, plays the day and prints what became of it.
func play(cmd *cobra.Command, s streams, cue *schema.Evaluator, profile string, o simulate.Options, print func(io.Writer, *outcome, *simulate.Report) error) error {
	path, err := onlyProfile(profile)
	if err != nil {
		return err
	}
	decided, err := newWorker(cue).decide(path)
	if err != nil {
		return err
	}
	if err := s.report(decided.findings, folderOf(path)); err != nil {
		return err
	}
	if decided.status != clean {
		return decided.status.asError()
	}
	o.Progress = trialProgress(s.err)
	played, err := simulate.Run(cmd.Context(), decided.profile, decided.plan, o)
	if err != nil {
		return err
	}
	if err := print(s.out, decided, played); err != nil {
		return err
	}
	return safety(played).asError()
}

// The trials of a report that nobody asks more of.
const (
	usualTrials   = 100
	usualSeed     = 1
	usualTolerate = 0.01
)

// simulate plays the worst day of a cluster, and adds what became of it to the
// cluster's files.
func (o *outcome) simulate(ctx context.Context) error {
	r, err := simulate.Run(ctx, o.profile, o.plan, simulate.Options{Trials: usualTrials, Seed: usualSeed, Tolerate: usualTolerate})
	if err != nil {
		return fmt.Errorf("simulate %s: %w", o.cluster, err)
	}
	for format, name := range map[string]string{"text": "simulation.txt", "json": "simulation.json", "html": "simulation.html"} {
		var data bytes.Buffer
		if err := simulateFormats[format](&data, o, r); err != nil {
			return err
		}
		if err := o.tree.Add(artifact.File{Path: o.cluster + "/" + name, Owner: "simulate", Data: data.Bytes()}); err != nil {
			return err
		}
	}
	return nil
}

// safety is the status of a report: denied where the planned world is not safe.
func safety(r *simulate.Report) status {
	for _, w := range r.Worlds {
		if w.Name == "planned" && !w.Safe {
			return denied
		}
	}
	return clean
}

// trialProgress shows on a terminal that is watched how many trials are done, and
// takes the line away after the last; elsewhere it is nil.
func trialProgress(err io.Writer) func(done, of int) {
	f := watched(err)
	if f == nil {
		return nil
	}
	return func(done, of int) {
		if done < of {
			fmt.Fprintf(f, "\r%d/%d trials", done, of)
			return
		}
		fmt.Fprint(f, "\r\x1b[K")
	}
}
