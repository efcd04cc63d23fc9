package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/prometheus"
)

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// source is where measurements come from: a server, or files.
type source struct {
	url, endpoints                            string
	tokenFile, username, passwordFile, caFile string
	step, timeout                             time.Duration
}

func (s *source) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "prometheus", "", "address of the Prometheus server")
	f.StringVar(&s.endpoints, "endpoints", "", "query for the endpoints of the mesh (default: the one above)")
	f.DurationVar(&s.step, "step", time.Minute, "time between samples")
	f.DurationVar(&s.timeout, "timeout", time.Minute, "how long one query may take")
	f.StringVar(&s.tokenFile, "token-file", "", "file of a bearer token")
	f.StringVar(&s.username, "username", "", "user name of basic authentication")
	f.StringVar(&s.passwordFile, "password-file", "", "file of its password")
	f.StringVar(&s.caFile, "ca-file", "", "file of the server's certificate authority, PEM (default: the system's)")
}

// answerFile is a saved answer's name, the query, and where its series go.
type answerFile struct {
	name, query string
	into        *[]calibrate.Series
}

func answersOf(in *calibrate.Input, q calibrate.Queries) []answerFile {
	return []answerFile{
		{"memory.json", q.Memory, &in.Memory},
		{"connections.json", q.Connections, &in.Connections},
		{"endpoints.json", q.Endpoints, &in.Endpoints},
		{"cpu.json", q.CPU, &in.CPU},
		{"reconnects.json", q.Reconnects, &in.Reconnects},
		{"builds.json", q.Builds, &in.Builds},
	}
}

// read is the measurements; findings say what a file is not, an error that there is
// no answer at all.
func (s source) read(ctx context.Context, args []string, o calibrate.Options) (calibrate.Input, diag.List, error) {
	switch {
	case (s.url == "") == (len(args) == 0):
		return calibrate.Input{}, nil, errors.New("give --prometheus URL or files, one of the two")
	case s.url != "":
		return s.ask(ctx, o)
	case len(args) == 1 && filepath.Ext(args[0]) == ".csv":
		data, err := os.ReadFile(args[0])
		if err != nil {
			return calibrate.Input{}, nil, err
		}
		in, found := calibrate.ReadCSV(args[0], bytes.NewReader(data))
		return in, found, nil
	}
	return readAnswers(args)
}

// readAnswers reads saved answers, which their names tell apart.
func readAnswers(paths []string) (calibrate.Input, diag.List, error) {
	var in calibrate.Input
	var found diag.List
	files := answersOf(&in, calibrate.QueriesFor())
	for _, path := range paths {
		into, err := placeOf(files, path)
		if err != nil {
			return in, nil, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return in, nil, err
		}
		series, err := prometheus.Answer(data)
		if err != nil {
			found = append(found, diag.Finding{
				Severity: diag.Error, ID: "calibrate/not-an-answer", Pos: diag.Pos{File: path},
				Message: err.Error(), Hint: "save what the server's /api/v1/query_range answers, as it is",
			})
		}
		*into = append(*into, series...)
	}
	return in, found, nil
}

func placeOf(files []answerFile, path string) (*[]calibrate.Series, error) {
	var names []string
	for _, f := range files {
		if f.name == filepath.Base(path) {
			return f.into, nil
		}
		names = append(names, f.name)
	}
	return nil, fmt.Errorf("%s: name files %s, or give one .csv", path, strings.Join(names, ", "))
}

// ask asks the server for everything, one query after the other.
func (s source) ask(ctx context.Context, o calibrate.Options) (calibrate.Input, diag.List, error) {
	var in calibrate.Input
	if o.From == 0 || o.To == 0 || s.step < time.Second {
		return in, nil, errors.New("with --prometheus, give --from and --to, and a --step of a second or more: the same command then gives the same answer")
	}
	server, err := s.server()
	if err != nil {
		return in, nil, err
	}
	client, err := prometheus.New(server)
	if err != nil {
		return in, nil, err
	}
	period := prometheus.Period{From: time.Unix(int64(o.From), 0), To: time.Unix(int64(o.To), 0), Step: s.step}
	var found diag.List
	for _, f := range answersOf(&in, s.queries(o)) {
		series, warnings, err := client.Range(ctx, f.query, period)
		if err != nil {
			return in, nil, err
		}
		for _, text := range warnings {
			found = append(found, diag.Finding{
				Severity: diag.Warning, ID: "calibrate/partial-answer", Subject: f.query,
				Message: fmt.Sprintf("the server warns of its answer to %s: %s", f.query, text),
				Hint:    "what is missing from the answer is missing from the fit",
			})
		}
		*f.into = series
	}
	return in, found, nil
}

func (s source) queries(o calibrate.Options) calibrate.Queries {
	var matchers []string
	if o.Label != "" {
		matchers = append(matchers, o.Label+"="+strconv.Quote(o.Value))
	}
	q := calibrate.QueriesFor(matchers...)
	if s.endpoints != "" {
		q.Endpoints = s.endpoints
	}
	return q
}

// server is the address and how to be let in: a file that is named wins over the
// environment.
func (s source) server() (prometheus.Server, error) {
	server := prometheus.Server{URL: s.url, Timeout: s.timeout, Username: s.username}
	var err error
	if server.Token, err = secret(s.tokenFile, "MESHGEN_PROMETHEUS_TOKEN"); err != nil {
		return server, err
	}
	if server.Password, err = secret(s.passwordFile, "MESHGEN_PROMETHEUS_PASSWORD"); err != nil {
		return server, err
	}
	if server.Username == "" {
		server.Username = os.Getenv("MESHGEN_PROMETHEUS_USERNAME")
	}
	if s.caFile != "" {
		server.CA, err = os.ReadFile(s.caFile)
	}
	return server, err
}

// secret is a file's text without the line's end, or a variable's.
func secret(file, variable string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	data, err := os.ReadFile(file)
	return strings.TrimSpace(string(data)), err
}
