package calibrate_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scrape is how often the store has a value, in seconds: less than the look-back of
// 300 s, after which Prometheus takes a series to be gone.
const scrape = 240

// shrunk is how many endpoints of the example are one in the store, which has a
// series for each: what an endpoint costs is as many times more.
const shrunk = 10

// row is a line of the example.
type row struct {
	at                                            int64
	pod, version                                  string
	memory, connections, endpoints, cpu, clusters float64
}

// measured is the example's lines by pod, in order of time, and the pods in order.
func measured(t *testing.T) (pods []string, of map[string][]row) {
	t.Helper()
	file, err := os.Open("../../examples/measured/bigsale.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	of = map[string][]row{}
	for _, cells := range lines[1:] {
		at, err := time.Parse(time.RFC3339, cells[0])
		if err != nil {
			t.Fatal(err)
		}
		numbers := make([]float64, 0, 5)
		for _, i := range []int{2, 3, 4, 5, 6} {
			n, err := strconv.ParseFloat(cells[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		if of[cells[1]] == nil {
			pods = append(pods, cells[1])
		}
		of[cells[1]] = append(of[cells[1]], row{at.Unix(), cells[1], cells[7], numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]})
	}
	return pods, of
}

// openMetrics is the example as a store of two meshes has it: prod's istiods, and
// test's, which hold as much with half the connections. Gauges stay until the next
// line of the example, counters grow in between; metrics are scraped at moments of
// their own.
func openMetrics(t *testing.T) string {
	t.Helper()
	pods, of := measured(t)
	var text strings.Builder
	for _, cluster := range []string{"prod", "test"} {
		for _, pod := range pods {
			writePod(&text, cluster, cluster+"-"+pod, of[pod])
		}
		writeEndpoints(&text, cluster, of[pods[0]])
	}
	text.WriteString("# EOF\n")
	return text.String()
}

func writePod(text *strings.Builder, cluster, pod string, rows []row) {
	share := map[string]float64{"prod": 1, "test": 0.5}[cluster]
	own := fmt.Sprintf("cluster=%q,namespace=\"istio-system\",pod=%q", cluster, pod)
	each := func(format string, offset int64, value func(before, after row, part float64) float64) {
		for i, r := range rows {
			next := rows[min(i+1, len(rows)-1)]
			for at := r.at; at < max(next.at, r.at+1); at += scrape {
				part := float64(at-r.at) / float64(max(next.at-r.at, 1))
				fmt.Fprintf(text, format+" %v %d\n", own, value(r, next, part), at+offset)
			}
		}
	}
	held := func(of func(row) float64) func(row, row, float64) float64 {
		return func(before, _ row, _ float64) float64 { return of(before) }
	}
	grown := func(of func(row) float64) func(row, row, float64) float64 {
		return func(before, after row, part float64) float64 { return of(before) + part*(of(after)-of(before)) }
	}
	each("container_memory_working_set_bytes{%s,container=\"discovery\",id=\"/kubepods/a\",image=\"pilot\"}", 1, held(func(r row) float64 { return r.memory }))
	each("container_memory_working_set_bytes{%s,container=\"istio-proxy\",id=\"/kubepods/b\"}", 1, held(func(row) float64 { return 50e6 }))
	each("pilot_xds{%s,version=\"1.24.1\",app=\"istiod\"}", 9, held(func(r row) float64 { return share * (r.connections - 10) }))
	each("pilot_xds{%s,version=\"1.24.0\",app=\"istiod\"}", 9, held(func(row) float64 { return share * 10 }))
	each("container_cpu_usage_seconds_total{%s,container=\"discovery\",cpu=\"total\"}", 2, grown(func(r row) float64 { return r.cpu }))
	each("pilot_xds_pushes{%s,type=\"cds\"}", 9, grown(func(r row) float64 { return r.clusters }))
	each("pilot_xds_pushes{%s,type=\"eds\"}", 9, grown(func(r row) float64 { return 7 * r.clusters }))
	each("istio_build{%s,component=\"pilot\",tag=\""+rows[0].version+"\"}", 9, held(func(row) float64 { return 1 }))
}

// writeEndpoints writes a series for each endpoint, while there is one, and as many
// again that are not ready.
func writeEndpoints(text *strings.Builder, cluster string, rows []row) {
	for n := 0; ; n++ {
		exists := false
		for i, r := range rows[:len(rows)-1] {
			if float64(n) >= r.endpoints/shrunk {
				continue
			}
			exists = true
			for at := r.at; at < rows[i+1].at; at += scrape {
				for _, ready := range []bool{true, false} {
					fmt.Fprintf(text, "kube_endpointslice_endpoints{cluster=%q,namespace=\"shop\",endpointslice=\"cart-%d\",address=\"10.0.%d.%d\",ready=\"%t\"} 1 %d\n",
						cluster, n/100, n/200, n%200, ready, at+20)
				}
			}
		}
		if !exists {
			return
		}
	}
}
