package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/calibrate"
	"github.com/meshgen/meshgen/internal/sample"
)

// prometheusOf answers the queries of calibrate, and knows no other.
func prometheusOf(t *testing.T, in calibrate.Input, q calibrate.Queries, letIn func(*http.Request) bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !letIn(r) {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		for _, f := range answersOf(&in, q) {
			if f.query == r.FormValue("query") {
				w.Write(answer(*f.into))
				return
			}
		}
		http.Error(w, `{"status":"error","errorType":"bad_data","error":"unknown query"}`, http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func anyone(*http.Request) bool { return true }

// A server is asked for what the same measurements in files hold, and gives the same.
func TestCalibrateAsksPrometheus(t *testing.T) {
	m := sample.TypicalMeasured(1)
	m.Version = "1.24.1"
	folder := t.TempDir()
	in := m.Input()
	var files []string
	for _, f := range answersOf(&in, calibrate.QueriesFor()) {
		files = append(files, filepath.Join(folder, f.name))
		if err := os.WriteFile(filepath.Join(folder, f.name), answer(*f.into), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(folder, "secret")
	if err := os.WriteFile(secret, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var want, wantFound bytes.Buffer
	if got := run(append([]string{"calibrate"}, files...), streams{nil, &want, &wantFound}); got != 0 {
		t.Fatalf("%d: %s", got, &wantFound)
	}
	blue := calibrate.QueriesFor(`cluster="blue"`)
	own := blue
	own.Endpoints = "sum(my_endpoints)"
	cases := map[string]struct {
		queries calibrate.Queries
		letIn   func(*http.Request) bool
		env     map[string]string
		args    []string
	}{
		"anyone": {calibrate.QueriesFor(), anyone, nil, nil},
		"a selector, which every query of ours has": {
			blue, anyone, nil,
			[]string{"--selector", "cluster=blue"},
		},
		"an own query for endpoints": {
			own, anyone, nil,
			[]string{"--selector", "cluster=blue", "--endpoints", "sum(my_endpoints)"},
		},
		"a token from a file": {
			calibrate.QueriesFor(), func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer hush" }, nil,
			[]string{"--token-file", secret},
		},
		"a token from the environment": {
			calibrate.QueriesFor(), func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer hush" },
			map[string]string{"MESHGEN_PROMETHEUS_TOKEN": "hush"},
			nil,
		},
		"a password from a file": {
			calibrate.QueriesFor(), basic, nil,
			[]string{"--username", "mesh", "--password-file", secret},
		},
		"a password from the environment": {
			calibrate.QueriesFor(), basic,
			map[string]string{"MESHGEN_PROMETHEUS_USERNAME": "mesh", "MESHGEN_PROMETHEUS_PASSWORD": "hush"},
			nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			url := prometheusOf(t, m.Input(), c.queries, c.letIn)
			var got, found bytes.Buffer
			args := []string{"calibrate", "--prometheus", url, "--from", "2026-11-23T00:00:00Z", "--to", "2026-11-24T00:00:00Z"}
			if status := run(append(args, c.args...), streams{nil, &got, &found}); status != 0 {
				t.Fatalf("%d: %s", status, &found)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("(-from files +from the server):\n%s", diff)
			}
		})
	}
}

func basic(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	return ok && user == "mesh" && password == "hush"
}

func TestCalibrateFails(t *testing.T) {
	url := prometheusOf(t, calibrate.Input{}, calibrate.QueriesFor(), func(r *http.Request) bool { return r.FormValue("query") != "pilot_xds{}" })
	period := []string{"--from", "2026-11-23T00:00:00Z", "--to", "2026-11-24T00:00:00Z"}
	cases := map[string]struct {
		args []string
		want string
	}{
		"neither a server nor files": {nil, "give --prometheus URL or files, one of the two"},
		"a server and files":         {[]string{"memory.json", "--prometheus", url}, "give --prometheus URL or files, one of the two"},
		"a server without a period":  {[]string{"--prometheus", url}, "give --from and --to"},
		"a file of another name":     {[]string{"mem.json"}, "mem.json: name files memory.json, connections.json"},
		"no file":                    {[]string{"none.csv"}, "open none.csv: no such file"},
		"no such share":              {[]string{"a.csv", "--busy", "0"}, "--busy 0: a share above 0 and up to 1"},
		"no moment":                  {[]string{"a.csv", "--from", "noon"}, "--from noon: write RFC 3339"},
		"an end before the start":    {[]string{"a.csv", "--from", "2026-11-24T00:00:00Z", "--to", "2026-11-23T00:00:00Z"}, "is not after --from"},
		"no selector":                {[]string{"a.csv", "--selector", "a b=c"}, "--selector a b=c: write label=value"},
		"no format":                  {[]string{"a.csv", "-o", "yaml"}, `output format "yaml": use text, json or svg`},
		"a server that refuses a query": {
			slices.Concat([]string{"--prometheus", url}, period),
			"query pilot_xds{} from 2026-11-23T00:00:00Z to 2026-11-23T23:59:59Z: ",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out, found bytes.Buffer
			status := run(append([]string{"calibrate"}, c.args...), streams{nil, &out, &found})
			if status != 1 || !strings.Contains(found.String(), c.want) {
				t.Errorf("%d: %s does not say %q", status, &found, c.want)
			}
		})
	}
}

// A server that has lost a part of its stores says so, and so does calibrate.
func TestCalibrateRepeatsWarningsOfTheServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"success","warnings":["store b is away"],"data":{"resultType":"matrix","result":[]}}`)
	}))
	t.Cleanup(server.Close)
	var out, found bytes.Buffer
	status := run([]string{"calibrate", "--prometheus", server.URL, "--from", "2026-11-23T00:00:00Z", "--to", "2026-11-24T00:00:00Z"}, streams{nil, &out, &found})
	if status != 4 || !strings.Contains(found.String(), "warning: the server warns of its answer to pilot_xds{}: store b is away [calibrate/partial-answer]\n") {
		t.Errorf("%d: %s", status, &found)
	}
}

// The example is what Prometheus would have seen of bigsale's istiods, whose model is
// known, in the hours around a sale.
func TestTheMeasuredExampleIsOfAKnownMesh(t *testing.T) {
	m := sample.TypicalMeasured(2)
	m.Pods, m.Step, m.Peak, m.Version = 8, 1200, 7000, "1.24.1"
	const path = "../../examples/measured/bigsale.csv"
	if *update {
		if err := os.WriteFile(path, m.CSV(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, m.CSV()) {
		t.Errorf("%s is another: run make golden", path)
	}
}

// What is printed can be pasted into a profile as it is.
func TestTheFragmentIsOfAProfile(t *testing.T) {
	text, err := os.ReadFile("../../examples/clusters/bigsale/profile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := sample.TypicalMeasured(1)
	m.PerConnection, m.Version, m.Peak = 1e6, "1.24.1", 9000
	report, found := calibrate.Fit(m.Input(), calibrate.Options{Busy: 1})
	if report.Model == nil {
		t.Fatal(found)
	}
	_, fragment, _ := strings.Cut(report.Model.Fragment(), "  istiod:\n")
	old := regexp.MustCompile(`(?m)^    memoryModel:\n(?:      .*\n)+`)
	profile := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(profile, old.ReplaceAll(text, []byte(fragment)), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if status := run([]string{"explain", profile, "istiod.connectionThreshold"}, streams{nil, &out, &errs}); status != 0 {
		t.Fatalf("%d: %s\n%s", status, &errs, fragment)
	}
	for _, line := range []string{
		fmt.Sprintf("p    %d bytes/connection ", report.Model.BytesPerConnection),
		fmt.Sprintf("k    %v bytes/connection/endpoint ", report.Model.BytesPerConnectionEndpoint),
		fmt.Sprintf("c    %v core·s/reconnect ", report.Model.ReconnectCost),
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("explain does not have %q:\n%s", line, &out)
		}
	}
}
