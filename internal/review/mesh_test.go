package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

func cart() plan.Workload {
	return plan.Workload{Namespace: "shop", Name: "cart", Kind: "StatefulSet", Spread: []plan.Spread{{TopologyKey: "zone", WhenUnsatisfiable: "ScheduleAnyway", MaxSkew: 1}}, Scaling: &plan.Scaling{
		Name: "cart", Min: 6, Max: 60, ReplicasInManifest: true, Triggers: []plan.Trigger{{Event: "sale", Reason: "20 pods, from noon"}},
	}}
}

func TestTheMeshAroundIstiod(t *testing.T) {
	for name, c := range map[string]struct {
		bend          func(*plan.Plan)
		heading, want string
	}{
		"workloads whose pod template changes restart": {
			func(p *plan.Plan) { p.Workloads = []plan.Workload{cart()} }, "What restarts",
			"- `istiod` rolls out once if its connection age, CPU, memory, spread, affinity or priority class differ from the values here, a quarter of the pods at a time.\n" +
				"- These workloads roll out once where their spread constraints differ from the planned ones:\n  - `shop`: `cart`\n- Planned for 1 of them: `zone ScheduleAnyway 1`.\n" +
				"- Constraints that somebody else has set than who applies these (Helm, `kubectl edit`) stay beside them: delete them once by hand.",
		},
		"the size of the change stands first": {
			func(p *plan.Plan) {
				over, on := cart(), cart()
				over.Scaling.HPA, over.Spread, on.Scaling.Extends = "other-hpa", nil, true
				p.Workloads = []plan.Workload{cart(), over, on}
				p.Routes = []plan.Route{{TrafficDistribution: "PreferClose"}, {}, {}}
				p.Scopes = []plan.Scope{{Rollout: "live"}, {Rollout: "report"}}
			}, "In short",
			"- workloads that get a ScaledObject: 2\n- HPAs that are taken over: 1\n- ScaledObjects of yours that get the events' triggers: 1\n" +
				"- workloads that get other spread constraints: 2\n- Services whose calls stay in their zone: 1\n" +
				"- Services that lose `trafficDistribution` or topology hints: 2\n- Sidecar scopes that are written: 1",
		},
		"nothing around istiod is no size": {func(*plan.Plan) {}, "In short", "no section In short"},
		"a workload that is only scaled does not": {
			func(p *plan.Plan) { w := cart(); w.Spread = nil; p.Workloads = []plan.Workload{w} }, "What restarts",
			"- `istiod` rolls out once if its connection age, CPU, memory, spread, affinity or priority class differ from the values here, a quarter of the pods at a time.\n- No workload restarts.",
		},
		"what is scaled, for what, and from what": {
			func(p *plan.Plan) {
				over, on := cart(), cart()
				over.Name, over.Scaling.HPA, on.Name, on.Scaling.Extends = "other", "other-hpa", "third", true
				p.Workloads = []plan.Workload{cart(), over, on}
			}, "Workloads that are scaled",
			"| workload | pods | for events | today |\n| --- | --- | --- | --- |\n" +
				"| `shop/cart` | 6 to 60 | sale: 20 pods, from noon | no autoscaler |\n" +
				"| `shop/other` | 6 to 60 | sale: 20 pods, from noon | HPA `other-hpa` is taken over by name |\n" +
				"| `shop/third` | 6 to 60 | sale: 20 pods, from noon | ScaledObject `cart` keeps its triggers, the events' come after them |\n\n1 HPAs leave your manifests",
		},
		"replicas in a workload's manifest are adopted in two steps": {
			func(p *plan.Plan) { p.Workloads = []plan.Workload{cart()} }, "First adoption, in two steps",
			"   - 6 pods, `kubectl apply edit-last-applied statefulset/cart -n shop`, `kubectl scale statefulset/cart -n shop --replicas=N`",
		},
		"zone routing that runs or comes, and how many have none": {
			func(p *plan.Plan) {
				p.Decisions = []plan.Decision{
					{Subject: "service/shop/cart.trafficDistribution", Value: "PreferSameZone", Reason: "S1 to S9 hold"},
					{Subject: "service/shop/flag.trafficDistribution", Reason: "F is 2", Running: &plan.Running{Value: "topology-mode: Auto", Verdict: plan.Unsafe}},
					{Subject: "service/shop/a.trafficDistribution", Reason: "S1"},
					{Subject: "service/shop/b.trafficDistribution", Reason: "S1"},
				}
			}, "Zone routing",
			"| `shop/cart` | nothing | PreferSameZone | S1 to S9 hold |\n| `shop/flag` | topology-mode: Auto, unsafe | nothing | F is 2 |\n\nServices without zone routing, which get none: 2;",
		},
		"scopes, and the hosts of those that no file has": {
			func(p *plan.Plan) {
				p.Scopes = []plan.Scope{
					{Namespace: "shop", Name: "default", Hosts: []string{"./*", "istio-system/*"}, Rollout: "report", Proxies: 10, Visible: 16, Listed: 1700},
					{Namespace: "web", Name: "front", Hosts: []string{"./a"}, Rollout: "live", Proxies: 2, Visible: 3, Listed: 1700},
				}
			}, "Sidecar scopes",
			"never within a freeze.\n\n| scope | rollout | proxies | hosts | listed endpoints seen | instead of |\n| --- | --- | --- | --- | --- | --- |\n| `shop` | report | 10 | 2 | 16 | 1700 |\n| `web/front` | live | 2 | 1 | 3 | 1700 |\n\n`shop` is reported and not written; it would see `./*`, `istio-system/*`.",
		},
		"decisions of Services stand in their own tables": {
			func(p *plan.Plan) {
				p.Decisions = []plan.Decision{{Subject: "workload/shop/cart.replicas.min"}, {Subject: "istiod.x", Value: int64(1)}}
			},
			"Decisions", "| decision | value | why | source |\n| --- | --- | --- | --- |\n| `istiod.x` | 1 |  |  |",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned()
			c.bend(p)
			if got := section(t, Markdown(p, nil, nil), c.heading); !strings.Contains(got, c.want) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(c.want, got))
			}
		})
	}
}

func TestManyFindingsOfAKindAreCounted(t *testing.T) {
	var found diag.List
	for i := range 10 {
		found = append(found, diag.Finding{Severity: diag.Warning, ID: "plan/x", Message: fmt.Sprintf("number %d", i)})
	}
	got := section(t, Markdown(planned(), found, nil), "Findings")
	if strings.Count(got, "- warning `plan/x`") != shown || !strings.HasSuffix(got, "- and 2 more `plan/x`, which `meshgen validate` lists") {
		t.Errorf("got\n%s", got)
	}
}

func TestManyNamesAreCounted(t *testing.T) {
	names := strings.Split("abcdefghi", "")
	if diff := cmp.Diff("`a`, `b`, `c`, `d`, `e`, `f`, `g` and 2 more", few(names)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheFirstScreenStaysAScreen(t *testing.T) {
	var all []plan.Decision
	for i := range 20 {
		all = append(all, plan.Decision{
			Subject: fmt.Sprintf("service/shop/s%d.trafficDistribution", i), Running: &plan.Running{Value: "PreferClose", Verdict: plan.Unsafe},
		})
	}
	page := Markdown(planned(all...), nil, nil)
	if got := section(t, page, "Unsafe today"); strings.Count(got, "\n") != shown || !strings.HasSuffix(got, "- and 12 more, in the tables below") {
		t.Errorf("got\n%s", got)
	}
	if got := section(t, page, "Changes against what runs"); !strings.HasSuffix(got, "The table of zone routing has 12 more.") {
		t.Errorf("got\n%s", got)
	}
}
