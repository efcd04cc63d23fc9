package plan

import (
	"testing"

	"github.com/meshgen/meshgen/internal/profile"
)

// roomy gives every node of a mesh 8 cores and 32 GiB: 30 nodes are 240 cores
// and 960 GiB, and 160 and 640 with one of three zones lost. The cart of 6 pods
// doubles in the sale; 3 istiods at rest and 6 in the sale take 2 cores and 2
// GiB each.
func roomy(s *profile.Spec, cpu, memory string) {
	for i := range s.Zones {
		pool := &s.Zones[i].NodePools[0]
		pool.AllocatableCPU, pool.AllocatableMemory = *quantity("8"), quantity("32Gi")
	}
	s.Events = []profile.Event{sale()}
	s.Services = []profile.Service{cart("sale", "2")}
	s.Services[0].Requests = profile.Resources{CPU: quantity(cpu), Memory: quantity(memory)}
}

func TestRoom(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(*profile.Spec)
		want []string
	}{
		// 6·2 + 12·12333m = 159.996
		"a sale that just fits": {func(s *profile.Spec) { roomy(s, "12333m", "1Gi") }, nil},
		"a sale that does not": { // 6·2 + 12·12334m = 160.008
			func(s *profile.Spec) { roomy(s, "12334m", "1Gi") },
			[]string{"warning plan/no-room: in event sale istiod and the workloads request 160 cores of cpu, and the pools that they may use have 160 cores at their most nodes with zone a lost"},
		},
		"memory that does not": { // 6·2 + 12·53 = 648
			func(s *profile.Spec) { roomy(s, "1", "53Gi") },
			[]string{"warning plan/no-room: in event sale istiod and the workloads request 648 GiB of memory, and the pools that they may use have 640 GiB"},
		},
		"memory of which one pool says nothing": {
			func(s *profile.Spec) { roomy(s, "1", "53Gi"); s.Zones[1].NodePools[0].AllocatableMemory = nil }, nil,
		},
		"a workload without requests": {
			func(s *profile.Spec) { roomy(s, "100", "100Gi"); s.Services[0].Requests = profile.Resources{} }, nil,
		},
		"neither at rest nor in the sale": { // 3·2 + 6·30 = 186, 6·2 + 12·30 = 372
			func(s *profile.Spec) { roomy(s, "30", "1Gi") },
			[]string{
				"warning plan/no-room: at rest istiod and the workloads request 186 cores",
				"warning plan/no-room: in event sale istiod and the workloads request 372 cores",
			},
		},
		"nodes that the pool may still get": {
			func(s *profile.Spec) {
				roomy(s, "20", "1Gi") // 6·2 + 12·20 = 252
				for i := range s.Zones {
					s.Zones[i].NodePools[0].Nodes.Max = 16 // 2 · 16 · 8 = 256
				}
			}, nil,
		},
		"the zone that has most is the one that is lost": { // 240 left of 80 + 160 + 800
			func(s *profile.Spec) {
				roomy(s, "20", "1Gi")
				s.Zones[1].NodePools[0].Nodes.Max, s.Zones[2].NodePools[0].Nodes.Max = 20, 100
			},
			[]string{"warning plan/no-room: in event sale istiod and the workloads request 252 cores of cpu, and the pools that they may use have 240 cores at their most nodes with zone c lost"},
		},
		"one zone, which cannot be lost": { // 80 cores; 4·2 + 12·6 = 80
			func(s *profile.Spec) {
				roomy(s, "6", "1Gi")
				s.Zones, s.Istiod.Survive = s.Zones[:1], profile.Survive{Mode: "pod"}
			}, nil,
		},
		"pools that are dedicated to others": {
			func(s *profile.Spec) {
				roomy(s, "12334m", "1Gi")
				s.Zones[0].NodePools = append(s.Zones[0].NodePools, profile.NodePool{
					Name: "edge", Nodes: profile.Nodes{Now: 100, Max: 100}, AllocatableCPU: *quantity("64"), AllocatableMemory: quantity("256Gi"),
					Taints: []profile.Taint{{Key: "dedicated", Value: "edge", Effect: "NoSchedule"}},
				})
			},
			[]string{"warning plan/no-room: in event sale istiod and the workloads request 160 cores"},
		},
		"pools that istiod has to itself are no room for workloads": { // 12·13500m = 162
			func(s *profile.Spec) { roomy(s, "13500m", "1Gi"); istiodsOwn(s) },
			[]string{"warning plan/no-room: in event sale the workloads request 162 cores of cpu, and the pools that they may use have 160 cores"},
		},
		"pools that istiod has to itself are room for istiod": {
			func(s *profile.Spec) { roomy(s, "12334m", "1Gi"); istiodsOwn(s) }, nil,
		},
		"two events under way together ask for both": { // 6·2 + 12·7 + 12·7 = 180
			func(s *profile.Spec) {
				roomy(s, "7", "1Gi")
				s.Events = append(s.Events, promotion())
				s.Services = append(s.Services, renamed("basket", cart("promotion", "2")))
				s.Services[1].Requests = s.Services[0].Requests
			},
			[]string{"warning plan/no-room: in event sale with promotion istiod and the workloads request 180 cores"},
		},
		"two events apart ask for one after the other": { // 6·2 + 12·7 + 6·7 = 138
			func(s *profile.Spec) {
				roomy(s, "7", "1Gi")
				s.Events = append(s.Events, dated("promotion", "2026-12-20T11:00:00Z", "2026-12-20T15:00:00Z", "2"))
				s.Services = append(s.Services, renamed("basket", cart("promotion", "2")))
				s.Services[1].Requests = s.Services[0].Requests
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			judgeFindings(t, c.bend, c.want)
		})
	}
}

// istiodsOwn adds a pool in every zone that istiod alone tolerates.
func istiodsOwn(s *profile.Spec) {
	for i := range s.Zones {
		s.Zones[i].NodePools = append(s.Zones[i].NodePools, profile.NodePool{
			Name: "mesh", Nodes: profile.Nodes{Now: 4, Max: 4}, AllocatableCPU: *quantity("8"), AllocatableMemory: quantity("32Gi"),
			Taints: []profile.Taint{{Key: "dedicated", Value: "mesh", Effect: "NoSchedule"}},
		})
	}
	s.Istiod.Tolerations = []profile.Toleration{{Key: "dedicated", Operator: "Equal", Value: "mesh"}}
}

func TestWhatIsLeftIsADecision(t *testing.T) {
	pl := build(t, meshOf(func(p *profile.Profile) { roomy(&p.Spec, "10500m", "32Gi") }))
	for subject, want := range map[string]int64{
		"capacity.cpu":    22,  // 160 − 6·2 − 12·10.5
		"capacity.memory": 244, // 640 − 6·2 − 12·32
	} {
		if got := number64(t, pl, subject); got != want {
			t.Errorf("%s is %d, want %d", subject, got, want)
		}
		d, _ := pl.Decision(subject)
		if _, err := Explain(d); err != nil {
			t.Error(err)
		}
	}
}
