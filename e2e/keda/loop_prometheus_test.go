package keda_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/util/teststorage"
)

// scriptPrometheus is Prometheus' engine over its own store, at the time of a
// script: it scrapes what istiod's pods would show at each moment, and answers
// instant queries as Prometheus' HTTP API does.
type scriptPrometheus struct {
	clock *scriptClock
	load  meshLoad
	ready func() ([]string, error) // the pods that share the connections

	engine *promql.Engine
	store  *teststorage.TestStorage
	url    string

	mu   sync.Mutex // a query sees what was scraped up to the clock's moment
	gone bool
}

func startScriptPrometheus(t *testing.T, clock *scriptClock, load meshLoad, ready func() ([]string, error)) *scriptPrometheus {
	t.Helper()
	p := &scriptPrometheus{
		clock: clock, load: load, ready: ready,
		engine: promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery),
		store:  teststorage.New(t),
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// keepScraping scrapes once each interval of the script.
func (p *scriptPrometheus) keepScraping(ctx context.Context, t *testing.T, interval time.Duration) {
	ticks := time.NewTicker(onWall(interval))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			p.mu.Lock()
			err := p.scrape()
			p.mu.Unlock()
			if err != nil {
				t.Errorf("scraping: %v", err)
			}
		}
	}
}

// skipTo sets the clock, and scrapes at once: Prometheus has not been away.
func (p *scriptPrometheus) skipTo(t *testing.T, at time.Time) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.clock.now(); at.Before(now) {
		t.Fatalf("skip to %s: it is %s already", clockTime(at), clockTime(now))
	}
	p.clock.set(at)
	if err := p.scrape(); err != nil {
		t.Fatal(err)
	}
}

// setGone makes Prometheus scrape nothing and drop every connection, or be back.
func (p *scriptPrometheus) setGone(gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = gone
}

// scrape adds what each ready pod shows now. The connections are spread evenly,
// and move at once: how long they take is no matter of the HPA's, which sees
// only their sum.
func (p *scriptPrometheus) scrape() error {
	if p.gone {
		return nil
	}
	pods, err := p.ready()
	if err != nil || len(pods) == 0 {
		return err
	}
	slices.Sort(pods)
	now := p.clock.now()
	connections := p.load.at(now)
	samples := p.store.Appender(context.Background())
	for i, pod := range pods {
		share := connections / len(pods)
		if i < connections%len(pods) {
			share++
		}
		series := labels.FromStrings("__name__", "pilot_xds", "job", "istiod", "namespace", "istio-system", "pod", pod, "version", "1.24.1")
		if _, err := samples.Append(0, series, now.UnixMilli(), float64(share)); err != nil {
			return err
		}
	}
	return samples.Commit()
}

// ServeHTTP answers /api/v1/query. The time that is asked for is the wall
// clock's, and is taken for the script's now.
func (p *scriptPrometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		panic(http.ErrAbortHandler) // the caller sees a connection that breaks
	}
	if r.URL.Path != "/api/v1/query" {
		http.NotFound(w, r)
		return
	}
	type data struct {
		ResultType string `json:"resultType"`
		Result     any    `json:"result"`
	}
	answer := struct {
		Status string `json:"status"`
		Error  string `json:"error,omitempty"`
		Data   *data  `json:"data,omitempty"`
	}{Status: "success"}
	value, err := p.evaluate(r.Context(), r.FormValue("query"))
	if err != nil {
		answer.Status, answer.Error = "error", err.Error()
		w.WriteHeader(http.StatusUnprocessableEntity)
	} else {
		answer.Data = &data{value.kind, value.json}
	}
	// The client has gone where this fails, and there is nobody to tell.
	_ = json.NewEncoder(w).Encode(answer)
}

// queryResult is what a query gives: its kind, and its JSON, which is made while
// the query still owns its memory.
type queryResult struct {
	kind string
	json json.RawMessage
}

func (p *scriptPrometheus) evaluate(ctx context.Context, query string) (queryResult, error) {
	asked, err := p.engine.NewInstantQuery(ctx, p.store, nil, query, p.clock.now())
	if err != nil {
		return queryResult{}, err
	}
	defer asked.Close()
	result := asked.Exec(ctx)
	if result.Err != nil {
		return queryResult{}, result.Err
	}
	text, err := json.Marshal(result.Value)
	return queryResult{string(result.Value.Type()), text}, err
}
