// Package prometheus asks a Prometheus server for series over a period, and reads
// answers that were saved; the one place for Prometheus' own code.
package prometheus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/meshgen/meshgen/internal/calibrate"
)

// chunk is how many steps one query spans: the server refuses more than 11,000
// points of a series.
const chunk = 5000

// Server is a Prometheus server, or what speaks its API, and how to be let in.
type Server struct {
	URL                string
	Token              string // bearer token
	Username, Password string // basic authentication
	CA                 []byte // PEM; empty for the system's
	Timeout            time.Duration
}

// Period is the moments From, From + Step, … before To.
type Period struct {
	From, To time.Time
	Step     time.Duration
}

// Client asks one server.
type Client struct {
	api     v1.API
	timeout time.Duration
}

// New makes a client. A URL with a password in it, which errors would print, is
// refused.
func New(s Server) (*Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of Prometheus: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the address of Prometheus is %s: write http://HOST or https://HOST, without a user", u.Redacted())
	}
	transport, err := s.transport()
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(api.Config{Address: s.URL, Client: &http.Client{
		Transport:     transport,
		CheckRedirect: refuse,
	}})
	if err != nil {
		return nil, fmt.Errorf("the address of Prometheus: %w", err)
	}
	return &Client{v1.NewAPI(client), s.Timeout}, nil
}

// refuse keeps credentials from an address that the user has not named.
func refuse(to *http.Request, _ []*http.Request) error {
	return fmt.Errorf("it redirects to %s: name that address", to.URL.Redacted())
}

func (s Server) transport() (http.RoundTripper, error) {
	if s.Token != "" && s.Username != "" {
		return nil, errors.New("a token and a user name: give one of them")
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	if len(s.CA) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(s.CA) {
			return nil, errors.New("the CA file holds no PEM certificate")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return authorized{s, t}, nil
}

// authorized sends the credentials with each request.
type authorized struct {
	Server
	next http.RoundTripper
}

// RoundTrip leaves the caller's request as it is.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	switch {
	case a.Token != "":
		r.Header.Set("Authorization", "Bearer "+a.Token)
	case a.Username != "":
		r.SetBasicAuth(a.Username, a.Password)
	}
	return a.next.RoundTrip(r)
}

// Range is the series that a query gives over a period, and what the server warns
// of. Each query is bounded in points and in time; an error names it.
func (c *Client) Range(ctx context.Context, query string, p Period) ([]calibrate.Series, []string, error) {
	var all model.Matrix
	var warnings []string
	for from := p.From; from.Before(p.To); from = from.Add(chunk * p.Step) {
		to := from.Add((chunk - 1) * p.Step)
		if last := p.To.Add(-time.Millisecond); to.After(last) {
			to = last
		}
		part, warned, err := c.one(ctx, query, v1.Range{Start: from, End: to, Step: p.Step})
		if err != nil {
			return nil, nil, fmt.Errorf("query %s from %s to %s: %w", query, from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), err)
		}
		all, warnings = append(all, part...), append(warnings, warned...)
	}
	return series(all), warnings, nil
}

func (c *Client) one(ctx context.Context, query string, r v1.Range) (model.Matrix, v1.Warnings, error) {
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	defer stop()
	value, warnings, _, err := c.api.QueryRange(ctx, query, r)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, nil, fmt.Errorf("no answer within %s", c.timeout)
	}
	if err != nil {
		return nil, nil, err
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return nil, nil, fmt.Errorf("the answer is a %s, not a matrix", value.Type())
	}
	return matrix, warnings, nil
}

// series puts the chunks of one series together.
func series(matrix model.Matrix) []calibrate.Series {
	var all []calibrate.Series
	place := map[string]int{}
	for _, stream := range matrix {
		key := stream.Metric.String()
		i, seen := place[key]
		if !seen {
			i = len(all)
			place[key] = i
			all = append(all, calibrate.Series{Labels: labels(stream.Metric)})
		}
		for _, pair := range stream.Values {
			all[i].Points = append(all[i].Points, calibrate.Point{At: float64(pair.Timestamp) / 1000, Value: float64(pair.Value)})
		}
	}
	return all
}

func labels(metric model.Metric) map[string]string {
	all := map[string]string{}
	for name, value := range metric {
		all[string(name)] = string(value)
	}
	return all
}
