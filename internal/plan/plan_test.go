package plan

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshgen/meshgen/internal/calendar"
	"github.com/meshgen/meshgen/internal/profile"
	"github.com/meshgen/meshgen/internal/sizing"
)

// meshOf is a valid profile with its defaults, which a case then bends.
func meshOf(bend func(*profile.Profile)) *profile.Profile {
	p := &profile.Profile{File: "profile.yaml", Metadata: profile.Metadata{Name: "mesh"}}
	s := &p.Spec
	s.Kubernetes.Version = "1.31"
	s.Istio = profile.Istio{Version: "1.24", Namespace: "istio-system", DataPlane: "sidecar"}
	s.Metrics = profile.Metrics{ServerAddress: "http://prometheus:9090", ScrapeInterval: profile.Duration{Duration: 15 * time.Second}}
	for _, name := range []string{"a", "b", "c"} {
		s.Zones = append(s.Zones, profile.Zone{Name: name, NodePools: []profile.NodePool{{Name: "general", Nodes: profile.Nodes{Min: 10, Now: 10, Max: 10}}}})
	}
	s.Istiod = profile.Istiod{
		Resources: profile.Resources{CPU: quantity("2"), Memory: quantity("2Gi")},
		MemoryModel: profile.MemoryModel{
			Base: *quantity("240M"), BytesPerConnectionEndpoint: decimal("400"), Residual: decimal("0.05"),
			FittedEndpoints: &profile.Range{Min: 10, Max: 1000000}, IstioVersion: "1.24",
		},
		Headroom: decimal("0.85"), Load: profile.Load{Connections: 1000, Endpoints: 1700},
		Survive:         profile.Survive{Mode: "zone"},
		RebalanceWithin: profile.Duration{Duration: 20 * time.Minute},
		PodReady:        profile.Duration{Duration: time.Minute}, NodeReady: profile.Duration{Duration: 2 * time.Minute},
		ReconnectCost: decimal("0.2"), UnplannedSurge: decimal("1.5"), HoldUnscaled: true,
	}
	if bend != nil {
		bend(p)
	}
	return p
}

func quantity(text string) *profile.Quantity {
	q := &profile.Quantity{}
	if err := q.UnmarshalJSON([]byte(text)); err != nil {
		panic(err)
	}
	return q
}

func decimal(text string) profile.Decimal {
	d := profile.Decimal{}
	if err := d.UnmarshalJSON([]byte(text)); err != nil {
		panic(err)
	}
	return d
}

func build(t *testing.T, p *profile.Profile) *Plan {
	t.Helper()
	pl, err := Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// survivals are every kind of loss.
var survivals = map[string]profile.Survive{
	"zone":  {Mode: "zone"},
	"pod":   {Mode: "pod"},
	"share": {Mode: "share", Share: big.NewRat(3, 10)},
	"most":  {Mode: "share", Share: big.NewRat(9, 10)},
}

// threshold is the plan's, or 0 where there is no safe one.
func threshold(t *testing.T, p *profile.Profile) int64 {
	t.Helper()
	d, _ := build(t, p).Decision("istiod.connectionThreshold")
	n, _ := d.Value.(int64)
	return n
}

// models are every kind of memory model. That of linear is the mesh's own.
var models = map[string]func(*profile.MemoryModel){
	"linear":                         func(*profile.MemoryModel) {},
	"push, a buffer for every proxy": pushModel,
	"push, the messages that wait": func(m *profile.MemoryModel) {
		pushModel(m)
		waiting := decimal("500")
		m.BytesPerWaitingMessage = &waiting
	},
}

// pushModel is the law of docs/law.md.
func pushModel(m *profile.MemoryModel) {
	m.Kind, m.BytesPerConnectionEndpoint = "push", profile.Decimal{}
	m.BytesPerConnection, m.BytesPerEndpoint, m.HeapGrowth = decimal("30000"), decimal("810"), decimal("1.5")
	m.MessageBytesPerEndpoint, m.VisibleShare = decimal("73"), decimal("0.1")
}

func TestTheThresholdFollowsItsInputsUnderEveryModel(t *testing.T) {
	for name, model := range models {
		mesh := func(mi, endpoints int64) *profile.Profile {
			return meshOf(func(p *profile.Profile) {
				model(&p.Spec.Istiod.MemoryModel)
				p.Spec.Istiod.Load.Endpoints = endpoints
				p.Spec.Istiod.Resources.Memory = quantity(fmt.Sprintf("%dMi", mi))
			})
		}
		t.Run("memory never lowers it, "+name, func(t *testing.T) {
			last := int64(0)
			for mi := int64(300); mi <= 6000; mi += 59 {
				got := threshold(t, mesh(mi, 6000))
				if got < last {
					t.Fatalf("%d at %d Mi, after %d with less memory", got, mi, last)
				}
				last = got
			}
		})
		t.Run("endpoints never raise it, "+name, func(t *testing.T) {
			last := int64(1 << 40)
			for endpoints := int64(100); endpoints <= 200000; endpoints += 2173 {
				got := threshold(t, mesh(1024, endpoints))
				if got > last {
					t.Fatalf("%d at %d endpoints, after %d with fewer", got, endpoints, last)
				}
				last = got
			}
		})
	}
}

func TestTheThresholdFollowsItsInputs(t *testing.T) {
	for name, survive := range survivals {
		t.Run("memory never lowers it, survive "+name, func(t *testing.T) {
			last := int64(0)
			for mi := 300; mi <= 6000; mi += 37 {
				got := threshold(t, meshOf(func(p *profile.Profile) {
					p.Spec.Istiod.Survive = survive
					p.Spec.Istiod.Resources.Memory = quantity(fmt.Sprintf("%dMi", mi))
				}))
				if got < last {
					t.Fatalf("%d at %d Mi, after %d with less memory", got, mi, last)
				}
				last = got
			}
		})
		t.Run("endpoints never raise it, survive "+name, func(t *testing.T) {
			last := int64(1 << 40)
			for endpoints := int64(100); endpoints <= 30000; endpoints += 173 {
				got := threshold(t, meshOf(func(p *profile.Profile) {
					p.Spec.Istiod.Survive = survive
					p.Spec.Istiod.Load.Endpoints = endpoints
				}))
				if got > last {
					t.Fatalf("%d at %d endpoints, after %d with fewer", got, endpoints, last)
				}
				last = got
			}
		})
		t.Run("cores never lower it, survive "+name, func(t *testing.T) {
			last := int64(0)
			for milli := 100; milli <= 34000; milli += 450 {
				got := threshold(t, meshOf(func(p *profile.Profile) {
					p.Spec.Istiod.Survive = survive
					p.Spec.Istiod.Resources.CPU = quantity(fmt.Sprintf("%dm", milli))
					p.Spec.Istiod.Resources.Memory = quantity("64Gi")
				}))
				if got < last {
					t.Fatalf("%d at %d milli-cores, after %d with fewer", got, milli, last)
				}
				last = got
			}
		})
	}
}

func TestTheReasonOfTheFloor(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want string
	}{
		"a surge with the loss of a share": {
			func(s *profile.Spec) {
				s.Istiod.Survive = profile.Survive{Mode: "share", Share: big.NewRat(1, 2)}
				s.Istiod.Resources.Memory, s.Istiod.UnplannedSurge = quantity("1Gi"), decimal("3")
			},
			"a surge nobody planned, with the loss of 50 % of the pods, needs ",
		},
		"what runs today": {
			func(s *profile.Spec) { runs := int64(24); s.Istiod.Running.MinReplicas = &runs },
			"today's floor is 24, and the first change takes no margin away",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := build(t, meshOf(func(p *profile.Profile) { c.bend(&p.Spec) })).Decision("istiod.replicas.min")
			if !strings.HasPrefix(d.Reason, c.want) {
				t.Errorf("%q, want %q", d.Reason, c.want)
			}
		})
	}
}

// randomMesh is a structurally valid profile with a calendar of up to 8 events.
func randomMesh(r *rand.Rand) *profile.Profile {
	return meshOf(func(p *profile.Profile) {
		s := &p.Spec
		s.Zones = s.Zones[:2+r.IntN(2)]
		kinds := []string{"zone", "pod", "share"}
		s.Istiod.Survive = survivals[kinds[r.IntN(3)]]
		s.Istiod.HoldUnscaled = r.IntN(2) == 0
		s.Istiod.Load = profile.Load{Connections: 1 + r.Int64N(5000), Endpoints: 1 + r.Int64N(5000)}
		s.Istiod.Resources.Memory = quantity(fmt.Sprintf("%dMi", 800+r.IntN(8000)))
		s.Istiod.Resources.CPU = quantity(fmt.Sprint(1 + r.IntN(8)))
		kindsOfModel := slices.Sorted(maps.Keys(models))
		models[kindsOfModel[r.IntN(len(kindsOfModel))]](&s.Istiod.MemoryModel)
		for i := range r.IntN(9) {
			s.Events = append(s.Events, randomEvent(r, i))
		}
	})
}

func randomEvent(r *rand.Rand, i int) profile.Event {
	m, n := decimal(fmt.Sprintf("%d.%d", 1+r.IntN(3), r.IntN(10))), decimal(fmt.Sprintf("1.%d", r.IntN(10)))
	e := profile.Event{Name: fmt.Sprintf("event-%d", i), Multiplier: &profile.Multiplier{Connections: &m, Endpoints: &n}}
	if r.IntN(3) == 0 {
		e.Multiplier.Endpoints = nil
	}
	if r.IntN(2) == 0 {
		start := time.Date(2026, 6, 1, r.IntN(24), 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(5))
		end := start.Add(time.Duration(1+r.IntN(48)) * time.Hour)
		e.Start, e.End = &profile.Instant{Time: start}, &profile.Instant{Time: end}
		return e
	}
	days := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	hour := 8 + r.IntN(8)
	e.Weekly = &profile.Weekly{
		Days: days[r.IntN(3) : 3+r.IntN(4)], Start: fmt.Sprintf("%02d:00", hour), End: fmt.Sprintf("%02d:30", hour+r.IntN(4)),
		TimeZone: []string{"Asia/Seoul", "UTC", "America/New_York"}[r.IntN(3)],
	}
	return e
}

// Every segment of the calendar is covered by each trigger that covers it, alone;
// after the loss, at the pods that the plan then has, each pod is within NSafe;
// and every number can be explained.
func TestRandomCalendars(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	planned := 0
	for tried := 0; planned < 1000; tried++ {
		if tried == 2000 {
			t.Fatalf("only %d of 2,000 random meshes could be planned", planned)
		}
		p := randomMesh(random)
		pl := build(t, p)
		if pl.Findings.HasErrors() {
			continue
		}
		planned++
		judgeCoverage(t, p, pl)
		judgeWorstMoment(t, p, pl)
		for _, d := range pl.Decisions {
			if _, err := Explain(d); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func judgeCoverage(t *testing.T, p *profile.Profile, pl *Plan) {
	t.Helper()
	theta := number64(t, pl, "istiod.connectionThreshold")
	for _, segment := range calendar.Segments(eventsOf(p)) {
		c, _ := loadOf(p, segment.Active)
		for _, i := range segment.Active {
			name := p.Spec.Events[i].Name
			if n := number64(t, pl, "istiod.replicas.event."+name); n*theta < c {
				t.Fatalf("%s has %d pods at %d connections each, a segment from %s holds %d", name, n, theta, segment.Start, c)
			}
		}
	}
}

func judgeWorstMoment(t *testing.T, p *profile.Profile, pl *Plan) {
	t.Helper()
	theta, least := number64(t, pl, "istiod.connectionThreshold"), number64(t, pl, "istiod.replicas.min")
	worst := p.Spec.Istiod.Load
	for _, segment := range calendar.Segments(eventsOf(p)) {
		c, e := loadOf(p, segment.Active)
		worst.Connections, worst.Endpoints = max(worst.Connections, c), max(worst.Endpoints, e)
	}
	zones := pl.Istiod.Zones
	loss := sizing.Loss{Mode: p.Spec.Istiod.Survive.Mode, Zones: zones, Share: p.Spec.Istiod.Survive.Share}
	n := max(least, sizing.UpTo(sizing.CeilDiv(worst.Connections, theta), zones))
	left := n - loss.Lost(n)
	i := p.Spec.Istiod
	model := sizing.Threshold{
		Limit: &i.Resources.Memory.Rat, Headroom: &i.Headroom.Rat, Endpoints: worst.Endpoints, Memory: lawOf(i.MemoryModel),
	}
	if need := sizing.Fewest(worst.Connections, model.NSafe()); left < need {
		t.Fatalf("survive %s: %d of %d pods are left of the %d that %d connections need at threshold %d",
			i.Survive.Mode, left, n, need, worst.Connections, theta)
	}
}

func lawOf(m profile.MemoryModel) sizing.Memory {
	if m.Kind != "push" {
		return sizing.FieldLaw{Base: &m.Base.Rat, PerConnection: &m.BytesPerConnection.Rat, PerConnectionEndpoint: &m.BytesPerConnectionEndpoint.Rat}
	}
	law := sizing.PushLaw{
		Base: &m.Base.Rat, Heap: new(big.Rat), PerConnection: &m.BytesPerConnection.Rat, PerEndpoint: &m.BytesPerEndpoint.Rat,
		Growth: &m.HeapGrowth.Rat, Message: &m.MessageBytesPerEndpoint.Rat, Visible: &m.VisibleShare.Rat,
	}
	if m.BytesPerWaitingMessage != nil {
		law.Waiting = &m.BytesPerWaitingMessage.Rat
	}
	return law
}

func number64(t *testing.T, pl *Plan, subject string) int64 {
	t.Helper()
	n, err := pl.Int(subject)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func eventsOf(p *profile.Profile) []calendar.Event {
	b := &builder{profile: p, plan: &Plan{}}
	b.loads()
	return b.whens()
}

// loadOf is the load while the events are under way, computed apart from Build.
func loadOf(p *profile.Profile, active []int) (connections, endpoints int64) {
	c, e := big.NewRat(1, 1), big.NewRat(1, 1)
	for _, i := range active {
		m := p.Spec.Events[i].Multiplier
		c.Add(c, &m.Connections.Rat).Sub(c, big.NewRat(1, 1))
		if m.Endpoints != nil {
			e.Add(e, &m.Endpoints.Rat).Sub(e, big.NewRat(1, 1))
		}
	}
	return sizing.CeilMul(p.Spec.Istiod.Load.Connections, c), sizing.CeilMul(p.Spec.Istiod.Load.Endpoints, e)
}
