package sample

import (
	"bytes"
	"fmt"
	"strings"
)

// page is the profile as it is written.
type page struct{ bytes.Buffer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text is the mesh as a cluster profile.
func text(name string, m *mesh) []byte {
	p := &page{}
	pods := 0
	for _, s := range m.services {
		pods += s.pods
	}
	p.head(name, len(m.services), pods)
	p.line("  namespaces:")
	for _, d := range domains {
		mtls := "PERMISSIVE"
		if d.name == "payments" || d.name == "billing" || d.name == "identity" || d.name == "platform" {
			mtls = "STRICT"
		}
		p.line("    - {name: %s, observedDays: 35, mtls: %s, sidecarScope: {level: namespace, rollout: live}}", d.name, mtls)
	}
	p.line("  services:")
	for _, s := range m.services {
		p.service(s)
	}
	return p.Bytes()
}

// head is all but the namespaces and services. Nodes and the fit of the memory
// model grow with the pods.
func (p *page) head(name string, services, pods int) {
	p.line("# A mesh of %d services that package sample made up; do not edit: change the package and make it again.", services)
	p.line("apiVersion: meshgen.dev/v1alpha1\nkind: ClusterProfile\nmetadata:\n  name: %s\nspec:", name)
	p.line("  kubernetes:\n    version: \"1.33\"\n    rebalancer: descheduler\n  zones:")
	for _, zone := range []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"} {
		p.line("    - name: %s\n      nodePools:", zone)
		p.line("        - {name: general, nodes: {min: %d, now: %d, max: %d}, allocatableCPU: \"31.5\", allocatableMemory: 120Gi, labels: {pool: general}}",
			up(pods, 500)+3, up(pods, 250)+3, up(pods, 85)+3)
		p.line("        - {name: edge, nodes: 4, allocatableCPU: \"15.5\", allocatableMemory: 58Gi, labels: {pool: edge}, taints: [{key: dedicated, value: edge, effect: NoSchedule}]}")
	}
	p.line("  istio:\n    version: \"1.27\"")
	p.line("  mesh:\n    outboundTrafficPolicy: ALLOW_ANY\n    callGraph: complete\n    alwaysVisible: [monitoring/otel-collector.monitoring.svc.cluster.local]")
	p.line("  metrics:\n    serverAddress: http://prometheus.monitoring.svc:9090\n    scrapeInterval: 15s")
	p.line("  istiod:\n    resources: {cpu: \"4\", memory: 4Gi}\n    memoryModel:\n      base: 600M\n      bytesPerConnectionEndpoint: 60\n      fittedEndpoints: {min: %d, max: %d}\n      istioVersion: \"1.27\"\n      scoped: true",
		up(pods, 2), 2*pods)
	p.line("    load: {connections: %d, endpoints: %d}\n    survive: zone", pods, pods)
	p.line("  events:")
	p.line("    - name: black-friday\n      start: 2026-11-27T07:00:00+01:00\n      end: 2026-11-28T01:00:00+01:00\n      multiplier: {connections: 1.8, endpoints: 1.6}\n      ramp: 30m")
	p.line("    - name: evening\n      weekly: {days: [Fri, Sat, Sun], start: \"18:00\", end: \"22:30\", timeZone: Europe/Berlin}\n      multiplier: {connections: 1.25, endpoints: 1.15}\n      ramp: 30m")
	p.line("  gateways:\n    - {name: ingress, namespace: istio-ingress, nodePool: edge, replicas: {min: 6, max: 60}}")
}

func (p *page) service(s *service) {
	kind := "Deployment"
	if s.stateful {
		kind = "StatefulSet"
	}
	labels := ""
	if s.labelled {
		labels = fmt.Sprintf(", labels: {app: %s}", s.name)
	}
	p.line("    - name: %s\n      namespace: %s\n      workload: {kind: %s, name: %s%s}", s.name, s.namespace, kind, s.name, labels)
	p.line("      ports: %s\n      replicas: {min: %d, max: %d}", s.ports(), s.min, s.max)
	p.line("      endpoints: {eu-west-1a: %d, eu-west-1b: %d, eu-west-1c: %d}", s.zones[0], s.zones[1], s.zones[2])
	if s.clients != "" {
		p.line("      clients: %s", s.clients)
	}
	if s.perEndpoint > 0 {
		p.line("      capacity: {perEndpoint: %d, peak: %d, unit: requests a second}", s.perEndpoint, s.peak)
	}
	p.line("      requests: {cpu: %dm, memory: %dMi}", s.request, 2*s.request)
	p.calls(s)
	if s.routing != "" && !s.worker {
		p.line("      routing: {%s}", s.routing)
	}
	p.autoscaling(s)
}

func (s *service) ports() string {
	switch {
	case s.worker:
		return "[]"
	case s.stateful:
		return "[{number: 6379, protocol: TCP}]"
	case s.layer < 2:
		return "[{number: 8080, protocol: HTTP}]"
	}
	return "[{number: 9090, protocol: GRPC}]"
}

func (p *page) calls(s *service) {
	var names []string
	for _, c := range s.calls {
		names = append(names, c.namespace+"/"+c.name)
	}
	p.line("      calls: [%s]", strings.Join(names, ", "))
	if s.observed != nil {
		p.line("      observedCalls: [%s/%s]", s.observed.namespace, s.observed.name)
	}
	if s.external != "" {
		p.line("      externalCalls: [%s]", s.external)
	}
}

func (p *page) autoscaling(s *service) {
	var fields []string
	if s.managed {
		fields = append(fields, "managedBy: meshgen", "cpuUtilization: 60")
	}
	if s.hpa {
		fields = append(fields, "running: {hpa: "+s.name+"}")
	}
	if len(fields) > 0 {
		p.line("      autoscaling: {%s}", strings.Join(fields, ", "))
	}
	var events []string
	for _, e := range []struct {
		name   string
		tenths int
	}{{"black-friday", s.dated}, {"evening", s.weekly}} {
		if e.tenths > 0 {
			events = append(events, fmt.Sprintf("%s: {multiplier: %d.%d}", e.name, e.tenths/10, e.tenths%10))
		}
	}
	if len(events) > 0 {
		p.line("      events: {%s}", strings.Join(events, ", "))
	}
}
