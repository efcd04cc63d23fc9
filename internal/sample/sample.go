// Package sample makes up the mesh of a company that sells goods, of any size,
// as a cluster profile: namespaces by domain, layers of Services that call one
// another, a platform that nearly all call, replicas and calls as skewed as they
// are in life. The same size gives the same bytes. It is what examples and
// benchmarks of large meshes are made of.
package sample

import (
	"math/rand/v2"
	"slices"
)

// service is a Service of the mesh with its workload.
type service struct {
	namespace, name string
	layer           int  // calls go to higher layers only
	worker          bool // without a Service
	stateful        bool
	calls           []*service
	observed        *service // called, and in nobody's list
	external        string   // a host outside of the cluster; empty where none is called

	pods, min, max    int
	zones             [zoneCount]int // the pods in each
	perEndpoint, peak int            // requests a second; 0 where nobody measured them
	clients           string         // shares by zone; empty where nobody measured them
	labelled          bool
	routing           string // what runs today; empty for nothing
	managed           bool   // meshgen scales it
	hpa               bool   // one runs today
	dated, weekly     int    // multipliers of the events in tenths; 0 where the event does nothing
	request           int    // of one pod, in thousandths of a core
}

const zoneCount = 3

// mesh is the Services in the order of the profile.
type mesh struct {
	random   *rand.Rand
	services []*service
	members  map[string][]*service // by namespace
}

// Profile is a mesh of so many services as YAML, of which 50 are the fewest.
func Profile(name string, services int) []byte {
	return text(name, build(services))
}

func build(services int) *mesh {
	m := &mesh{random: rand.New(rand.NewPCG(1984, 2026)), members: map[string][]*service{}}
	for i, n := range counts(services) {
		m.name(domains[i], n)
	}
	for _, s := range m.services {
		m.call(s)
	}
	m.reach("web", 6, func(s *service) { s.dated = datedTenths[s.layer] })
	m.reach("checkout", 1, func(s *service) { s.weekly = 14 })
	for _, s := range m.services {
		m.size(s)
	}
	return m
}

// counts is how many services each domain has. A tenth of the domains has a
// third of them.
func counts(services int) []int {
	weights, sum := make([]int, len(domains)), 0
	for i := range domains {
		weights[i] = 12 + 160/(i+2)
		sum += weights[i]
	}
	all, left := make([]int, len(domains)), services
	for i := len(domains) - 1; i > 0; i-- {
		all[i] = max(1, services*weights[i]/sum)
		left -= all[i]
	}
	all[0] = max(1, left)
	return all
}

// call chooses what a service calls: one of the next layer, some more at home
// or of a popular domain, and the platform.
func (m *mesh) call(s *service) {
	if s.layer == lastLayer {
		return
	}
	m.connect(s, m.pick(s.namespace, s.layer+1, s.layer+1))
	for range m.fanOut(s) {
		home := s.namespace
		if m.random.IntN(100) >= 55 {
			home = domains[m.skewed(len(domains))].name
		}
		m.connect(s, m.pick(home, s.layer+1, lastLayer))
	}
	for i, share := range platformShare {
		if platform := m.members["platform"]; i < len(platform) && m.random.IntN(100) < share {
			m.connect(s, platform[i])
		}
	}
	m.outside(s)
	slices.SortFunc(s.calls, compare)
}

// fanOut is how many more services one calls: most a few, some dozens.
func (m *mesh) fanOut(s *service) int {
	switch class := m.random.IntN(100); {
	case s.layer == 0 && class < 30:
		return 20 + m.random.IntN(25)
	case class < 60:
		return m.random.IntN(3)
	case class < 90:
		return 3 + m.random.IntN(5)
	case class < 99:
		return 8 + m.random.IntN(10)
	}
	return 25 + m.random.IntN(20)
}

// outside gives some services a call outside of the cluster, and a few one that
// their owners forgot.
func (m *mesh) outside(s *service) {
	if host, ok := externals[s.namespace]; ok && s.layer == 3 && m.random.IntN(4) == 0 {
		s.external = host
	}
	if s.worker && m.random.IntN(20) == 0 {
		s.observed = m.pick("platform", s.layer+1, lastLayer)
	}
}

// pick is a service of a namespace within layers, the first more often than the
// last; nil when the namespace has none.
func (m *mesh) pick(namespace string, from, to int) *service {
	var fit []*service
	for _, s := range m.members[namespace] {
		if !s.worker && s.layer >= from && s.layer <= to {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[m.skewed(len(fit))]
}

// skewed is a number below n, small ones more often.
func (m *mesh) skewed(n int) int { return m.random.IntN(1 + m.random.IntN(n)) }

func (m *mesh) connect(s, callee *service) {
	if callee != nil && callee.layer > s.layer && !slices.Contains(s.calls, callee) {
		s.calls = append(s.calls, callee)
	}
}

// reach marks the first services of a namespace and all that they call, with
// what these call in turn.
func (m *mesh) reach(namespace string, roots int, mark func(*service)) {
	var queue []*service
	for _, s := range m.members[namespace] {
		if !s.worker && len(queue) < roots {
			queue = append(queue, s)
		}
	}
	reached := map[*service]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if !reached[s] {
			reached[s] = true
			mark(s)
			queue = append(queue, s.calls...)
		}
	}
}

// size gives a service its pods, what they can do, and who scales them, so that
// both events fit below its maximum.
func (m *mesh) size(s *service) {
	s.pods = m.podsOf(s)
	s.split(m.random.IntN(10) == 0)
	s.min, s.max = max(2, s.pods*7/10), 2*s.pods
	s.labelled = m.random.IntN(25) > 0
	s.request = []int{100, 250, 250, 500}[m.random.IntN(4)]
	if m.random.IntN(10) > 0 {
		s.perEndpoint = []int{50, 80, 100, 200, 400}[m.random.IntN(5)]
		s.peak = s.pods * s.perEndpoint * (30 + m.random.IntN(15)) / 100
	}
	if m.random.IntN(10) > 0 && !s.worker {
		s.clients = shares[m.skewed(len(shares))]
	}
	m.route(s)
	m.scale(s)
}

func (m *mesh) podsOf(s *service) int {
	if s.namespace == "platform" && s.layer >= 4 && len(s.calls) < 4 {
		return 60 + m.random.IntN(90)
	}
	switch class := m.random.IntN(100); {
	case class < 40:
		return 3 + m.random.IntN(4)
	case class < 70:
		return 6 + m.random.IntN(10)
	case class < 90:
		return 15 + m.random.IntN(26)
	case class < 98:
		return 40 + m.random.IntN(51)
	}
	return 90 + m.random.IntN(111)
}

// split lays the pods out over the zones, evenly or as an outage left them.
func (s *service) split(skewed bool) {
	for i := range s.pods {
		s.zones[i%zoneCount]++
	}
	if skewed && s.zones[2] > 1 {
		moved := s.zones[2] / 2
		s.zones[2], s.zones[0] = s.zones[2]-moved, s.zones[0]+moved
	}
}

func (m *mesh) route(s *service) {
	switch m.random.IntN(20) {
	case 0:
		s.routing = "topologyMode: Auto"
	case 1, 2:
		s.routing = "trafficDistribution: PreferClose"
	}
}

// scale says who scales a service: meshgen where an event multiplies it, else
// its team or nobody.
func (m *mesh) scale(s *service) {
	if s.stateful {
		s.dated, s.weekly = 0, 0
	}
	events := s.dated > 0 || s.weekly > 0
	switch {
	case events:
		s.managed, s.hpa = true, m.random.IntN(10) < 7
		s.max = max(s.max, 5*s.needed()/4)
	case s.stateful || m.random.IntN(10) < 3:
		s.min, s.max = s.pods, s.pods
	default:
		s.managed, s.hpa = m.random.IntN(6) == 0, true
	}
}

// needed is the replicas that both events together ask for: the minimum times
// the multiplier, or the peak with a zone lost at three quarters of what the
// endpoints can do, which in three zones is twice the peak.
func (s *service) needed() int {
	tenths := max(s.dated, s.weekly)
	if s.dated > 0 && s.weekly > 0 {
		tenths = s.dated + s.weekly - 10
	}
	need := up(s.min*tenths, 10)
	if s.perEndpoint > 0 {
		need = max(need, up(2*s.peak*tenths, 10*s.perEndpoint))
	}
	return zoneCount * up(need, zoneCount)
}

func up(a, b int) int { return (a + b - 1) / b }
