package sample

import (
	"fmt"
	"slices"
	"strings"
)

// made is a Service of a random profile.
type made struct {
	namespace, name string
	workload        string // empty where none is named
	labels          string
	shape           []string // what Services in front of one workload must agree on
	managed, scaled bool     // by meshgen, by anybody
	least, most     int
	pods            int
}

func (m *meshMaker) services() {
	count := pick(m.choice, 0, 1, 2, 3, 4, 6, 8, 12)
	for i := range count {
		m.made = append(m.made, m.make(i))
	}
	m.writeNamespaces()
	if count == 0 {
		m.line("  services: []")
		return
	}
	m.line("  services:")
	for i, s := range m.made {
		m.service(i, s)
	}
}

// make chooses what others refer to. One in ten stands in front of the workload
// of the Service before it.
func (m *meshMaker) make(i int) *made {
	s := &made{namespace: pick(m.choice, m.spaces...), name: fmt.Sprintf("%s-%d", pick(m.choice, "cart", "auth", "search"), i)}
	if i > 0 && m.made[i-1].workload != "" && m.of(10) {
		front := *m.made[i-1]
		front.name = s.name
		return &front
	}
	s.least = m.between(1, 24)
	if m.rarely() {
		s.least = 0
	}
	s.most = max(1, s.least*m.between(100, 2500)/100)
	if m.of(15) {
		s.most = max(1, s.least)
	}
	s.pods = m.between(s.least, min(s.most, 2*s.least+1))
	if m.of(92) {
		s.workload = s.name
		m.workload(s)
	}
	m.scaler(s)
	return s
}

func (m *meshMaker) workload(s *made) {
	w := flow{}
	w.add("name: %s", s.workload)
	m.given(15, &w, "kind: StatefulSet")
	m.given(15, &w, "container: app")
	if m.of(90) {
		s.labels = fmt.Sprintf("{app: %s}", s.workload)
		if m.of(10) {
			s.labels = "{app: shared}"
		}
		w.add("labels: %s", s.labels)
	}
	m.given(10, &w, "topologySpreadConstraints: [%s]", pick(m.choice,
		"{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2}",
		"{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}",
		"{topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}, {topologyKey: rack, whenUnsatisfiable: ScheduleAnyway, maxSkew: 3}"))
	s.shape = append(s.shape, "workload: "+w.mapping())
	if m.of(50) {
		r := flow{}
		m.given(80, &r, `cpu: "%dm"`, m.between(50, 3000))
		m.given(80, &r, "memory: %dMi", m.between(64, 4096))
		s.shape = append(s.shape, "requests: "+r.mapping())
	}
}

func (m *meshMaker) scaler(s *made) {
	f, running := flow{}, flow{}
	if s.managed = s.workload != "" && s.least > 0 && m.of(55) || m.rarely(); s.managed {
		f.add("managedBy: meshgen")
	}
	switch m.below(5) {
	case 0:
		running.add("hpa: %s", s.name)
		f.add("cpuUtilization: %d", m.between(30, 90))
		s.scaled = true
	case 1:
		running.add("scaledObject: %s-scaler", s.name)
		s.scaled = true
	default:
		m.given(50, &f, "cpuUtilization: %d", m.between(30, 90))
		m.given(20, &f, "memoryUtilization: %d", m.between(30, 90))
	}
	m.given(15, &running, "replicasInManifest: %t", m.of(50))
	if len(running) > 0 {
		f.add("running: %s", running.mapping())
	}
	if len(f) > 0 {
		s.shape = append(s.shape, "autoscaling: "+f.mapping())
	}
	s.scaled = s.scaled || s.managed
}

func (m *meshMaker) service(i int, s *made) {
	f := flow{}
	f.add("name: %s, namespace: %s", s.name, s.namespace)
	f = append(f, s.shape...)
	switch m.below(10) {
	case 0:
		f.add("ports: []")
	case 1:
	default:
		f.add("ports: [{number: %d, protocol: %s}]", m.between(1, 65535), pick(m.choice, "HTTP", "GRPC", "TCP"))
	}
	f.add("replicas: {min: %d, max: %d}", s.least, s.most)
	f.add("endpoints: %s", m.endpoints(s.pods))
	m.clients(&f)
	m.capacity(&f, s)
	m.callees(&f, i)
	m.routing(&f)
	m.given(15, &f, "podReady: %s", pick(m.choice, "5s", "45s", "3m", "12m"))
	m.given(10, &f, "longLivedConnections: %d", m.below(2000))
	m.given(10, &f, "selfCalls: false")
	m.eventsOf(&f, s)
	m.line("    - %s", f.mapping())
}

// endpoints lays pods over the zones, most often evenly.
func (m *meshMaker) endpoints(pods int) string {
	counts := make([]int, len(m.zones))
	for i := range pods {
		counts[i%len(counts)]++
	}
	if m.of(25) {
		clear(counts)
		for range pods {
			counts[m.below(len(counts))]++
		}
	}
	f := flow{}
	for z, n := range counts {
		f.add("%s: %d", m.zones[z], n)
	}
	return f.mapping()
}

// clients shares hundredths of the calls out over the zones.
func (m *meshMaker) clients(f *flow) {
	if m.of(25) {
		return
	}
	shares := make([]int, len(m.zones))
	left, even := 100, m.of(70)
	for z := range shares[1:] {
		shares[z] = left / (len(shares) - z)
		if !even {
			shares[z] = m.below(left + 1)
		}
		left -= shares[z]
	}
	shares[len(shares)-1] = left
	c := flow{}
	for z, share := range shares {
		c.add("%s: %s", m.zones[z], hundredths(share))
	}
	f.add("clients: %s", c.mapping())
}

func (m *meshMaker) capacity(f *flow, s *made) {
	if m.of(40) {
		return
	}
	each := m.between(1, 2000)
	f.add("capacity: {perEndpoint: %d, peak: %d, unit: requests a second}", each, each*max(1, s.least)*m.between(2, 75)/100)
}

func (m *meshMaker) callees(f *flow, i int) {
	for _, name := range []string{"calls", "observedCalls"} {
		var called []string
		for range m.below(5) - 1 {
			to := m.made[m.below(len(m.made))]
			called = append(called, to.namespace+"/"+to.name)
		}
		slices.Sort(called)
		if called = slices.Compact(called); len(called) > 0 && (name == "calls" || i%4 == 0) {
			f.add("%s: [%s]", name, strings.Join(called, ", "))
		}
	}
	m.given(12, f, "externalCalls: [%s]", pick(m.choice, "external/api.example.com", `"*/*.example.org"`, "external/*"))
}

func (m *meshMaker) routing(f *flow) {
	r := flow{}
	m.given(12, &r, "topologyMode: %s", pick(m.choice, "Auto", "auto", "Disabled"))
	m.given(20, &r, "trafficDistribution: %s", pick(m.choice, "PreferClose", "PreferSameZone", "PreferSameNode"))
	m.given(5, &r, "internalTrafficPolicy: Local")
	m.given(20, &r, "callers: %s", pick(m.choice, "kube-proxy", "both"))
	if len(r) > 0 {
		f.add("routing: %s", r.mapping())
	}
}

// eventsOf names events where somebody scales.
func (m *meshMaker) eventsOf(f *flow, s *made) {
	if len(m.events) == 0 || !s.scaled && !m.rarely() {
		return
	}
	e := flow{}
	for _, name := range m.events {
		m.given(40, &e, "%s: {multiplier: %s}", name, hundredths(m.between(100, 260)))
	}
	if len(e) > 0 {
		f.add("events: %s", e.mapping())
	}
}
