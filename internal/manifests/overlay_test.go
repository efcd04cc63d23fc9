package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/plan"
	"github.com/meshgen/meshgen/internal/recent"
)

const zoneKey, hostKey = "topology.kubernetes.io/zone", "kubernetes.io/hostname"

func spread(key, when string, skew int64) plan.Spread {
	return plan.Spread{TopologyKey: key, WhenUnsatisfiable: when, MaxSkew: skew}
}

// scaled is a plan of one namespace with each thing that a Component can do: an
// HPA taken over, a ScaledObject extended, a StatefulSet spread, a Service kept
// in its zones and one released from them.
func scaled() *plan.Plan {
	p := planned()
	p.Bases.Namespaced = true
	p.Istiod.ServerAddress = "http://prometheus:9090"
	p.Workloads = []plan.Workload{
		{
			Namespace: "shop", Name: "cart", Kind: "Deployment", Labels: map[string]string{"app": "cart"},
			Spread: []plan.Spread{spread(zoneKey, "DoNotSchedule", 1), spread(hostKey, "ScheduleAnyway", 2)},
			Scaling: &plan.Scaling{
				Name: "cart", HPA: "cart-hpa", Min: 3, Max: 24, CPUUtilization: 65, MemoryUtilization: 80, Fallback: 12,
				Triggers: []plan.Trigger{
					{Name: "lunch", Event: "lunch", Start: "6 11 * * 1-5", End: "30 13 * * 1-5", TimeZone: "Asia/Seoul", Replicas: 6},
					{Name: "sale", Event: "sale", Query: "vector(12)", Threshold: 1, Replicas: 12},
				},
			},
		},
		{
			Namespace: "shop", Name: "redis", Kind: "StatefulSet", Labels: map[string]string{"app": "redis"},
			Spread: []plan.Spread{spread(zoneKey, "ScheduleAnyway", 1)},
		},
		{
			Namespace: "shop", Name: "search", Kind: "Deployment", Labels: map[string]string{"app": "search"},
			Scaling: &plan.Scaling{
				Name: "search-scaler", Extends: true, Min: 6, Max: 60, Fallback: 20,
				Triggers: []plan.Trigger{{Name: "sale", Event: "sale", Query: "vector(20)", Threshold: 1, Replicas: 20}},
			},
		},
	}
	p.Routes = []plan.Route{
		{Namespace: "shop", Name: "cart", TrafficDistribution: "PreferSameZone"},
		{Namespace: "shop", Name: "search"},
	}
	return p
}

const shop = "mesh/workloads/shop/"

// patches is the Component's files as the workloads generator writes them for
// the plan of scaled.
func patches(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir("testdata/components/shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join("testdata/components/shop", entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[shop+entry.Name()] = string(data)
	}
	return files
}

func treeOf(t testing.TB, files map[string]string) *artifact.Tree {
	t.Helper()
	tree := &artifact.Tree{}
	for path, data := range files {
		if err := tree.Add(artifact.File{Path: path, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// overlays builds the files' kustomizations for the plan.
func overlays(t testing.TB, p *plan.Plan, files map[string]string) ([]Object, error) {
	t.Helper()
	objects, _, err := open(t, "").overlays(Input{Plan: p, Tree: treeOf(t, files), Pos: position})
	return objects, err
}

func TestAComponentIsProvenOverHostileStandIns(t *testing.T) {
	objects, err := overlays(t, scaled(), patches(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, strings.TrimPrefix(o.File, shop)+" "+refOf(o.Object).String())
	}
	want := []string{
		"deployment-cart.yaml Deployment shop/cart",
		"scaledobject-cart.yaml ScaledObject shop/cart",
		"statefulset-redis.yaml StatefulSet shop/redis",
		"scaledobject-search.yaml Deployment shop/search",
		"scaledobject-search.yaml ScaledObject shop/search-scaler",
		"service-cart.yaml Service shop/cart",
		"service-search.yaml Service shop/search",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// mutation is what a faulty generator writes in place of a file's part.
type mutation struct{ file, old, new string }

// apply changes the files; an empty old adds the file, an empty new and old
// takes it away.
func (m mutation) apply(t testing.TB, files map[string]string) {
	t.Helper()
	data, ok := files[shop+m.file]
	switch {
	case m.old == "" && m.new == "":
		delete(files, shop+m.file)
	case m.old == "":
		files[shop+m.file] = m.new
	case !ok || !strings.Contains(data, m.old):
		t.Fatalf("%q is not in %s:\n%s", m.old, m.file, data)
	default:
		files[shop+m.file] = strings.Replace(data, m.old, m.new, 1)
	}
}

func TestAFaultyGeneratorIsCaught(t *testing.T) {
	const overStandIns = " over hostile stand-ins: "
	for name, c := range map[string]struct {
		mutations []mutation
		want      string // all that the error says after the folder
	}{
		"that writes a typed Deployment, whose selector is null": {
			[]mutation{{"deployment-cart.yaml", "spec:\n", "spec:\n  selector: null\n"}},
			"deployment-cart.yaml" + overStandIns + `Deployment shop/cart: spec.selector was {"matchExpressions":[{"key":"track","operator":"NotIn","values":["canary"]}],"matchLabels":{"example.com/workload":"cart"}} and is gone; meshgen's are only spec.template.spec.topologySpreadConstraints`,
		},
		"that writes a typed Deployment, whose containers are null": {
			[]mutation{{"deployment-cart.yaml", "    spec:\n", "    spec:\n      containers: null\n"}},
			"deployment-cart.yaml" + overStandIns + "Deployment shop/cart: spec.template.spec.containers was ",
		},
		"that forgets to take the base's list away first": {
			[]mutation{{"deployment-cart.yaml", "topologySpreadConstraints: null", "{}"}},
			"deployment-cart.yaml" + overStandIns + "Deployment shop/cart: spec.template.spec.topologySpreadConstraints is [",
		},
		"that replaces a list which may not be there": {
			[]mutation{{"deployment-cart.yaml", "topologySpreadConstraints: null", "{}"}, {"deployment-cart.yaml", "topologySpreadConstraints:\n", "topologySpreadConstraints:\n        - $patch: replace\n"}},
			"deployment-cart.yaml over a bare stand-in: Deployment shop/cart: spec.template.spec.topologySpreadConstraints is [{\"$patch\":\"replace\"}], planned is [",
		},
		"that counts the pods of a StatefulSet by a key that they do not have": {
			[]mutation{{"statefulset-redis.yaml", "controller-revision-hash", "pod-template-hash"}},
			`StatefulSet shop/redis: spec.template.spec.topologySpreadConstraints[0].matchLabelKeys[0] is "pod-template-hash", planned is "controller-revision-hash"`,
		},
		"that deletes one annotation only": {
			[]mutation{{"service-cart.yaml", "    service.kubernetes.io/topology-aware-hints: null\n", ""}},
			"service-cart.yaml" + overStandIns + `Service shop/cart: metadata.annotations.service.kubernetes.io/topology-aware-hints is "auto", planned is absent`,
		},
		"that replaces every annotation": {
			[]mutation{{"service-cart.yaml", "  annotations:\n", "  annotations:\n    $patch: replace\n"}},
			"service-cart.yaml" + overStandIns + `Service shop/cart: metadata.annotations.example.com/owner was "checkout" and is gone; meshgen's are only metadata.annotations.service.kubernetes.io/topology-mode, metadata.annotations.service.kubernetes.io/topology-aware-hints, spec.trafficDistribution`,
		},
		"that writes another trafficDistribution than planned": {
			[]mutation{{"service-cart.yaml", "PreferSameZone", "PreferClose"}},
			"service-cart.yaml" + overStandIns + `Service shop/cart: spec.trafficDistribution is "PreferClose", planned is "PreferSameZone"`,
		},
		"that leaves a trafficDistribution which is planned away": {
			[]mutation{{"service-search.yaml", "spec:\n  trafficDistribution: null\n", ""}},
			"service-search.yaml" + overStandIns + `Service shop/search: spec.trafficDistribution is "PreferClose", planned is absent`,
		},
		"that leaves a namespace out": {
			[]mutation{{"deployment-cart.yaml", "  namespace: shop\n", ""}, {"deployment-cart.yaml", "  namespace: shop\n", ""}},
			"deployment-cart.yaml: Deployment cart has no namespace, and the bases' objects have one (spec.kubernetes.bases.namespaced): it would be for no object",
		},
		"that leaves the namespace of a JSON patch's target out": {
			[]mutation{{"kustomization.yaml", ", namespace: shop}", "}"}},
			"scaledobject-search.triggers.yaml: ScaledObject search-scaler has no namespace",
		},
		"that writes replicas": {
			[]mutation{{"deployment-cart.yaml", "spec:\n", "spec:\n  replicas: 3\n"}},
			"deployment-cart.yaml" + overStandIns + "Deployment shop/cart: spec.replicas was absent and is 3; meshgen's are only spec.template.spec.topologySpreadConstraints",
		},
		"that touches a workload only to scale it": {
			[]mutation{
				{"kustomization.yaml", "patches:\n", "patches:\n  - path: deployment-search.yaml\n"},
				{"deployment-search.yaml", "", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: search, namespace: shop}\nspec: {minReadySeconds: 0}\n"},
			},
			"deployment-search.yaml" + overStandIns + "Deployment shop/search: spec.minReadySeconds was 15 and is 0; nothing of this object is meshgen's to change",
		},
		"that forgets to delete the HPA": {
			[]mutation{{"horizontalpodautoscaler-cart.yaml", "", ""}, {"kustomization.yaml", "  - path: horizontalpodautoscaler-cart.yaml\n", ""}},
			": HorizontalPodAutoscaler shop/cart-hpa is still there: the ScaledObject that takes it over and whatever applies the base would both own it",
		},
		"that forgets the ScaledObject": {
			[]mutation{{"scaledobject-cart.yaml", "", ""}, {"kustomization.yaml", "resources:\n  - scaledobject-cart.yaml\n", ""}},
			": ScaledObject shop/cart is planned and is not there",
		},
		"that forgets the nameReference": {
			[]mutation{{"namereference.yaml", "", ""}, {"kustomization.yaml", "configurations:\n  - namereference.yaml\n", ""}},
			"scaledobject-cart.yaml" + overStandIns + `ScaledObject shop/cart: spec.scaleTargetRef.name is "cart", planned is "proof-cart"`,
		},
		"that forgets to name the HPA that is taken over": {
			[]mutation{{"scaledobject-cart.yaml", "name: cart-hpa", "name: cart"}},
			"scaledobject-cart.yaml" + overStandIns + `ScaledObject shop/cart: spec.advanced.horizontalPodAutoscalerConfig.name is "cart", planned is "cart-hpa"`,
		},
		"that forgets to say that the HPA is taken over": {
			[]mutation{{"scaledobject-cart.yaml", `"true"`, `"false"`}},
			`metadata.annotations.scaledobject.keda.sh/transfer-hpa-ownership is "false", planned is "true"`,
		},
		"that drops the triggers of a ScaledObject that runs": {
			[]mutation{{"scaledobject-search.yaml", "spec:\n", "spec:\n  triggers: []\n"}},
			"scaledobject-search.yaml + scaledobject-search.triggers.yaml" + overStandIns + "ScaledObject shop/search-scaler: spec.triggers is [{",
		},
		"that puts its triggers before those of a ScaledObject that runs": {
			[]mutation{{"scaledobject-search.triggers.yaml", "/spec/triggers/-", "/spec/triggers/0"}},
			`ScaledObject shop/search-scaler: spec.triggers[0].metadata.ignoreNullValues is "false", planned is absent`,
		},
		"that forgets its triggers": {
			[]mutation{{"scaledobject-search.triggers.yaml", "op: add", "op: test"}, {"scaledobject-search.triggers.yaml", "/-", "/1"}},
			"over hostile stand-ins: ",
		},
		"that changes a ScaledObject that runs elsewhere": {
			[]mutation{{"scaledobject-search.yaml", "spec:\n", "spec:\n  cooldownPeriod: 300\n"}},
			"ScaledObject shop/search-scaler: spec.cooldownPeriod was 600 and is 300; ",
		},
		"that asks for fewer replicas than the plan": {
			[]mutation{{"scaledobject-cart.yaml", `desiredReplicas: "6"`, `desiredReplicas: "5"`}},
			`ScaledObject shop/cart: spec.triggers[2].metadata.desiredReplicas is "5", planned is "6"`,
		},
		"that writes another floor than the plan": {
			[]mutation{{"scaledobject-cart.yaml", "minReplicaCount: 3", "minReplicaCount: 2"}},
			"ScaledObject shop/cart: spec.minReplicaCount is 2, planned is 3",
		},
		"that writes another fallback than the plan": {
			[]mutation{{"scaledobject-search.yaml", "replicas: 20", "replicas: 2"}},
			`ScaledObject shop/search-scaler: spec.fallback.replicas is 2, planned is 20`,
		},
		"that orders triggers anew": {
			[]mutation{{"scaledobject-cart.yaml", "type: cpu", "type: memory"}, {"scaledobject-cart.yaml", "type: memory\n      metricType: Utilization\n      metadata: {value: \"80\"}", "type: cpu\n      metricType: Utilization\n      metadata: {value: \"80\"}"}},
			`ScaledObject shop/cart: spec.triggers[0].type is "memory", planned is "cpu"`,
		},
		"that puts labels on everything": {
			[]mutation{{"kustomization.yaml", "kind: Component\n", "kind: Component\nlabels: [{pairs: {team: mesh}}]\n"}},
			`metadata.labels.team was "checkout" and is "mesh"`,
		},
		"that changes what no part of the plan knows": {
			[]mutation{{"kustomization.yaml", "kind: Component\n", "kind: Component\nimages: [{name: server, newTag: \"8\"}]\n"}},
			"spec.template.spec.containers[0].image was ",
		},
		"that writes a file for an object that is not planned": {
			[]mutation{{"service-cart.yaml", "name: cart", "name: basket"}},
			": service-cart.yaml is for Service shop/basket, about which the plan decides nothing",
		},
		"that writes a file for another namespace": {
			[]mutation{{"service-cart.yaml", "namespace: shop", "namespace: stock"}},
			": service-cart.yaml is for Service stock/cart, about which the plan decides nothing",
		},
		"that does not list a file": {
			[]mutation{{"kustomization.yaml", "  - path: service-cart.yaml\n", ""}},
			": service-cart.yaml is not in the kustomization",
		},
		"that lists a patch that it does not write": {
			[]mutation{{"service-cart.yaml", "", ""}}, ": service-cart.yaml was not generated",
		},
		"that lists a configuration that it does not write": {
			[]mutation{{"namereference.yaml", "", ""}}, ": namereference.yaml was not generated",
		},
		"that lists a file twice": {
			[]mutation{{"kustomization.yaml", "  - path: service-cart.yaml\n", "  - path: service-cart.yaml\n  - path: service-cart.yaml\n"}},
			": service-cart.yaml is listed twice",
		},
		"that patches inline": {
			[]mutation{{"kustomization.yaml", "patches:\n", "patches:\n  - patch: \"[]\"\n    target: {kind: Service}\n"}},
			" is not a file alone, so nothing says which object it is for",
		},
		"that writes two objects into a file": {
			[]mutation{{"service-cart.yaml", "apiVersion", "kind: Service\nmetadata: {name: basket, namespace: shop}\n---\napiVersion"}},
			": service-cart.yaml: it is for Service shop/basket and for Service shop/cart",
		},
		"that writes a patch for an object of another kind": {
			[]mutation{{"statefulset-redis.yaml", "kind: StatefulSet", "kind: Deployment"}, {"statefulset-redis.yaml", "kind: StatefulSet", "kind: Deployment"}},
			": statefulset-redis.yaml is for Deployment shop/redis, about which the plan decides nothing",
		},
		"that aims a patch by another API group": {
			[]mutation{{"deployment-cart.yaml", "apps/v1", "extensions/v1"}},
			": no resource matches strategic merge patch",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := patches(t)
			for _, m := range c.mutations {
				m.apply(t, files)
			}
			_, err := overlays(t, scaled(), files)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), shop, ""), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

// many is a plan of one namespace with so many times the workload and the
// Service cart, and its files.
func many(t testing.TB, n int) (*plan.Plan, map[string]string) {
	t.Helper()
	one, files := scaled(), patches(t)
	p := planned()
	p.Bases, p.Istiod = one.Bases, one.Istiod
	all := map[string]string{shop + "namereference.yaml": files[shop+"namereference.yaml"]}
	var resources, changes strings.Builder
	for i := range n {
		name := fmt.Sprintf("cart-%d", i)
		w, scaling := one.Workloads[0], *one.Workloads[0].Scaling
		w.Name, scaling.Name, scaling.HPA, w.Scaling = name, name, name+"-hpa", &scaling
		p.Workloads = append(p.Workloads, w)
		p.Routes = append(p.Routes, plan.Route{Namespace: "shop", Name: name, TrafficDistribution: "PreferSameZone"})
		for _, kind := range []string{"scaledobject", "deployment", "service", "horizontalpodautoscaler"} {
			file := kind + "-" + name + ".yaml"
			all[shop+file] = strings.NewReplacer("name: cart", "name: "+name).Replace(files[shop+kind+"-cart.yaml"])
			if kind == "scaledobject" {
				fmt.Fprintf(&resources, "  - %s\n", file)
				continue
			}
			fmt.Fprintf(&changes, "  - path: %s\n", file)
		}
	}
	all[shop+"kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n" +
		resources.String() + "patches:\n" + changes.String() + "configurations: [namereference.yaml]\n"
	return p, all
}

func TestALargeNamespaceIsProvenInParts(t *testing.T) {
	p, files := many(t, 2*partsABuild+1)
	objects, err := overlays(t, p, files)
	if want := 3 * (2*partsABuild + 1); err != nil || len(objects) != want {
		t.Fatalf("got %d objects, want %d: a Deployment, a ScaledObject and a Service each; error %v", len(objects), want, err)
	}
	last := fmt.Sprintf("cart-%d", 2*partsABuild)
	mutation{"service-" + last + ".yaml", "PreferSameZone", "PreferClose"}.apply(t, files)
	mutation{"deployment-cart-0.yaml", "maxSkew: 1", "maxSkew: 3"}.apply(t, files)
	for range 5 {
		_, err = overlays(t, p, files)
		if err == nil || !strings.Contains(err.Error(), "Deployment shop/cart-0") {
			t.Fatalf("of two faults the first in the plan's order is not told: %v", err)
		}
	}
}

// What one cluster has proven counts for another that is alike but for its name,
// and for no other: each is proven as by a Builder of its own.
func TestAChunkIsSharedByClustersThatAreAlike(t *testing.T) {
	builder := open(t, "")
	for _, c := range []struct {
		cluster, server string
		fault           bool
	}{
		{"one", "http://prometheus:9090", false},
		{"two", "http://prometheus:9090", false},
		{"three", "http://other:9090", false},
		{"four", "http://prometheus:9090", true},
		{"five", "http://prometheus:9090", true},
	} {
		p, files := scaled(), patches(t)
		p.Cluster, p.Istiod.ServerAddress = c.cluster, c.server
		if c.fault {
			mutation{"service-cart.yaml", "PreferSameZone", "PreferClose"}.apply(t, files)
		}
		own := map[string]string{}
		for name, data := range files {
			own[c.cluster+strings.TrimPrefix(name, "mesh")] = data
		}
		in := Input{Plan: p, Tree: treeOf(t, own), Pos: position}
		want, _, alone := open(t, "").overlays(in)
		got, _, err := builder.overlays(in)
		if fmt.Sprint(err) != fmt.Sprint(alone) || (err == nil) != (c.cluster == "one" || c.cluster == "two") {
			t.Errorf("%s: got %v, alone %v", c.cluster, err, alone)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-alone +in a fleet):\n%s", c.cluster, diff)
		}
	}
}

// BenchmarkComponents proves Components of namespaces of this many services,
// each with a Deployment, a Service, a ScaledObject and an HPA taken over.
func BenchmarkComponents(b *testing.B) {
	builder := open(b, "")
	for _, n := range []int{10, 50, 200, 1000} {
		p, files := many(b, n)
		in := Input{Plan: p, Tree: treeOf(b, files), Pos: position}
		b.Run(fmt.Sprintf("services=%d", n), func(b *testing.B) {
			for b.Loop() {
				builder.chunks = recent.New[[]Object](64) // as if no cluster before had them
				if _, _, err := builder.overlays(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/service")
		})
	}
}
