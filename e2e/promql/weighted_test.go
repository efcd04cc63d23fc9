package promql_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// weighted is the profile of a mesh whose connections weigh by its endpoints.
const weighted = "testdata/weighted/profile.yaml"

// edited is the weighted profile with other text in some of its places: pairs of
// old and new, one after the other.
func edited(t *testing.T, pairs ...string) string {
	t.Helper()
	data, err := os.ReadFile(weighted)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in %s", pairs[i], weighted)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	file := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// blue are so many connections on two pods, each scraped by two replicas of
// Prometheus, beside those of another revision and of another cluster.
func blue(connections int) string {
	return fmt.Sprintf(`
load 15s
  pilot_xds{cluster="prod",replica="a",namespace="istio-system",pod="istiod-blue-5c4f9-aaaaa",version="1.31.0"} %[1]dx40
  pilot_xds{cluster="prod",replica="b",namespace="istio-system",pod="istiod-blue-5c4f9-aaaaa",version="1.31.0"} %[1]dx40
  pilot_xds{cluster="prod",replica="a",namespace="istio-system",pod="istiod-blue-5c4f9-bbbbb",version="1.31.0"} %[2]dx40
  pilot_xds{cluster="prod",replica="b",namespace="istio-system",pod="istiod-blue-5c4f9-bbbbb",version="1.31.0"} %[2]dx40
  pilot_xds{cluster="prod",replica="a",namespace="istio-system",pod="istiod-green-7d8b6-ccccc",version="1.32.0"} 90000x40
  pilot_xds{cluster="stage",replica="a",namespace="istio-system",pod="istiod-blue-5c4f9-aaaaa",version="1.31.0"} 90000x40
`, connections-400, 400)
}

// At the planned peak the weighted trigger asks for what the static one does, at
// rest for fewer; and whatever keeps the endpoints from being known, it asks as the
// static one, never for fewer.
func TestConnectionsWeighByTheEndpointsThatThereAre(t *testing.T) {
	trigger := istiod(t, cluster.Render(t, weighted)).connections(t)
	none := strings.Repeat("NaN ", 41)
	for name, c := range map[string]struct {
		connections int
		endpoints   string // series beside those of connections
		pods        float64
	}{
		"at rest a quarter of them":                   {1000, `mesh_endpoints{cluster="prod"} 1700x40`, 4},
		"at the planned peak, as the static trigger":  {3600, `mesh_endpoints{cluster="prod"} 5400x40`, 46},
		"half way up, as the endpoints weigh":         {2300, `mesh_endpoints{cluster="prod"} 3550x40`, 20},
		"beyond the planned peak, more":               {3600, `mesh_endpoints{cluster="prod"} 10800x40`, 90},
		"of fewer endpoints than at rest, as at rest": {1000, `mesh_endpoints{cluster="prod"} 12x40`, 4},
		"without the series, as the static trigger":   {1000, ``, 14},
		"without the series at the peak, likewise":    {3600, ``, 46},
		"of no number":                                       {1000, `mesh_endpoints{cluster="prod"} ` + none, 14},
		"of no endpoints":                                    {1000, `mesh_endpoints{cluster="prod"} 0x40`, 14},
		"of fewer than none":                                 {1000, `mesh_endpoints{cluster="prod"} -1700x40`, 14},
		"when the series has ended":                          {1000, `mesh_endpoints{cluster="prod"} 1700x20 stale`, 14},
		"when nobody has scraped it for five minutes":        {1000, `mesh_endpoints{cluster="prod"} 1700x19`, 14},
		"when a scrape of it was missed, as the last one":    {1000, `mesh_endpoints{cluster="prod"} 1700x38 _`, 4},
		"of two scrapers that differ, by the larger":         {3600, "mesh_endpoints{cluster=\"prod\",replica=\"a\"} 5400x40\n  mesh_endpoints{cluster=\"prod\",replica=\"b\"} 5100x40", 46},
		"of two scrapers of which one is broken, by the one": {1000, "mesh_endpoints{cluster=\"prod\",replica=\"a\"} " + none + "\n  mesh_endpoints{cluster=\"prod\",replica=\"b\"} 1700x40", 4},
		"of another cluster's series alone, as without":      {1000, `mesh_endpoints{cluster="stage"} 1700x40`, 14},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPrometheus(t, blue(c.connections)+"  "+c.endpoints)
			if got := p.asks(t, trigger, time.Unix(600, 0)); got != c.pods {
				t.Errorf("%v pods, want %v", got, c.pods)
			}
		})
	}
}

// Without connections nothing is answered, however many endpoints there are: KEDA's
// fallback takes over.
func TestEndpointsAloneAreNoAnswer(t *testing.T) {
	query := istiod(t, cluster.Render(t, weighted)).connections(t).Metadata["query"]
	p := newPrometheus(t, "load 15s\n  mesh_endpoints{cluster=\"prod\"} 5400x40")
	if got, answered := p.ask(t, query, time.Unix(600, 0)); answered {
		t.Errorf("%v is answered, want nothing", got)
	}
}

// For every number of connections up to 8,000, at any endpoints: as many pods as
// connections × endpoints ÷ budget, in whole numbers; and without the series, to the
// last bit what the static trigger asks for.
func TestPodsAreConnectionsTimesEndpointsOverTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		edit                           []string
		threshold, own, least, peak, z int
	}{
		"two zones":                           {nil, 80, 0, 1700, 5400, 2},
		"a connection weighs by itself":       {[]string{"base: 240M", "base: 240M\n      bytesPerConnection: 100001"}, 80, 251, 1700, 5400, 2},
		"a pod is lost, and no zone":          {[]string{"scaling:", "survive: pod\n    scaling:"}, 160, 0, 1700, 5400, 1},
		"reconnects bind at fewer endpoints":  {[]string{"scaling:", "reconnectCost: 0.5\n    scaling:"}, 80, 0, 3964, 5400, 2},
		"the law of the push has no line":     {[]string{"bytesPerConnectionEndpoint: 400", "kind: push\n      bytesPerConnection: 30000\n      bytesPerEndpoint: 810\n      messageBytesPerEndpoint: 73"}, 170, 0, 5400, 5400, 2},
		"a calendar without any more at once": {[]string{"endpoints: 5400", "endpoints: 1700"}, 270, 0, 1700, 1700, 2},
	} {
		t.Run(name, func(t *testing.T) {
			static := append(slices.Clone(c.edit), "scaling: weighted", "scaling: static")
			trigger := istiod(t, cluster.Render(t, edited(t, c.edit...))).connections(t)
			other := istiod(t, cluster.Render(t, edited(t, static...))).connections(t)
			if want := strconv.Itoa(c.threshold); trigger.Metadata["threshold"] != want || other.Metadata["threshold"] != want {
				t.Fatalf("thresholds %s and %s, want %s", trigger.Metadata["threshold"], other.Metadata["threshold"], want)
			}
			const most = 8000
			for _, endpoints := range []int{0, 1, c.least - 1, c.least, c.least + 1, (c.least + c.peak) / 2, c.peak - 1, c.peak, c.peak + 1, 3 * c.peak} {
				series := fmt.Sprintf("load 15s\n  pilot_xds{cluster=\"prod\",namespace=\"istio-system\",pod=\"istiod-blue-5c4f9-aaaaa\",version=\"1.31.0\"} 0+1x%d\n  mesh_endpoints{cluster=\"prod\"} %dx%[1]d", most, endpoints)
				p := newPrometheus(t, series)
				values, plain := p.every15(t, trigger.Metadata["query"], most), p.every15(t, other.Metadata["query"], most)
				counted := max(endpoints, c.least)
				if endpoints == 0 {
					counted = c.peak
				}
				budget := c.z * c.threshold * (c.peak + c.own)
				for connections, value := range values {
					want := (connections*(counted+c.own) + budget - 1) / budget * c.z
					if got := int(math.Ceil(value / float64(c.threshold))); got != want {
						t.Fatalf("%d pods for %d connections at %d endpoints, want %d", got, connections, endpoints, want)
					}
					if counted == c.peak && value != plain[connections] {
						t.Fatalf("%v at %d connections and %d endpoints, the static trigger answers %v", value, connections, endpoints, plain[connections])
					}
				}
			}
		})
	}
}

// The query that findings recommend counts each address once, of whichever of
// kube-state-metrics' replicas, and not those that may not be called.
func TestTheUsualQueryCountsAddressesOnce(t *testing.T) {
	const query = `count(count by (namespace, endpointslice, address) (kube_endpointslice_endpoints{ready!="false"}))`
	says := cluster.Refuse(t, edited(t, "    endpoints: mesh_endpoints{cluster=\"prod\"}\n", ""))
	if !strings.Contains(says, query) {
		t.Fatalf("no %s in\n%s", query, says)
	}
	p := newPrometheus(t, `
load 30s
  kube_endpointslice_endpoints{instance="ksm-0",namespace="shop",endpointslice="cart-abc",address="10.0.0.1",ready="true"} 1x4
  kube_endpointslice_endpoints{instance="ksm-1",namespace="shop",endpointslice="cart-abc",address="10.0.0.1",ready="true"} 1x4
  kube_endpointslice_endpoints{instance="ksm-0",namespace="shop",endpointslice="cart-abc",address="10.0.0.2",ready="true"} 1x4
  kube_endpointslice_endpoints{instance="ksm-0",namespace="shop",endpointslice="cart-abc",address="10.0.0.3",ready="false"} 1x4
  kube_endpointslice_endpoints{instance="ksm-0",namespace="shop",endpointslice="cart-abc",address="10.0.0.4"} 1x4
  kube_endpointslice_endpoints{instance="ksm-0",namespace="shop",endpointslice="checkout-def",address="10.0.0.1",ready="true"} 1x4
`)
	if got, answered := p.ask(t, query, time.Unix(60, 0)); got != 4 || !answered {
		t.Errorf("%v endpoints, answered %v; want 4", got, answered)
	}
}
