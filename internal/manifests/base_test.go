package manifests

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// userBase is the user's own base of the shop: it sets its namespace in its
// kustomization, and nothing is wrong with it.
func userBase(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir("testdata/bases/shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join("testdata/bases/shop", entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files["base/"+entry.Name()] = string(data)
	}
	return files
}

// edit is a change of a file of the user's; an empty old writes the file.
type edit struct{ file, old, new string }

func rewritten(t *testing.T, files map[string]string, edits []edit) map[string]string {
	t.Helper()
	all := maps.Clone(files)
	for _, e := range edits {
		if e.old == "" {
			all[e.file] = e.new
			continue
		}
		if !strings.Contains(all[e.file], e.old) {
			t.Fatalf("%q is not in %s:\n%s", e.old, e.file, all[e.file])
		}
		all[e.file] = strings.Replace(all[e.file], e.old, e.new, 1)
	}
	return all
}

// inFolder writes the files into an empty working folder.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// silently fails the test when anything is written to standard error while f runs:
// kustomize tells it of deprecated fields.
func silently(t *testing.T, f func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	saved := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = saved }()
	f()
	os.Stderr = saved
	w.Close()
	if text, err := io.ReadAll(r); err != nil || len(text) > 0 {
		t.Errorf("standard error was told %q, error %v", text, err)
	}
}

// over builds the Components over the user's base in folder base.
func over(t *testing.T, p *plan.Plan, components, files map[string]string, folder string) ([]Object, diag.List, error) {
	t.Helper()
	tree := treeOf(t, components)
	b := open(t, "")
	inFolder(t, files)
	var objects []Object
	var found diag.List
	var err error
	silently(t, func() {
		objects, found, err = b.overlays(Input{Plan: p, Tree: tree, Base: folder, Pos: position})
	})
	return objects, found.Sorted(), err
}

func TestTheComponentsOverTheUsersBase(t *testing.T) {
	objects, found, err := over(t, scaled(), patches(t), userBase(t), "base")
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, strings.TrimPrefix(o.File, shop)+" "+refOf(o.Object).String())
	}
	want := []string{
		"deployment-cart.yaml Deployment shop/cart",
		"scaledobject-cart.yaml ScaledObject shop/cart",
		"statefulset-redis.yaml StatefulSet shop/redis",
		"scaledobject-search.yaml ScaledObject shop/search-scaler",
		"service-cart.yaml Service shop/cart",
		"service-search.yaml Service shop/search",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	image, _ := get(objects[0].Object, []any{"spec", "template", "spec", "containers", 0, "image"})
	if image != "cart:1" {
		t.Errorf("the gate judges a stand-in and not the user's Deployment: its image is %v", image)
	}
	if annotations := at(objects[4].Object, "metadata", "annotations"); annotations != nil {
		t.Errorf("kustomize's own annotations stay: %v", annotations)
	}
}

func TestWhatABaseMustNotHave(t *testing.T) {
	const workloads, services, autoscalers, kustomization = "base/workloads.yaml", "base/services.yaml", "base/autoscalers.yaml", "base/kustomization.yaml"
	for name, c := range map[string]struct {
		edits  []edit
		folder string
		want   []string // findings without hints, in full
		hint   string   // in the first
		only   string   // this id, where a case cannot help but break more
	}{
		"replicas beside a ScaledObject": {
			edits: []edit{{workloads, "spec:\n", "spec:\n  replicas: 4\n"}},
			want:  []string{"base/workloads.yaml:6:3: error: Deployment shop/cart keeps spec.replicas 4 in the base, and ScaledObject cart scales it: each sync would reset what the autoscaler set [manifests/base-replicas]"},
			hint:  "adopt in two steps",
		},
		"no workload of that name": {
			edits: []edit{{workloads, "name: redis\n", "name: rediss\n"}},
			want:  []string{"base/kustomization.yaml:1:1: error: the base builds no StatefulSet shop/redis, which a patch is for: applying it would fail [manifests/base-missing]"},
			hint:  "the nearest in the base is rediss",
		},
		"no Service at all": {
			edits: []edit{{kustomization, "  - services.yaml\n", ""}},
			want: []string{
				"base/kustomization.yaml:1:1: error: the base builds no Service shop/cart, which a patch is for: applying it would fail [manifests/base-missing]",
				"base/kustomization.yaml:1:1: error: the base builds no Service shop/search, which a patch is for: applying it would fail [manifests/base-missing]",
			},
			hint: "add it to the base",
		},
		"a workload in another namespace": {
			edits: []edit{{kustomization, "namespace: shop\n", ""}, {workloads, "  name: redis\n", "  name: redis\n  namespace: stock\n"}, {workloads, "  name: cart\n", "  name: cart\n  namespace: shop\n"}, {workloads, "  name: search\n", "  name: search\n  namespace: shop\n"}, {services, "  name: cart\n", "  name: cart\n  namespace: shop\n"}, {services, "  name: search\n", "  name: search\n  namespace: shop\n"}, {autoscalers, "  name: cart-hpa\n", "  name: cart-hpa\n  namespace: shop\n"}, {autoscalers, "  name: search-scaler\n", "  name: search-scaler\n  namespace: shop\n"}},
			want:  []string{"base/workloads.yaml:27:3: error: the base has redis in namespace stock, the profile has it in shop: a patch for one does not find the other [manifests/base-namespace]"},
			hint:  "correct the namespace in the profile",
		},
		"an HPA of another API version": {
			edits: []edit{{autoscalers, "autoscaling/v2", "autoscaling/v1"}},
			want:  []string{"base/autoscalers.yaml:1:1: error: HorizontalPodAutoscaler shop/cart-hpa is autoscaling/v1 in the base, and its patch is for autoscaling/v2: kustomize takes them for two objects [manifests/base-missing]"},
			hint:  "write it as autoscaling/v2 in the base",
		},
		"pods without the profile's labels": {
			edits: []edit{{workloads, "labels: {app: cart, team: checkout}", "labels: {app.kubernetes.io/name: cart}"}, {workloads, "matchLabels: {app: cart}", "matchLabels: {app.kubernetes.io/name: cart}"}},
			want:  []string{"base/workloads.yaml:10:7: error: the pods of Deployment shop/cart have no label app in the base, the profile says app: cart: constraints would count none of them [manifests/base-labels]"},
			hint:  "they must be labels that these pods have",
		},
		"pods with another label than the profile's": {
			edits: []edit{{workloads, "labels: {app: redis}", "labels: {app: cache}"}},
			want:  []string{"base/workloads.yaml:33:7: error: the pods of StatefulSet shop/redis have app: cache in the base, the profile says app: redis: constraints would count none of them [manifests/base-labels]"},
		},
		"a hard constraint that would go": {
			edits: []edit{{workloads, "topologyKey: topology.kubernetes.io/zone\n          whenUnsatisfiable: ScheduleAnyway", "topologyKey: kubernetes.io/hostname\n          whenUnsatisfiable: DoNotSchedule"}},
			want:  []string{"base/workloads.yaml:13:11: error: Deployment shop/cart is spread by kubernetes.io/hostname DoNotSchedule 1 in the base, a margin that the cluster has today and the planned list does not have (topology.kubernetes.io/zone DoNotSchedule 1; kubernetes.io/hostname ScheduleAnyway 2) [manifests/base-spread]"},
			hint:  "spec.services[].workload.topologySpreadConstraints",
		},
		"a constraint over what the profile does not know": {
			edits: []edit{{workloads, "topologyKey: topology.kubernetes.io/zone", "topologyKey: example.com/rack"}},
			want:  []string{"base/workloads.yaml:13:11: error: Deployment shop/cart is spread by example.com/rack ScheduleAnyway 1 in the base, a margin that the cluster has today and the planned list does not have (topology.kubernetes.io/zone DoNotSchedule 1; kubernetes.io/hostname ScheduleAnyway 2) [manifests/base-spread]"},
		},
		"an HPA at another utilization": {
			edits: []edit{{autoscalers, "averageUtilization: 65", "averageUtilization: 50"}},
			want:  []string{"base/autoscalers.yaml:10:7: error: HorizontalPodAutoscaler shop/cart-hpa scales on cpu at 50 %, which the ScaledObject that takes it over does not [manifests/base-metrics]"},
		},
		"an HPA with a metric of its own": {
			edits: []edit{{autoscalers, "    - type: Resource\n      resource: {name: memory", "    - type: Pods\n      pods: {name: memory"}},
			want:  []string{"base/autoscalers.yaml:12:7: error: HorizontalPodAutoscaler shop/cart-hpa scales on a metric of type Pods, which the ScaledObject that takes it over does not [manifests/base-metrics]"},
			hint:  "running.scaledObject",
		},
		"an HPA by an amount": {
			edits: []edit{{autoscalers, "{type: Utilization, averageUtilization: 80}", "{type: AverageValue, averageValue: 1Gi}"}},
			want:  []string{"base/autoscalers.yaml:12:7: error: HorizontalPodAutoscaler shop/cart-hpa scales on memory by another target than a utilization, which the ScaledObject that takes it over does not [manifests/base-metrics]"},
		},
		"an HPA with a behavior": {
			edits: []edit{{autoscalers, "  metrics:\n", "  behavior: {scaleDown: {stabilizationWindowSeconds: 900}}\n  metrics:\n"}},
			want:  []string{"base/autoscalers.yaml:9:3: error: HorizontalPodAutoscaler shop/cart-hpa has a behavior of its own, which the ScaledObject that takes it over does not [manifests/base-metrics]"},
		},
		"a floor above the plan's": {
			edits: []edit{{autoscalers, "minReplicas: 3", "minReplicas: 4"}, {autoscalers, "minReplicaCount: 6", "minReplicaCount: 7"}},
			want: []string{
				"base/autoscalers.yaml:7:3: error: HorizontalPodAutoscaler shop/cart-hpa has minReplicas 4 in the base, planned is 3: a margin that the cluster has today [manifests/base-bounds]",
				"base/autoscalers.yaml:21:3: error: ScaledObject shop/search-scaler has minReplicaCount 7 in the base, planned is 6: a margin that the cluster has today [manifests/base-bounds]",
			},
		},
		"KEDA's own ceiling above the plan's": {
			edits: []edit{{autoscalers, "  maxReplicaCount: 60\n", ""}},
			want:  []string{"base/autoscalers.yaml:19:1: error: ScaledObject shop/search-scaler has maxReplicaCount 100 in the base, planned is 60: a margin that the cluster has today [manifests/base-bounds]"},
		},
		"another autoscaler on a workload that is scaled": {
			edits: []edit{{autoscalers, "---\n", "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: cart-old}\nspec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: cart}}\n---\n"}},
			want:  []string{"base/autoscalers.yaml:17:12: error: HorizontalPodAutoscaler shop/cart-old of the base scales Deployment shop/cart, and the profile does not say so: beside ours two autoscalers would fight over Deployment shop/cart [manifests/base-autoscaler]"},
			hint:  "spec.services[].autoscaling.running.hpa",
		},
		"a ScaledObject of the name of ours": {
			edits: []edit{{autoscalers, "---\n", "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: cart}\nspec: {scaleTargetRef: {name: till}, triggers: []}\n---\n"}},
			want:  []string{"base/autoscalers.yaml:17:12: error: ScaledObject shop/cart of the base scales Deployment shop/till, and the profile does not say so: beside ours two autoscalers would fight over Deployment shop/cart [manifests/base-autoscaler]"},
			hint:  "spec.services[].autoscaling.running.scaledObject",
		},
		"a ScaledObject that scales another workload": {
			edits: []edit{{autoscalers, "{name: search}", "{name: cart}"}},
			want: []string{
				"base/autoscalers.yaml:18:3: error: ScaledObject shop/search-scaler of the base scales Deployment shop/cart, and the profile does not say so: beside ours two autoscalers would fight over Deployment shop/cart [manifests/base-autoscaler]",
				"base/autoscalers.yaml:20:3: error: ScaledObject shop/search-scaler scales Deployment shop/cart in the base, the profile says Deployment shop/search [manifests/base-autoscaler]",
			},
		},
		"zone routing that the profile does not mention": {
			edits: []edit{{services, "    example.com/owner: search\nspec:\n", "    service.kubernetes.io/topology-mode: Auto\nspec:\n  trafficDistribution: PreferClose\n"}},
			want: []string{
				"base/services.yaml:15:5: warning: Service shop/search has service.kubernetes.io/topology-mode Auto in the base, which the profile does not mention: the plan did not weigh it, and the patch replaces it [manifests/base-routing]",
				"base/services.yaml:17:3: warning: Service shop/search has trafficDistribution PreferClose in the base, which the profile does not mention: the plan did not weigh it, and the patch replaces it [manifests/base-routing]",
			},
		},
		"minDomains that would go": {
			edits: []edit{{workloads, "whenUnsatisfiable: ScheduleAnyway", "whenUnsatisfiable: DoNotSchedule\n          minDomains: 2"}},
			want:  []string{"base/workloads.yaml:16:11: warning: Deployment shop/cart has minDomains 2 on topology.kubernetes.io/zone in the base, which the planned list does not have [manifests/base-spread]"},
		},
		"the same object under two prefixes": {
			edits: []edit{
				{kustomization, "", "resources: [../eu, ../us]\n"},
				{"eu/kustomization.yaml", "", "namePrefix: eu-\nresources: [../shop]\n"},
				{"us/kustomization.yaml", "", "namePrefix: us-\nresources: [../shop]\n"},
				{"shop/kustomization.yaml", "", "namespace: shop\nresources: [service.yaml]\n"},
				{"shop/service.yaml", "", "apiVersion: v1\nkind: Service\nmetadata: {name: cart}\nspec: {ports: [{port: 80}]}\n"},
			},
			only: "manifests/base-two-names",
			want: []string{"shop/service.yaml:3:12: error: the base has Service shop/cart 2 times, as eu-cart and us-cart: a patch for cart would be for each of them, and kustomize refuses [manifests/base-two-names]"},
			hint: "put the generated Component into each kustomization that sets a namePrefix",
		},
		"an HPA whose name a prefix changes": {
			edits:  []edit{{"eu/kustomization.yaml", "", "namePrefix: eu-\nresources: [../base]\n"}},
			folder: "eu",
			want:   []string{"base/autoscalers.yaml:4:3: error: HorizontalPodAutoscaler shop/cart-hpa is called eu-cart-hpa once the base has put its prefix on: KEDA would look for an HPA cart-hpa that is not there, and the one that is would go [manifests/base-two-names]"},
			hint:   "put the generated Component into the kustomization that sets the prefix",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := c.folder
			if folder == "" {
				folder = "base"
			}
			_, found, err := over(t, scaled(), patches(t), rewritten(t, userBase(t), c.edits), folder)
			if err != nil {
				t.Fatal(err)
			}
			if c.only != "" {
				found = slices.DeleteFunc(found, func(f diag.Finding) bool { return f.ID != c.only })
			}
			expectFindings(t, found, c.want, c.hint)
		})
	}
}

// expectFindings holds findings against whole lines without hints.
func expectFindings(t *testing.T, found diag.List, want []string, hint string) {
	t.Helper()
	var got []string
	for _, f := range found {
		if hint != "" && !strings.Contains(f.Hint, hint) {
			t.Errorf("hint %q, want %q in it", f.Hint, hint)
		}
		hint = ""
		f.Hint = ""
		got = append(got, f.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
