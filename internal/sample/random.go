package sample

import (
	"fmt"
	"strings"
	"time"
)

// Random is a profile that a user could have written, made of bytes and, when
// they are used up, of the seed's random numbers. It is of the right shape and
// refers to what it lists; whether a safe plan exists is left open, and for most
// one does. The same bytes and seed give the same profile. It is what the plan is
// fuzzed with.
func Random(seed uint64, data []byte) []byte {
	m := &meshMaker{choice: newChoice(seed, data), weighted: seed%4 == 1}
	m.line("apiVersion: meshgen.dev/v1alpha1\nkind: ClusterProfile\nmetadata: {name: random}\nspec:")
	m.platform()
	m.zoneList()
	m.istio()
	m.metrics()
	m.eventList()
	m.istiod()
	m.namespaces()
	m.services()
	return m.Bytes()
}

// meshMaker writes a random profile, and keeps what its later parts refer to.
type meshMaker struct {
	*choice
	page
	weighted   bool // the connection trigger; of the seed alone, so that all else stays
	zones      []string
	istioMinor int
	events     []string
	most       int // hundredths of rest that the events come to together
	spaces     []string
	made       []*made
}

// given writes a field in so many percent of the cases, for the rest have its
// default.
func (m *meshMaker) given(percent int, f *flow, format string, args ...any) {
	if m.of(percent) {
		f.add(format, args...)
	}
}

func (m *meshMaker) platform() {
	f := flow{}
	f.add(`version: "1.%d"`, m.between(29, 37))
	m.given(10, &f, "clusterDomain: mesh.example")
	m.given(50, &f, "rebalancer: descheduler")
	m.given(15, &f, "bases: {namespaced: false}")
	m.line("  kubernetes: %s", f.mapping())
}

func (m *meshMaker) zoneList() {
	m.line("  zones:")
	count := pick(m.choice, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5)
	shared := m.between(2, 60)
	for z := range count {
		name := "zone-" + string(rune('a'+z))
		m.zones = append(m.zones, name)
		pools := flow{m.pool("general", shared)}
		if m.of(40) {
			pools = append(pools, m.pool(pick(m.choice, "edge", "spot", "big"), m.between(0, 20)))
		}
		m.line("    - {name: %s, nodePools: %s}", name, pools.list())
	}
}

func (m *meshMaker) pool(name string, nodes int) string {
	f := flow{}
	f.add("name: %s", name)
	if m.rarely() {
		nodes = 0
	}
	if m.of(25) {
		f.add("nodes: {min: %d, now: %d, max: %d}", nodes/2, nodes, nodes+m.below(40))
	} else {
		f.add("nodes: %d", nodes)
	}
	f.add("allocatableCPU: %s", pick(m.choice, `"3920m"`, `"7910m"`, `"15890m"`, "64", `"31.85"`))
	m.given(50, &f, "allocatableMemory: %s", pick(m.choice, "14Gi", "60Gi", "123Gi", "250G"))
	if name != "general" {
		f.add("labels: {pool: %s}", name)
		if m.of(70) {
			f.add("taints: [{key: dedicated, value: %s, effect: %s}]", name, pick(m.choice, "NoSchedule", "NoSchedule", "PreferNoSchedule", "NoExecute"))
		}
	} else {
		m.given(5, &f, "taints: [{key: cni.istio.io/not-ready, effect: NoSchedule}]")
	}
	return f.mapping()
}

func (m *meshMaker) istio() {
	m.istioMinor = m.between(22, 32)
	f := flow{}
	f.add(`version: "1.%d"`, m.istioMinor)
	m.given(10, &f, "namespace: mesh-control")
	m.given(15, &f, `revision: "1-%d"`, m.istioMinor)
	m.line("  istio: %s", f.mapping())
	mesh := flow{}
	m.given(75, &mesh, "outboundTrafficPolicy: %s", pick(m.choice, "ALLOW_ANY", "ALLOW_ANY", "REGISTRY_ONLY", "unknown"))
	m.given(70, &mesh, "callGraph: complete")
	m.given(30, &mesh, "alwaysVisible: [%s]", pick(m.choice, "monitoring/otel.monitoring.svc.cluster.local", "external/*", `"*/*.example.com"`, "team-a/*, monitoring/*"))
	if m.of(30) {
		z := flow{}
		m.given(50, &z, "maxUtilization: %s", hundredths(m.between(50, 95)))
		m.given(50, &z, "maxOverload: %s", hundredths(m.between(100, 300)))
		m.given(30, &z, "podsLost: %d", m.between(1, 3))
		m.given(50, &z, "targetUtilization: %s", hundredths(m.between(30, 80)))
		mesh.add("zoneRouting: %s", z.mapping())
	}
	m.line("  mesh: %s", mesh.mapping())
}

func (m *meshMaker) metrics() {
	f := flow{}
	if !m.rarely() {
		f.add("serverAddress: http://prometheus.monitoring.svc:9090")
	}
	m.given(25, &f, "authenticationRef: {name: prometheus, kind: %s}", pick(m.choice, "TriggerAuthentication", "ClusterTriggerAuthentication"))
	m.given(20, &f, "selector: {cluster: %s}", pick(m.choice, "random", `"a \" b"`, "eu-1"))
	m.given(60, &f, "scrapeInterval: %s", pick(m.choice, "5s", "15s", "30s", "1m", "2m30s", "1500ms"))
	if m.weighted {
		f.add("endpoints: 'sum(kube_endpoint_address{ready=\"true\"})'")
	}
	m.line("  metrics: %s", f.mapping())
}

// clocks are zones whose clocks differ in how and when they change.
var clocks = [...]string{
	"UTC", "Asia/Seoul", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe",
	"Pacific/Chatham", "Africa/Casablanca", "Africa/Cairo", "America/Nuuk", "Asia/Kathmandu", "Pacific/Apia", "America/St_Johns", "Etc/GMT+12",
}

func (m *meshMaker) eventList() {
	m.most = 100
	count := pick(m.choice, 0, 1, 1, 2, 2, 3, 4, 6)
	if count == 0 {
		return
	}
	m.line("  events:")
	for i := range count {
		name := fmt.Sprintf("%s-%d", pick(m.choice, "sale", "evening", "launch"), i)
		m.events = append(m.events, name)
		f := flow{}
		f.add("name: %s", name)
		if m.of(55) {
			m.dated(&f)
		} else {
			m.weekly(&f)
		}
		m.multiplied(&f)
		m.line("    - %s", f.mapping())
	}
}

// dated events are near one another, so that many overlap.
func (m *meshMaker) dated(f *flow) {
	offset := pick(m.choice, 0, 9*60, -5*60, 5*60+45, 13*60)
	zone := time.FixedZone("", offset*60)
	start := time.Date(2026, time.November, 20, 0, 0, 0, 0, zone).Add(time.Duration(m.below(10*24*12)) * 5 * time.Minute)
	if m.of(10) {
		start = start.AddDate(m.between(-1, 4), m.below(12), 0)
	}
	end := start.Add(time.Duration(m.between(4, 600)) * 5 * time.Minute)
	f.add("start: %s, end: %s", start.Format(time.RFC3339), end.Format(time.RFC3339))
	m.given(50, f, "ramp: %s", pick(m.choice, "0s", "10m", "20m"))
}

func (m *meshMaker) weekly(f *flow) {
	days := flow{}
	first, step := m.below(7), pick(m.choice, 1, 1, 2)
	for i := range m.between(1, 7/step) {
		days.add("%s", []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}[(first+i*step)%7])
	}
	start := m.between(5, 270) * 5
	if m.of(10) {
		start = m.below(24 * 60)
	}
	length := pick(m.choice, 30, 60, 120, 150, 300, 480)
	end := start + length
	if end > 24*60 {
		end -= 24 * 60
	}
	f.add("weekly: {days: %s, start: %q, end: %q, timeZone: %s}", days.list(), clockText(start), clockText(end), clocks[m.below(len(clocks))])
	m.given(50, f, "ramp: %s", pick(m.choice, "0s", "10m", "30m"))
}

func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// multiplied says by how much the event multiplies the mesh. A load that istiod
// has in absolute numbers follows istiod's section, so only multiples stand here.
func (m *meshMaker) multiplied(f *flow) {
	x := m.between(100, 300)
	if m.rarely() {
		x = m.between(300, 100000)
	}
	m.most += x - 100
	switch m.below(4) {
	case 0:
		f.add("multiplier: {connections: %s}", hundredths(x))
	case 1:
		f.add("multiplier: {endpoints: %s}", hundredths(x))
	default:
		f.add("multiplier: {connections: %s, endpoints: %s}", hundredths(x), hundredths(100+(x-100)*m.below(100)/100))
	}
}

func (m *meshMaker) namespaces() {
	names := []string{"team-a", "team-b", "team-c", "platform"}
	m.spaces = names[:m.between(1, len(names))]
}

// writeNamespaces follows the choice of services, for a canary names a workload.
func (m *meshMaker) writeNamespaces() {
	m.line("  namespaces:")
	for _, name := range m.spaces {
		f := flow{}
		f.add("name: %s", name)
		m.given(70, &f, "observedDays: %d", m.between(10, 60))
		m.given(50, &f, "mtls: %s", pick(m.choice, "STRICT", "PERMISSIVE", "DISABLE", "unknown"))
		m.scope(&f, name)
		m.line("    - %s", f.mapping())
	}
}

func (m *meshMaker) scope(f *flow, namespace string) {
	s := flow{}
	m.given(60, &s, "level: %s", pick(m.choice, "namespace", "workload"))
	switch chance := m.below(100); {
	case chance < 12:
		s.add("rollout: live")
	case chance < 30:
		if canary := m.workloadOf(namespace); canary != "" {
			s.add("rollout: canary, canary: %s", canary)
		}
	}
	if len(s) > 0 {
		f.add("sidecarScope: %s", s.mapping())
	}
}

func (m *meshMaker) workloadOf(namespace string) string {
	for _, s := range m.made {
		if s.namespace == namespace && s.workload != "" && (strings.Contains(s.labels, "app") || m.rarely()) {
			return s.workload
		}
	}
	return ""
}
