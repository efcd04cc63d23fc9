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
	write(t, files)
}

func write(t *testing.T, files map[string]string) {
	t.Helper()
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
		"scaledobject-search.yaml Deployment shop/search",
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
	if annotations := at(objects[5].Object, "metadata", "annotations"); annotations != nil {
		t.Errorf("kustomize's own annotations stay: %v", annotations)
	}
}

func TestReplicasLeaveTheBaseInTwoSteps(t *testing.T) {
	for name, c := range map[string]struct {
		said bool // in the profile
		want string
	}{
		"before the profile says that they are there": {false, "set autoscaling.running.replicasInManifest and adopt in the two steps"},
		"once it does": {true, "take spec.replicas out of the base when step 1 of PLAN.md's two is done, not before; until then leave --base out"},
	} {
		t.Run(name, func(t *testing.T) {
			p := scaled()
			p.Workloads[0].Scaling.ReplicasInManifest = c.said
			files := rewritten(t, userBase(t), []edit{{"base/workloads.yaml", "spec:\n", "spec:\n  replicas: 4\n"}})
			_, found, err := over(t, p, patches(t), files, "base")
			if err != nil || len(found) != 1 || found[0].ID != "manifests/base-replicas" || !strings.Contains(found[0].Hint, c.want) {
				t.Errorf("findings %+v, error %v, want the hint %q", found, err, c.want)
			}
		})
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
			hint:  "adopt in the two steps",
		},
		"no workload of that name": {
			edits: []edit{{workloads, "name: redis\n", "name: rediss\n"}},
			want:  []string{"base/kustomization.yaml:1:1: error: the base builds no StatefulSet shop/redis, which a patch is for: applying it would fail [manifests/base-missing]"},
			hint:  "the nearest in the base is rediss",
		},
		"a workload of another kind": {
			edits: []edit{{workloads, "kind: StatefulSet", "kind: Deployment"}},
			want:  []string{"base/kustomization.yaml:1:1: error: the base builds no StatefulSet shop/redis, which a patch is for: applying it would fail [manifests/base-missing]"},
			hint:  "the base has a Deployment of that name",
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
		"the Component that is to come over it": {
			edits: []edit{{autoscalers, "---\n", "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: cart, labels: {app.kubernetes.io/managed-by: meshgen}}\nspec: {scaleTargetRef: {name: cart}, triggers: []}\n---\n"}},
			want:  []string{"base/autoscalers.yaml:17:12: error: ScaledObject shop/cart of the base is meshgen's own: the base holds the generated Component already, and it would come over itself [manifests/base-autoscaler]"},
			hint:  "give --base what lies below the Components",
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
		"a container that requests nothing of what is aimed at": {
			edits: []edit{{workloads, "requests: {cpu: 100m, memory: 64Mi}", "requests: {memory: 64Mi}"}},
			want:  []string{"base/workloads.yaml:18:11: warning: container server of Deployment shop/cart requests no cpu in the base, and the ScaledObject aims at 65 % of what it requests: KEDA refuses that unless a LimitRange fills it in [manifests/base-requests]"},
			hint:  "give the container a request",
		},
		"a ScaledObject without triggers": {
			edits: []edit{{autoscalers, "  triggers:\n    - type: cpu\n      metricType: Utilization\n      metadata: {value: \"70\"}\n", ""}},
			want:  []string{"base/autoscalers.yaml:19:1: error: ScaledObject shop/search-scaler has no triggers in the base: KEDA refuses it, and those of events come after its own [manifests/base-autoscaler]"},
			hint:  "give it the triggers",
		},
		"an HPA whose name a prefix changes": {
			edits:  []edit{{"eu/kustomization.yaml", "", "namePrefix: eu-\nresources: [../base]\n"}},
			folder: "eu",
			want:   []string{"base/autoscalers.yaml:4:3: error: HorizontalPodAutoscaler shop/cart-hpa is called eu-cart-hpa once the base has put its prefix on: KEDA would look for an HPA cart-hpa that is not there, and the one that is would go [manifests/base-two-names]"},
			hint:   "write the names that the cluster has into the profile, such as autoscaling.running.hpa: eu-cart-hpa",
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

func TestABaseThatCannotBeBuilt(t *testing.T) {
	const kustomization = "base/kustomization.yaml"
	for name, c := range map[string]struct {
		edits  []edit
		folder string
		want   string
	}{
		"a remote file": {
			[]edit{{kustomization, "  - services.yaml", "  - https://example.com/services.yaml"}},
			"",
			"base/kustomization.yaml:6:5: error: the base cannot be built here: resources https://example.com/services.yaml is on the network [manifests/base-offline]",
		},
		"a remote repository": {
			[]edit{{kustomization, "  - services.yaml", "  - github.com/example/base?ref=v1"}},
			"",
			"base/kustomization.yaml:6:5: error: the base cannot be built here: resources github.com/example/base?ref=v1 is on the network [manifests/base-offline]",
		},
		"a repository over ssh in a field that is deprecated": {
			[]edit{{kustomization, "resources:", "bases: ['git@example.com:base.git']\nresources:"}},
			"",
			"base/kustomization.yaml:4:9: error: the base cannot be built here: resources git@example.com:base.git is on the network [manifests/base-offline]",
		},
		"a remote patch in a field that is deprecated": {
			[]edit{{kustomization, "resources:", "patchesStrategicMerge: ['http://example.com/p.yaml']\nresources:"}},
			"",
			"base/kustomization.yaml:4:25: error: the base cannot be built here: patches http://example.com/p.yaml is on the network [manifests/base-offline]",
		},
		"a remote file of a generator": {
			[]edit{{kustomization, "resources:", "configMapGenerator: [{name: a, files: ['b=https://example.com/b']}]\nresources:"}},
			"",
			"base/kustomization.yaml:4:40: error: the base cannot be built here: configMapGenerator https://example.com/b is on the network [manifests/base-offline]",
		},
		"a remote resource further down": {
			[]edit{{kustomization, "resources:", "resources:\n  - ../more"}, {"more/kustomization.yaml", "", "Resources: [ssh://example.com/x]\n"}},
			"",
			"more/kustomization.yaml:1:13: error: the base cannot be built here: resources ssh://example.com/x is on the network [manifests/base-offline]",
		},
		"a plugin": {
			[]edit{{kustomization, "resources:", "transformers: [transformer.yaml]\nresources:"}},
			"",
			"base/kustomization.yaml:4:16: error: the base cannot be built here: transformers transformer.yaml is a plugin, and plugins are off [manifests/base-offline]",
		},
		"a chart": {
			[]edit{{kustomization, "resources:", "helmCharts: [{name: redis, repo: 'https://example.com'}]\nresources:"}},
			"",
			"base/kustomization.yaml:4:21: error: the base cannot be built here: helmCharts redis is a chart, and helm is off [manifests/base-offline]",
		},
		"a file that is not there": {
			[]edit{{kustomization, "services.yaml", "service.yaml"}},
			"",
			"base/kustomization.yaml:1:1: error: the base base cannot be built: recursed accumulation of path 'base': accumulating resources: accumulation err='accumulating resources from 'service.yaml': evalsymlink failure on 'base/service.yaml'",
		},
		"a kustomization that is none": {
			[]edit{{kustomization, "resources:", "resource:"}},
			"",
			`unknown field "resource"`,
		},
		"a label that is given twice": {
			[]edit{{kustomization, "resources:", "commonLabels: {a: b}\nlabels: [{pairs: {a: c}}]\nresources:"}},
			"",
			"base/kustomization.yaml:1:1: error: the base cannot be built: label name 'a' exists in both commonLabels and labels",
		},
		"a folder without a kustomization": {nil, ".", "unable to find one of 'kustomization.yaml'"},
		"no folder at all":                 {nil, "none", "none: error: the base none cannot be built: no such file or directory [manifests/base-fails]"},
		"a file":                           {nil, kustomization, "it is a file; name its folder"},
		"a folder for a file": {
			[]edit{{kustomization, "resources:", "patches: [{path: folder}]\nresources:"}, {"base/folder/a", "", "a"}},
			"",
			"'base/folder' must resolve to a file [manifests/base-fails]",
		},
		"a file outside of the base's folder": {
			[]edit{{kustomization, "  - services.yaml", "  - ../services.yaml"}, {"services.yaml", "", "kind: Service\n"}},
			"",
			"is not in or below",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := c.folder
			if folder == "" {
				folder = "base"
			}
			_, found, err := over(t, scaled(), patches(t), rewritten(t, userBase(t), c.edits), folder)
			if err != nil || len(found) != 1 || !strings.Contains(found[0].String(), c.want) {
				t.Errorf("got %v, error %v\nwant %s", found, err, c.want)
			}
		})
	}
}

// Deprecated fields are built, and kustomize's warnings about them do not reach
// standard error.
func TestABaseInTheSpellingOfYesterday(t *testing.T) {
	files := rewritten(t, userBase(t), []edit{
		{"base/kustomization.yaml", "resources:\n  - workloads.yaml\n", `commonLabels: {team: shop}
vars: [{name: LEVEL, objref: {kind: ConfigMap, name: settings, apiVersion: v1}, fieldref: {fieldpath: data.level}}]
imageTags: [{name: cart, newTag: "2"}]
patchesStrategicMerge:
  - patch.yaml
  - "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart}\nspec: {minReadySeconds: 7}\n"
patchesJson6902:
  - target: {group: apps, version: v1, kind: Deployment, name: cart}
    patch: "- {op: add, path: /spec/revisionHistoryLimit, value: 1}"
bases: [../workloads]
resources:
`},
		{"base/patch.yaml", "", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart}\nspec: {paused: false}\n"},
		{"workloads/kustomization.yml", "", "resources: [workloads.yaml]\n"},
	})
	files["workloads/workloads.yaml"] = files["base/workloads.yaml"]
	objects, found, err := over(t, scaled(), patches(t), files, "base")
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	got := map[string]any{}
	for _, path := range []string{"metadata.labels.team", "spec.selector.matchLabels.team", "spec.minReadySeconds", "spec.paused", "spec.revisionHistoryLimit"} {
		var steps []any
		for step := range strings.SplitSeq(path, ".") {
			steps = append(steps, step)
		}
		got[path], _ = get(objects[0].Object, steps)
	}
	want := map[string]any{
		"metadata.labels.team": "shop", "spec.selector.matchLabels.team": "shop",
		"spec.minReadySeconds": 7, "spec.paused": false, "spec.revisionHistoryLimit": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A prefix below the Component is followed: patches find what a name was, and
// the nameReference leads the ScaledObject to what it is.
func TestABaseWithAPrefix(t *testing.T) {
	p, components := scaled(), patches(t)
	p.Workloads[0].Scaling.HPA = ""
	mutation{"horizontalpodautoscaler-cart.yaml", "", ""}.apply(t, components)
	mutation{"kustomization.yaml", "  - path: horizontalpodautoscaler-cart.yaml\n", ""}.apply(t, components)
	mutation{"scaledobject-cart.yaml", "  annotations:\n    scaledobject.keda.sh/transfer-hpa-ownership: \"true\"\n", ""}.apply(t, components)
	files := rewritten(t, userBase(t), []edit{
		{"base/autoscalers.yaml", "", userBase(t)["base/autoscalers.yaml"][strings.Index(userBase(t)["base/autoscalers.yaml"], "---"):]},
		{"eu/kustomization.yaml", "", "namePrefix: eu-\nresources: [../base]\n"},
	})
	objects, found, err := over(t, p, components, files, "eu")
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	scaler := objects[1]
	if scaler.name() != "cart" || scaler.text("spec", "scaleTargetRef", "name") != "cart" {
		t.Errorf("the gate gets %s for %s, not the names of the plan", scaler.name(), scaler.text("spec", "scaleTargetRef", "name"))
	}

	mutation{"namereference.yaml", "", ""}.apply(t, components)
	mutation{"kustomization.yaml", "configurations:\n  - namereference.yaml\n", ""}.apply(t, components)
	if _, _, err := over(t, p, components, files, "eu"); err == nil {
		t.Error("a ScaledObject that scales nothing is let pass")
	}
}

// withoutNamespace is the generator's files for bases without one.
func withoutNamespace(t *testing.T) map[string]string {
	t.Helper()
	files := patches(t)
	for name, data := range files {
		files[name] = strings.NewReplacer("  namespace: shop\n", "", ", namespace: shop", "").Replace(data)
	}
	return files
}

func TestBasesWithoutANamespace(t *testing.T) {
	p := scaled()
	p.Bases.Namespaced = false
	objects, err := overlays(t, p, withoutNamespace(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.text("metadata", "namespace") != "shop" {
			t.Errorf("%s has not the namespace of the plan", refOf(o.Object))
		}
	}
	if _, err := overlays(t, p, patches(t)); err == nil || !strings.Contains(err.Error(), "scaledobject-cart.yaml: ScaledObject shop/cart has a namespace, and the bases' objects have none") {
		t.Errorf("patches with a namespace over bases without: %v", err)
	}
	raw := rewritten(t, userBase(t), []edit{{"base/kustomization.yaml", "namespace: shop\n", ""}})
	t.Run("raw manifests pass", func(t *testing.T) {
		objects, found, err := over(t, p, withoutNamespace(t), raw, "base")
		if err != nil || len(found) > 0 || len(objects) != 7 || objects[0].text("metadata", "namespace") != "shop" {
			t.Errorf("%d objects, findings %v, error %v", len(objects), found, err)
		}
	})
	t.Run("one object for two namespaces stops", func(t *testing.T) {
		twice := scaled()
		twice.Bases.Namespaced = false
		redis := twice.Workloads[1]
		redis.Namespace = "stock"
		twice.Workloads = append(twice.Workloads, redis)
		components := withoutNamespace(t)
		components["mesh/workloads/stock/statefulset-redis.yaml"] = components[shop+"statefulset-redis.yaml"]
		components["mesh/workloads/stock/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: statefulset-redis.yaml}]\n"
		_, found, err := over(t, twice, components, raw, "base")
		if err != nil {
			t.Fatal(err)
		}
		expectFindings(t, found, []string{
			"base/workloads.yaml:25:3: error: StatefulSet shop/redis and StatefulSet stock/redis are one object in the base, which has no namespaces: the patches of both would change it [manifests/base-namespace]",
		}, "a base of its own")
	})
	t.Run("a base that sets one stops", func(t *testing.T) {
		_, found, err := over(t, p, withoutNamespace(t), userBase(t), "base")
		if err != nil || len(found) != 5 {
			t.Fatalf("findings %v, error %v", found, err)
		}
		expectFindings(t, found[:1], []string{
			"base/services.yaml:3:1: error: the base puts cart into namespace shop, and spec.kubernetes.bases.namespaced says that bases have none: what the Component adds would have none [manifests/base-namespace]",
		}, "leave spec.kubernetes.bases.namespaced out")
	})
	t.Run("raw manifests stop where patches have a namespace", func(t *testing.T) {
		_, found, err := over(t, scaled(), patches(t), raw, "base")
		if err != nil || len(found) == 0 {
			t.Fatalf("findings %v, error %v", found, err)
		}
		expectFindings(t, found[:1], []string{
			"base/services.yaml:3:1: error: Service shop/cart has no namespace in the base, and its patch is for namespace shop: kustomize takes them for two objects [manifests/base-namespace]",
		}, "set spec.kubernetes.bases.namespaced to false")
	})
}

// kustomize reads a file whole, whatever its size.
func TestABaseWithAFileWithoutEnd(t *testing.T) {
	tree := treeOf(t, patches(t))
	inFolder(t, userBase(t))
	if err := os.Truncate("base/services.yaml", mostBytes+1); err != nil {
		t.Fatal(err)
	}
	_, found, err := open(t, "").overlays(Input{Plan: scaled(), Tree: tree, Base: "base", Pos: position})
	if err != nil {
		t.Fatal(err)
	}
	expectFindings(t, found, []string{"base/services.yaml:1:1: error: the base cannot be built: it is not a file of at most 32 MiB [manifests/base-fails]"}, "")
}

func TestWhatIsOnTheNetwork(t *testing.T) {
	for text, want := range map[string]bool{
		"base": false, "../base": false, "./a.yaml": false, "": false, "https://example.com/a\nb": true,
		"https://example.com/a": true, "HTTP://example.com/a": true, "http:a": true, "ssh://example.com/a": true, "file:///a": true,
		"git::https://example.com/a": true, "git@example.com:a/b": true, "org-1@example.com:a": true,
		"github.com/a/b": true, "GitHub.com:a/b": true, "github.community/a": false,
	} {
		if got := isRemote(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// Whatever stands in the user's folder is a finding or a build, never a panic.
func FuzzBase(f *testing.F) {
	f.Add("resources: [a.yaml]\n", "kind: Deployment\nmetadata: {name: cart, namespace: shop}\napiVersion: apps/v1\n")
	f.Add("resources: [a.yaml]\nvars: []\npatchesStrategicMerge: [a.yaml]\n", "kind: List\nitems: [{kind: Service, apiVersion: v1, metadata: {name: cart, annotations: []}}]\n")
	f.Add("bases: [.]\n", "- a\n")
	f.Add("resources: [a.yaml]\nnamePrefix: x-\n", "kind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2\nmetadata: {name: cart-hpa}\nspec: {metrics: {}, scaleTargetRef: []}\n")
	folders, err := foldersOf("mesh", treeOf(f, patches(f)))
	if err != nil {
		f.Fatal(err)
	}
	components, err := componentsOf(folders, scaled().Bases, newReading())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kustomization, objects string) {
		inFolder(t, map[string]string{"base/kustomization.yaml": kustomization, "base/a.yaml": objects})
		_, found, err := Input{Plan: scaled(), Base: "base", Pos: position}.overBase(components)
		if err == nil && !found.HasErrors() {
			t.Errorf("the planned objects are not all in it, and nothing is found")
		}
		for _, finding := range found {
			if !strings.HasPrefix(finding.File, "base") || finding.Hint == "" {
				t.Errorf("no place or no hint: %s", finding)
			}
		}
	})
}

// A Service that the plan leaves alone may have routing that the profile does not
// know of; one that the base does not have is not missed.
func TestRoutingOfAServiceThatIsLeftAlone(t *testing.T) {
	p := scaled()
	p.Decisions = append(p.Decisions,
		plan.Decision{Subject: "service/shop/till.trafficDistribution"}, plan.Decision{Subject: "service/shop/nowhere.trafficDistribution"})
	files := rewritten(t, userBase(t), []edit{
		{"base/kustomization.yaml", "  - services.yaml\n", "  - services.yaml\n  - till.yaml\n"},
		{"base/till.yaml", "", "apiVersion: v1\nkind: Service\nmetadata: {name: till}\nspec:\n  trafficDistribution: PreferClose\n"},
	})
	_, found, err := over(t, p, patches(t), files, "base")
	if err != nil {
		t.Fatal(err)
	}
	expectFindings(t, found, []string{
		"base/till.yaml:5:3: warning: Service shop/till has trafficDistribution PreferClose in the base, which the profile does not mention: the plan did not weigh it, and it stays [manifests/base-routing]",
	}, "spec.services[].routing")
}
