package prometheus_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/prometheus"
)

var from = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// fake answers query_range with one series of the seconds since from, as a server
// with a limit of 11,000 points would.
type fake struct {
	queries, spans []string
	credentials    string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.credentials = r.Header.Get("Authorization")
	start, end, step := number(r, "start"), number(r, "end"), number(r, "step")
	f.queries = append(f.queries, r.FormValue("query"))
	f.spans = append(f.spans, fmt.Sprintf("%.0f %.0f", start, end))
	if (end-start)/step > 11000 {
		http.Error(w, `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points per timeseries"}`, http.StatusBadRequest)
		return
	}
	values := [][2]any{}
	for at := start; at <= end; at += step {
		values = append(values, [2]any{at, strconv.FormatFloat(at-float64(from.Unix()), 'f', -1, 64)})
	}
	json.NewEncoder(w).Encode(map[string]any{"status": "success", "warnings": []string{"a store is away"}, "data": map[string]any{
		"resultType": "matrix", "result": []any{map[string]any{"metric": map[string]string{"pod": "a"}, "values": values}},
	}})
}

func number(r *http.Request, name string) float64 {
	value, _ := strconv.ParseFloat(r.FormValue(name), 64)
	return value
}

// A week by the minute is more than one query may span; every moment comes once.
func TestRangeIsAskedForInChunks(t *testing.T) {
	f := &fake{}
	server := httptest.NewServer(f)
	defer server.Close()
	c := client(t, prometheus.Server{URL: server.URL})
	got, warnings, err := c.Range(t.Context(), "pilot_xds{}", prometheus.Period{From: from, To: from.Add(7 * 24 * time.Hour), Step: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.spans) != 3 || len(warnings) != 3 || len(got) != 1 || len(got[0].Points) != 7*24*60 {
		t.Fatalf("%d queries, %d warnings, %d series", len(f.spans), len(warnings), len(got))
	}
	for i, p := range got[0].Points {
		if p.Value != float64(i)*60 || p.At != float64(from.Unix())+p.Value {
			t.Fatalf("point %d is %v", i, p)
		}
	}
	if diff := cmp.Diff(map[string]string{"pod": "a"}, got[0].Labels); diff != "" {
		t.Error(diff)
	}
}

func TestCredentials(t *testing.T) {
	cases := map[string]struct {
		server prometheus.Server
		want   string
	}{
		"none":                 {prometheus.Server{}, ""},
		"a bearer token":       {prometheus.Server{Token: "secret"}, "Bearer secret"},
		"basic authentication": {prometheus.Server{Username: "mesh", Password: "secret"}, "Basic bWVzaDpzZWNyZXQ="},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			server := httptest.NewServer(f)
			defer server.Close()
			c.server.URL = server.URL
			if _, _, err := client(t, c.server).Range(t.Context(), "up", hour); err != nil {
				t.Fatal(err)
			}
			if f.credentials != c.want {
				t.Errorf("sent %q, want %q", f.credentials, c.want)
			}
		})
	}
}

var hour = prometheus.Period{From: from, To: from.Add(time.Hour), Step: time.Minute}

func TestTheServersCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(&fake{})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if _, _, err := client(t, prometheus.Server{URL: server.URL, CA: ca}).Range(t.Context(), "up", hour); err != nil {
		t.Error(err)
	}
	if _, _, err := client(t, prometheus.Server{URL: server.URL}).Range(t.Context(), "up", hour); err == nil {
		t.Error("a certificate of an unknown authority is taken")
	}
}

// An error names the query, the span and what the server said, and no secret.
func TestErrorsNameTheQuery(t *testing.T) {
	waits := make(chan struct{})
	defer close(waits)
	other := httptest.NewServer(&fake{})
	defer other.Close()
	cases := map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"the server refuses the query": {
			func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"status":"error","errorType":"bad_data","error":"parse error: unexpected end"}`, http.StatusBadRequest)
			}, "parse error: unexpected end",
		},
		"the credentials are refused": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, "401",
		},
		"there is no answer in time": {
			func(http.ResponseWriter, *http.Request) { <-waits }, "no answer within 100ms",
		},
		"the answer is something else": {
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "query up",
		},
		"the answer is no matrix": {
			func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`)
			}, "a scalar, not a matrix",
		},
		"the server sends elsewhere": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }, "redirects to " + other.URL,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			t.Cleanup(server.CloseClientConnections)
			made := client(t, prometheus.Server{URL: server.URL, Token: "secret", Timeout: 100 * time.Millisecond})
			_, _, err := made.Range(t.Context(), "up", hour)
			if err == nil {
				t.Fatal("no error")
			}
			text := err.Error()
			if !strings.Contains(text, c.want) || !strings.HasPrefix(text, "query up from 2026-11-23T00:00:00Z to 2026-11-23T00:59:59Z: ") || strings.Contains(text, "secret") {
				t.Errorf("%s", text)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	cases := map[string]struct {
		server prometheus.Server
		want   string
	}{
		"an address without a scheme":     {prometheus.Server{URL: "prometheus:9090"}, "write http://HOST"},
		"a password in the address":       {prometheus.Server{URL: "http://me:secret@prometheus"}, "http://me:xxxxx@prometheus"},
		"a token and a user name":         {prometheus.Server{URL: "http://prometheus", Token: "a", Username: "b"}, "one of them"},
		"a CA file without a certificate": {prometheus.Server{URL: "http://prometheus", CA: []byte("no")}, "no PEM certificate"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := prometheus.New(c.server)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

func client(t *testing.T, s prometheus.Server) *prometheus.Client {
	t.Helper()
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	c, err := prometheus.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswer(t *testing.T) {
	got, err := prometheus.Answer([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"a"},"values":[[1795996800.5,"1.5"]]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []calibrate.Series{{Labels: map[string]string{"pod": "a"}, Points: []calibrate.Point{{At: 1795996800.5, Value: 1.5}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	refused := map[string]string{
		`{`:                                 "no answer of Prometheus' API",
		`{"status":"error","error":"away"}`: "the server answered with an error: away",
		`{"status":"success"}`:              `no "data"`,
		`{"data":{"resultType":"vector","result":[]}}`:        `resultType is "vector"`,
		`{"data":{"resultType":"matrix","result":[null]}}`:    "null where a series is meant",
		`{"data":{"resultType":"matrix","result":[{"a":5}`:    "no answer",
		`{"data":{"resultType":"matrix","result":{"a":"b"}}}`: "no matrix",
	}
	for text, words := range refused {
		if _, err := prometheus.Answer([]byte(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v does not say %q", text, err, words)
		}
	}
}

// FuzzAnswer: whatever a file holds is read or refused, and what is read can be
// calibrated with.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"a"},"values":[[1795996800.5,"NaN"],[1,"1e300"]]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		series, err := prometheus.Answer(data)
		if err != nil {
			return
		}
		calibrate.Fit(calibrate.Input{Memory: series, Connections: series, Endpoints: series, CPU: series, Reconnects: series, Builds: series}, calibrate.Options{Busy: 1})
	})
}
