package sample

// istiod writes the control plane: a memory model under which a pod holds some
// dozens to some thousands of connections, and what runs today.
func (m *meshMaker) istiod() {
	m.line("  istiod:")
	memory, base := pick(m.choice, 768, 1024, 2048, 4096, 8192, 16384), 0
	base = memory * m.between(5, 35) / 100
	connections, endpoints := m.between(2, 6000), m.between(2, 6000)
	if m.rarely() {
		connections, endpoints = m.between(1, 100000000), m.between(1, 100000000)
	}
	m.line("    resources: {cpu: %s, memory: %dMi}", m.cores(), memory)
	m.model(memory, base, endpoints)
	m.line("    load: {connections: %d, endpoints: %d}", connections, endpoints)
	m.survival()
	m.times()
	if m.weighted {
		m.line("    scaling: weighted")
	}
	m.switches()
	m.tolerations()
	m.running()
}

func (m *meshMaker) cores() string {
	if m.rarely() {
		return pick(m.choice, `"1m"`, `"0.1"`, "256", `"255999m"`)
	}
	return pick(m.choice, "1", "2", "2", "4", "4", "8", `"600m"`, `"2500m"`, "16")
}

// model writes the memory model. The bytes of a connection, for each endpoint or
// for itself, are such that about holds connections fit at the worst moment.
func (m *meshMaker) model(memory, base, endpoints int) {
	holds := pick(m.choice, 80, 150, 300, 300, 600, 1500, 4000) + m.below(50)
	worst := endpoints * m.most / 100
	f := flow{}
	f.add("base: %dMi", base)
	perConnection, push := (memory-base)<<20/holds, m.of(30)
	if push {
		m.push(&f, perConnection, worst)
	} else {
		m.linear(&f, perConnection, worst)
	}
	if m.of(90) {
		f.add("fittedEndpoints: {min: %d, max: %d}", endpoints/2, min(100000000, worst*m.between(70, 200)/100))
	}
	m.given(80, &f, `istioVersion: "1.%d"`, m.istioMinor-m.below(2))
	m.given(30, &f, "residual: %s", hundredths(m.below(12)))
	if push {
		f.add("scoped: true")
	} else {
		m.given(30, &f, "scoped: true")
	}
	m.line("    memoryModel: %s", f.mapping())
	if m.of(50) {
		m.line("    headroom: %s", hundredths(m.between(60, 89)))
	}
}

func (m *meshMaker) linear(f *flow, perConnection, worst int) {
	if m.of(20) {
		f.add("bytesPerConnection: %d", perConnection/20)
	}
	perEndpoint := max(1, perConnection/10*8*100/max(1, worst))
	if m.rarely() {
		perEndpoint = m.between(1, 100000000)
	}
	f.add("bytesPerConnectionEndpoint: %s", hundredths(perEndpoint))
}

// push shares what a connection takes between its rest and its message.
func (m *meshMaker) push(f *flow, perConnection, worst int) {
	atRest := m.between(5, 90)
	f.add("kind: push")
	f.add("bytesPerConnection: %d", max(1, perConnection/200*atRest))
	f.add("bytesPerEndpoint: %d", m.below(2000))
	f.add("messageBytesPerEndpoint: %s", hundredths(max(1, perConnection/100*(100-atRest)*100/max(1, worst))))
	m.given(50, f, "heapGrowth: %s", hundredths(m.between(100, 200)))
	m.given(50, f, "visibleShare: %s", hundredths(m.between(1, 100)))
	m.given(50, f, "bytesPerWaitingMessage: %d", m.between(1, 5000))
}

func (m *meshMaker) survival() {
	switch m.below(6) {
	case 0, 1:
		if len(m.zones) > 1 || m.rarely() {
			m.line("    survive: zone")
		}
	case 2:
		m.line("    survive: pod")
	case 3:
		m.line("    survive: %s", hundredths(m.between(1, 60)))
	}
}

func (m *meshMaker) times() {
	for _, t := range []struct {
		name string
		of   []string
	}{
		{"rebalanceWithin", []string{"5m30s", "11m", "20m", "33m", "45m", "2h"}},
		{"podReady", []string{"5s", "30s", "60s", "1m30s", "4m0.5s"}},
		{"nodeReady", []string{"0s", "45s", "120s", "6m"}},
	} {
		if m.of(40) {
			m.line("    %s: %s", t.name, pick(m.choice, t.of...))
		}
	}
	if m.rarely() {
		m.line("    priorityClassName: mesh-critical")
	}
}

func (m *meshMaker) switches() {
	if m.of(40) {
		m.line("    reconnectCost: %s", hundredths(m.between(1, 40)))
	}
	if m.of(40) {
		m.line("    unplannedSurge: %s", hundredths(m.between(100, 250)))
	}
	if m.of(30) {
		m.line("    allowLowerFloor: true")
	}
	if m.of(30) {
		m.line("    holdUnscaled: false")
	}
}

func (m *meshMaker) tolerations() {
	if m.of(20) {
		m.line("    tolerations: [%s]", pick(m.choice, "{key: dedicated, value: edge, effect: NoSchedule}", "{operator: Exists}", "{key: dedicated, operator: Exists}", "{key: dedicated, operator: Equal, value: spot}"))
	}
}

func (m *meshMaker) running() {
	f := flow{}
	m.given(50, &f, "connectionThreshold: %d", m.between(1, 1200))
	m.given(50, &f, "keepaliveMaxServerConnectionAge: %s", pick(m.choice, "5m", "10m", "15m", "20m", "30m", "12m30s", "4h"))
	least := m.between(0, 40)
	m.given(50, &f, "minReplicas: %d", least)
	m.given(50, &f, "maxReplicas: %d", least+m.between(1, 80))
	m.given(30, &f, "replicasInManifest: %t", m.of(50))
	if len(f) > 0 {
		m.line("    running: %s", f.mapping())
	}
}
