package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/report"
)

// calibration is one calibrate command.
type calibration struct {
	streams
	source
	from, to, selector string
	busy               float64
	kind               string
	push               calibrate.Push
	format             string
}

func newCalibrate(s streams) *cobra.Command {
	c := calibration{streams: s}
	cmd := &cobra.Command{
		Use:   "calibrate --prometheus URL | FILE...",
		Short: "Fit istiod's memory model to what Prometheus saw, and print it for the profile",
		Long: `calibrate fits the memory of one istiod pod,
base + connections × (bytesPerConnection + bytesPerConnectionEndpoint × endpoints),
by least squares, with 95 % intervals that allow for pods that differ and for
residuals that stay, and the CPU that a reconnect costs. It prints the part of the
profile that this is, or says why the measurements cannot carry a model.

--kind push fits what a push of every endpoint takes instead (docs/law.md): base,
bytesPerConnection and bytesPerEndpoint. What a message takes is given and not
fitted, and so is the growth of the heap, which multiplies both.

The model is of the busy hours: at rest a connection costs little. An hour is busy
when its endpoints change as much as in the busiest quarter of the hours, or its
connections are as many as in the busiest quarter; --busy 1 takes every hour.

The input is a Prometheus server, which is asked what stands below, or files: the
server's answers to query_range, saved under these names, or one CSV file with the
columns time, pod, memory_bytes, connections, endpoints, and as far as they are
known cpu_seconds, reconnects (both counters), istio_version. Only memory,
connections and endpoints have to be there.

` + queryList() + `
A token, or a user name and a password, are read from files or from
MESHGEN_PROMETHEUS_TOKEN, MESHGEN_PROMETHEUS_USERNAME, MESHGEN_PROMETHEUS_PASSWORD.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"message-bytes", "visible-share", "waiting-bytes", "heap-growth"} {
				if c.kind != "push" && cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is of --kind push", name)
				}
			}
			return c.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.from, "from", "", "first moment, RFC 3339; with --prometheus it has to be given")
	f.StringVar(&c.to, "to", "", "moment after the last, RFC 3339; with --prometheus it has to be given")
	f.StringVar(&c.selector, "selector", "", "label=value of the mesh, where a store holds several")
	f.Float64Var(&c.busy, "busy", calibrate.DefaultBusy, "share of the hours that are busy, above 0 and up to 1")
	f.StringVar(&c.kind, "kind", "linear", "law that is fitted: linear, or push")
	f.Float64Var(&c.push.MessageBytes, "message-bytes", calibrate.DefaultMessageBytes, "of --kind push: bytes of one endpoint in the message to a proxy")
	f.Float64Var(&c.push.VisibleShare, "visible-share", 1, "of --kind push: share of the endpoints that a proxy sees, above 0 and up to 1")
	f.Float64Var(&c.push.WaitingBytes, "waiting-bytes", 0, "of --kind push: bytes of a message for each that waits to be sent; 0 is one for every connection")
	f.Float64Var(&c.push.HeapGrowth, "heap-growth", calibrate.DefaultHeapGrowth, "of --kind push: heap when a collection ends, over heap at rest, 1 to 10")
	f.StringVarP(&c.format, "output", "o", "text", "text, json or svg")
	c.source.flags(cmd)
	return cmd
}

// queryList is a line for each file and the query that it answers.
func queryList() string {
	q := calibrate.QueriesFor()
	var s strings.Builder
	for _, f := range answersOf(&calibrate.Input{}, q) {
		fmt.Fprintf(&s, "%-18s%s\n", f.name, f.query)
	}
	return s.String()
}

func (c calibration) run(ctx context.Context, args []string) error {
	print, ok := map[string]func(calibrate.Report, diag.List) error{"text": c.text, "json": c.json, "svg": c.svg}[c.format]
	if !ok {
		return fmt.Errorf("output format %q: use text, json or svg", c.format)
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	in, found, err := c.read(ctx, args, options)
	if err != nil {
		return err
	}
	fit := calibrate.Report{}
	if !found.HasErrors() {
		if len(args) > 0 {
			options.Source = args[0]
		}
		var more diag.List
		fit, more = calibrate.Fit(in, options)
		found = append(found, more...)
	}
	if err := print(fit, found); err != nil {
		return err
	}
	if found.HasErrors() {
		return invalid
	}
	return nil
}

func (c calibration) options() (calibrate.Options, error) {
	o := calibrate.Options{Busy: c.busy}
	if !(c.busy > 0 && c.busy <= 1) {
		return o, fmt.Errorf("--busy %v: a share above 0 and up to 1", c.busy)
	}
	var err error
	if o.Push, err = c.law(); err != nil {
		return o, err
	}
	if o.From, err = seconds("--from", c.from); err != nil {
		return o, err
	}
	if o.To, err = seconds("--to", c.to); err != nil {
		return o, err
	}
	if o.To != 0 && o.To <= o.From {
		return o, fmt.Errorf("--to %s is not after --from %s", c.to, c.from)
	}
	if c.selector == "" {
		return o, nil
	}
	o.Label, o.Value, _ = strings.Cut(c.selector, "=")
	if !labelName.MatchString(o.Label) || o.Value == "" {
		return o, fmt.Errorf("--selector %s: write label=value", c.selector)
	}
	return o, nil
}

// law is what the law of the push is fitted with; nil for the field's. The bounds
// are those of the profile.
func (c calibration) law() (*calibrate.Push, error) {
	const most = 1_000_000_000
	switch p := c.push; {
	case c.kind == "linear":
		return nil, nil
	case c.kind != "push":
		return nil, fmt.Errorf("--kind %s: linear or push", c.kind)
	case !(p.MessageBytes > 0 && p.MessageBytes <= most):
		return nil, fmt.Errorf("--message-bytes %v: above 0 and up to %d", p.MessageBytes, most)
	case !(p.VisibleShare > 0 && p.VisibleShare <= 1):
		return nil, fmt.Errorf("--visible-share %v: a share above 0 and up to 1", p.VisibleShare)
	case !(p.WaitingBytes >= 0 && p.WaitingBytes <= most):
		return nil, fmt.Errorf("--waiting-bytes %v: from 0 to %d", p.WaitingBytes, most)
	case !(p.HeapGrowth >= 1 && p.HeapGrowth <= 10):
		return nil, fmt.Errorf("--heap-growth %v: from 1 to 10", p.HeapGrowth)
	}
	return &c.push, nil
}

// seconds is a moment in Unix seconds; none is 0.
func seconds(flag, text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, fmt.Errorf("%s %s: write RFC 3339, such as 2026-11-30T12:00:00Z", flag, text)
	}
	return float64(at.Unix()), nil
}

func (c calibration) json(r calibrate.Report, found diag.List) error {
	fragment := ""
	if r.Model != nil {
		fragment = r.Model.Fragment()
	}
	if found == nil {
		found = diag.List{}
	}
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		calibrate.Report
		Fragment string    `json:"fragment"`
		Findings diag.List `json:"findings"`
	}{r, fragment, found.Sorted()})
}

func (c calibration) text(r calibrate.Report, found diag.List) error {
	err := errors.Join(found.Text(c.err), overview(r).print(c.streams))
	if err != nil || r.Model == nil {
		return err
	}
	_, err = fmt.Fprint(c.out, "\n"+r.Model.Fragment())
	return err
}

// svg draws what was fitted, refused or not.
func (c calibration) svg(r calibrate.Report, found diag.List) error {
	if err := found.Text(c.err); err != nil || len(r.Plot) == 0 {
		return err
	}
	drawing, err := report.Fit(&r)
	if err != nil {
		return err
	}
	_, err = c.out.Write(drawing)
	return err
}

// overview is what was fitted, how near it is, and on what.
func overview(r calibrate.Report) table {
	var rows table
	for _, e := range r.Estimates {
		rows.add(e.Name, e.Text())
	}
	if len(r.Estimates) > 0 {
		rows.add("r", fmt.Sprintf("%.3f", r.Correlation))
		rows.add("residual", fmt.Sprintf("%.1f %% of the memory; 19 of 20 samples are at most %.1f %% above", 100*r.Residual, 100*r.ResidualP95))
	}
	if r.Hours == 0 {
		return rows
	}
	rows.add("endpoints", fmt.Sprintf("%d to %d", r.Endpoints.Min, r.Endpoints.Max))
	rows.add("connections", fmt.Sprintf("%d to %d of a pod", r.Connections.Min, r.Connections.Max))
	rows.add("used", fmt.Sprintf("%d samples of %d pods", r.Samples, r.Pods))
	for _, d := range r.Dropped {
		rows.add("left out", fmt.Sprintf("%d %s", d.Samples, d.Reason))
	}
	for _, h := range r.BusyHours {
		rows.add("busy", h.From+" to "+h.To)
	}
	return rows
}
