package calibrate

import (
	"fmt"
	"strings"
)

// Queries are what Prometheus is asked for. Series are wanted as they were
// scraped: labels tell meshes and versions apart, and counters are compared here,
// where a reset is seen.
type Queries struct {
	Memory, Connections, Endpoints, CPU, Reconnects, Builds string
}

// QueriesFor are the queries with further label matchers, such as cluster="a".
func QueriesFor(matchers ...string) Queries {
	q := func(format string, own ...string) string {
		return fmt.Sprintf(format, strings.Join(append(own, matchers...), ","))
	}
	return Queries{
		Memory:      q(`container_memory_working_set_bytes{%s}`, `container="discovery"`),
		Connections: q(`pilot_xds{%s}`),
		// addresses that may be called, once each, as kube-state-metrics has them when
		// it collects endpointslices
		Endpoints:  q(`count(count by (namespace, endpointslice, address) (kube_endpointslice_endpoints{%s}))`, `ready!="false"`),
		CPU:        q(`container_cpu_usage_seconds_total{%s}`, `container="discovery"`),
		Reconnects: q(`pilot_xds_pushes{%s}`, `type="cds"`),
		Builds:     q(`istio_build{%s}`, `component="pilot"`),
	}
}

// olderEndpoints is of kube-state-metrics' endpoints, which it collects by default.
const olderEndpoints = `count(count by (namespace, endpoint, ip) (kube_endpoint_address{ready="true"}))`
