package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// planned is a plan with what is held against the cluster's objects.
func planned() *plan.Plan {
	return &plan.Plan{
		Cluster: "mesh",
		Istiod: plan.Istiod{
			Deployment: "istiod", Namespace: "istio-system", Version: embeddedMinor, KubernetesVersion: "1.31",
			CPU: "2", Memory: "800Mi",
			DedicatedPools: []plan.DedicatedPool{{Name: "edge", Labels: map[string]string{"pool": "edge"}}},
		},
		Decisions: []plan.Decision{{Subject: "istiod.keepaliveMaxServerConnectionAge", Value: "15m"}},
	}
}

func position(path string) diag.Pos {
	return diag.Pos{File: "profile.yaml", Line: len(path), Column: 1}
}

func open(t testing.TB, path string) *Builder {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// generated is the cluster's files as the istiod generator writes them.
func generated(t testing.TB) *artifact.Tree {
	t.Helper()
	tree := &artifact.Tree{}
	const folder = "mesh/istiod"
	entries, err := os.ReadDir(filepath.Join("testdata", folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join("testdata", folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Add(artifact.File{Path: folder + "/" + entry.Name(), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// edited is the tree with our values file changed.
func edited(t testing.TB, tree *artifact.Tree, old, new string) *artifact.Tree {
	t.Helper()
	return replaced(t, tree, "mesh/istiod/values.yaml", func(data string) string {
		if !strings.Contains(data, old) {
			t.Fatalf("%q is not in\n%s", old, data)
		}
		return strings.Replace(data, old, new, 1)
	})
}

// replaced is the tree with another file at the path, made from the one there.
func replaced(t testing.TB, tree *artifact.Tree, path string, change func(string) string) *artifact.Tree {
	t.Helper()
	at, _ := tree.Get(path)
	changed := &artifact.Tree{}
	files := slices.DeleteFunc(tree.Files(), func(f artifact.File) bool { return f.Path == path })
	files = append(files, artifact.File{Path: path, Owner: at.Owner, Data: []byte(change(string(at.Data)))})
	if err := changed.Add(files...); err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestACleanPlanIsProven(t *testing.T) {
	p := planned()
	objects, found, err := open(t, "").Build(Input{Plan: p, Tree: generated(t), Pos: position})
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	var kinds []string
	for _, o := range objects {
		if o.File != "mesh/istiod/values.yaml" || o.kind() == "Deployment" {
			kinds = append(kinds, o.File+" "+o.kind()+" "+o.name())
		}
	}
	want := []string{
		"mesh/istiod/poddisruptionbudget-istiod.yaml PodDisruptionBudget istiod",
		"mesh/istiod/scaledobject-istiod.yaml ScaledObject istiod",
		"mesh/istiod/values.yaml Deployment istiod",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheLineStops(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string // in our values
		user     string
		want     []string // id, then what the message names
	}{
		"at a misspelt top-level key": {
			old: "keepaliveMaxServerConnectionAge:", new: "keepaliveMaxServerConectionAge:",
			want: []string{"manifests/no-effect keepaliveMaxServerConectionAge"},
		},
		"at a misspelt nested key": {
			old: "priorityClassName:", new: "priorityClasName:",
			want: []string{"manifests/no-effect global.priorityClasName"},
		},
		"at a misspelt key of resources": {
			old: "  limits:", new: "  limit:",
			want: []string{"manifests/no-effect resources.limit.cpu", "manifests/no-effect resources.limit.memory"},
		},
		"at a misspelt guard that the chart has under another name": {
			old: "defaultPodDisruptionBudget:", new: "defaultPodDisruptionBudgets:",
			want: []string{"manifests/no-effect global.defaultPodDisruptionBudgets.enabled"},
		},
		"at a misspelt key of a map that the chart passes through": {
			old: "nodeTaintsPolicy:", new: "nodeTaintPolicy:",
			want: []string{`manifests/unknown-field refused: unknown field "nodeTaintPolicy"`},
		},
		"at a string that the user's legacy block overrides": {
			user: "global:\n  hub: example\npilot:\n  keepaliveMaxServerConnectionAge: 30m\n",
			want: []string{"manifests/overridden pilot.keepaliveMaxServerConnectionAge"},
		},
		"at a number that the user's legacy block overrides": {
			user: "pilot:\n  replicaCount: 3\n",
			want: []string{"manifests/overridden pilot.replicaCount"},
		},
		"at a boolean that the user's legacy block overrides": {
			user: "pilot:\n  autoscaleEnabled: true\n",
			want: []string{"manifests/overridden pilot.autoscaleEnabled"},
		},
		"at resources that the user's legacy block overrides": {
			user: "pilot:\n  resources:\n    limits:\n      memory: 2Gi\n",
			want: []string{"manifests/overridden pilot.resources.limits.memory"},
		},
		"at a dedicated pool's nodeSelector that survives the merge": {
			user: "nodeSelector:\n  pool: edge\n",
			want: []string{"manifests/dedicated-pool dedicated pool edge"},
		},
		"at the same in the legacy block": {
			user: "pilot:\n  nodeSelector:\n    pool: edge\n",
			want: []string{"manifests/dedicated-pool dedicated pool edge"},
		},
		"at a toleration that opens a closed pool": {
			old: "tolerations: []\n", new: "",
			user: "tolerations:\n- key: dedicated\n  operator: Exists\n",
			want: []string{`manifests/toleration "dedicated"`},
		},
		"at a toleration of every taint": {
			old: "tolerations: []\n", new: "",
			user: "pilot:\n  tolerations:\n  - operator: Exists\n",
			want: []string{"manifests/toleration every taint"},
		},
		"at a node affinity that leads onto a closed pool": {
			old: "- edge", new: "- other",
			want: []string{"manifests/dedicated-pool no node affinity"},
		},
		"at a node affinity with an open alternative": {
			old: "      nodeSelectorTerms:\n", new: "      nodeSelectorTerms:\n        - matchExpressions:\n            - key: arch\n              operator: Exists\n",
			want: []string{"manifests/dedicated-pool no node affinity"},
		},
		"at a second flag for the connection age": {
			user: "extraContainerArgs: [--keepaliveMaxServerConnectionAge=60m]\n",
			want: []string{"manifests/differs 15m and 60m, planned is 15m"},
		},
		"at a list that the user's legacy block replaces, once": {
			user: "pilot:\n  topologySpreadConstraints:\n  - maxSkew: 5\n    topologyKey: rack\n    whenUnsatisfiable: ScheduleAnyway\n",
			want: []string{"manifests/overridden pilot.topologySpreadConstraints overrides"},
		},
		"at the local istiod turned off, once": {
			user: "global:\n  resourceScope: cluster\n",
			want: []string{"manifests/no-deployment no Deployment istiod in istio-system"},
		},
		"at an unknown profile": {
			user: "autoscaleMin: 2\nprofile: bigg\n",
			want: []string{"manifests/chart-fails unknown profile bigg"},
		},
		"at a key of the user that is given twice": {
			user: "env:\n  A: x\n  B: y\n  A: z\n",
			want: []string{"manifests/values-invalid the key A is given twice, before that in line 2"},
		},
		"at a second document, which Helm would lose": {
			user: "env: {}\n---\nautoscaleMin: 2\n",
			want: []string{"manifests/values-invalid 2 documents"},
		},
		"at replicas that the values bring back": {
			old: "replicaCount: 0", new: "replicaCount: 24",
			want: []string{"manifests/replicas 24"},
		},
		"at an HPA that the values bring back": {
			old: "autoscaleEnabled: false\nreplicaCount: 0", new: "autoscaleEnabled: true",
			want: []string{"manifests/chart-hpa HPA"},
		},
		"at another age than the plan's": {
			old: "15m", new: "30m",
			want: []string{"manifests/differs keepalive"},
		},
		"at another memory limit than the plan's": {
			old: "memory: 800Mi", new: "memory: 2Gi",
			want: []string{"manifests/differs requests"},
		},
		"at another revision": {
			user: "revision: canary\n",
			want: []string{"manifests/no-deployment istiod"},
		},
		"at a wrapper key that the chart refuses": {
			user: "defaults:\n  pilot:\n    env: {}\n",
			want: []string{"manifests/chart-fails refuses what is in user.yaml"},
		},
		"at a values file that is no map": {
			user: "- a\n- b\n",
			want: []string{"manifests/values-invalid not a map"},
		},
		"at a values file that is not YAML": {
			user: "a: [\n",
			want: []string{"manifests/values-invalid not YAML"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned()
			in := Input{Plan: p, Tree: generated(t), Pos: position}
			if c.old != "" {
				in.Tree = edited(t, in.Tree, c.old, c.new)
			}
			if c.user != "" {
				in.Values = []ValuesFile{{Name: "user.yaml", Data: []byte(c.user)}}
			}
			_, found, err := open(t, "").Build(in)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, found, c.want)
		})
	}
}

// expect holds errors against "id part-of-message" lines, sorted.
func expect(t *testing.T, found diag.List, want []string) {
	t.Helper()
	var got []string
	for _, f := range found {
		if f.Severity != diag.Error || f.Hint == "" || f.File == "" {
			t.Errorf("not an error with a place and a way out: %v", f)
		}
		line := f.ID + " " + f.Message
		for _, w := range want {
			id, part, _ := strings.Cut(w, " ")
			if f.ID == id && strings.Contains(f.Message, part) {
				line = w
			}
		}
		got = append(got, line)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFindingIsShownWhereTheUserWroteIt(t *testing.T) {
	for name, c := range map[string]struct {
		old   string // left out of our values
		files []string
		want  string
	}{
		"in the second file, under a comment": {
			files: []string{"pilot: {}\n", "pilot:\n  # old\n  replicaCount: 3\n"},
			want:  "1.yaml:3:3 replicaCount",
		},
		"in the last file that has it": {
			files: []string{"pilot:\n  replicaCount: 3\n", "a: 1\npilot: {replicaCount: 4}\n"},
			want:  "1.yaml:2:9 replicaCount",
		},
		"behind an alias": {
			files: []string{"old: &old\n  keepaliveMaxServerConnectionAge: 30m\npilot: *old\n"},
			want:  "0.yaml:2:3 keepaliveMaxServerConnectionAge",
		},
		"at the list, once for all of its items": {
			files: []string{"pilot:\n  topologySpreadConstraints:\n  - {maxSkew: 5, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}\n"},
			want:  "0.yaml:2:3 topologySpreadConstraints",
		},
		"at a selector": {
			files: []string{"nodeSelector:\n  disk: ssd\n  pool: edge\n"},
			want:  "0.yaml:3:3 Deployment/istio-system/istiod",
		},
		"at tolerations": {
			old:   "tolerations: []\n",
			files: []string{"env: {}\ntolerations:\n- {key: dedicated, operator: Exists}\n"},
			want:  "0.yaml:2:1 Deployment/istio-system/istiod",
		},
		"at the key without which the chart renders": {
			files: []string{"env: {}\n", "autoscaleMin: 2\ndefaults: {pilot: {}}\n"},
			want:  "1.yaml:2:1 defaults",
		},
		"at the second of two keys": {
			files: []string{"env:\n  A: x\n  A: y\n"},
			want:  "0.yaml:3:3 0.yaml",
		},
		"at a line that is not YAML": {
			files: []string{"a: 1\nb: 2\nc: [\n"},
			want:  "0.yaml:3:1 0.yaml",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Plan: planned(), Tree: generated(t), Pos: position}
			if c.old != "" {
				in.Tree = edited(t, in.Tree, c.old, "")
			}
			for i, data := range c.files {
				in.Values = append(in.Values, ValuesFile{fmt.Sprintf("%d.yaml", i), []byte(data)})
			}
			_, found, err := open(t, "").Build(in)
			if err != nil || len(found) != 1 {
				t.Fatalf("findings %v, error %v", found, err)
			}
			if got := found[0].Pos.String() + " " + found[0].Subject; got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, found[0])
			}
		})
	}
}

func TestTheUsersValuesThatChangeNothingOfOurs(t *testing.T) {
	for name, user := range map[string]string{
		"an HPA of the chart that is off already": "autoscaleEnabled: true\nautoscaleMin: 24\nautoscaleMax: 0\n",
		"a selector of another label":             "nodeSelector:\n  disk: ssd\n",
		"a selector set to null":                  "nodeSelector:\n  pool: null\n",
		"a legacy block that sets other things":   "pilot:\n  env: {PILOT_TRACE: \"1\"}\n  traceSampling: 5\n",
		"a number as a key":                       "podAnnotations:\n  1: a\n",
		"a list, which ours replaces":             "tolerations:\n- {key: dedicated, operator: Exists}\n",
		"a map of ours that is null":              "resources: null\nglobal: null\n",
		"an empty file":                           "",
		"a comment":                               "# nothing\n",
		"a document marker":                       "---\nenv: {}\n---\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, found, err := open(t, "").Build(Input{
				Plan: planned(), Tree: generated(t), Pos: position, Values: []ValuesFile{{"user.yaml", []byte(user)}},
			})
			if err != nil || len(found) > 0 {
				t.Errorf("findings %v, error %v", found, err)
			}
		})
	}
}

// Helm reads YAML 1.1, where off is a boolean: a reader of 1.2 would take it for
// a text, which templates take for true.
func TestValuesAreReadAsHelmReadsThem(t *testing.T) {
	for word, want := range map[string]bool{"off": false, "on": true, "no": false} {
		objects, found, err := open(t, "").Build(Input{Plan: planned(), Tree: generated(t), Pos: position, Values: []ValuesFile{
			{"user.yaml", []byte("global: {networkPolicy: {enabled: " + word + "}}\n")},
		}})
		if err != nil || len(found) > 0 {
			t.Fatalf("findings %v, error %v", found, err)
		}
		if got := slices.ContainsFunc(objects, func(o Object) bool { return o.kind() == "NetworkPolicy" }); got != want {
			t.Errorf("%s: a NetworkPolicy is rendered: %v", word, got)
		}
	}
}

// The way out that the finding names: a later file deletes the selector.
func TestASelectorThatALaterFileSetsToNull(t *testing.T) {
	_, found, err := open(t, "").Build(Input{Plan: planned(), Tree: generated(t), Pos: position, Values: []ValuesFile{
		{"base.yaml", []byte("nodeSelector: {pool: edge}\n")}, {"here.yaml", []byte("nodeSelector: {pool: null}\n")},
	}})
	if err != nil || len(found) > 0 {
		t.Errorf("findings %v, error %v", found, err)
	}
}

func TestEveryGuardIsAKeyOfOurs(t *testing.T) {
	file, _ := generated(t).Get("mesh/istiod/values.yaml")
	ours, err := chartutil.ReadValues(file.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range Guards() {
		if !slices.ContainsFunc(leavesOf(map[string]any(ours), nil), func(l leaf) bool { return l.String() == g.Path && isGuard(l) }) {
			t.Errorf("%s is not among our values", g.Path)
		}
	}
}

// A fleet shares one chart and its proofs, on every core.
func TestClustersAreProvenAtOnce(t *testing.T) {
	b := open(t, "")
	in := Input{Plan: planned(), Tree: generated(t), Pos: position}
	wrong := in
	wrong.Values = []ValuesFile{{"user.yaml", []byte("pilot: {replicaCount: 3}\n")}}
	alone, _, err := b.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			objects, found, err := b.Build(in)
			if err != nil || len(found) > 0 {
				t.Errorf("findings %v, error %v", found, err)
			}
			if diff := cmp.Diff(alone, objects); diff != "" {
				t.Errorf("other objects (-alone +together):\n%s", diff)
			}
			if _, found, err := b.Build(wrong); err != nil || len(found) != 1 || found[0].ID != "manifests/overridden" {
				t.Errorf("findings %v, error %v", found, err)
			}
		})
	}
	group.Wait()
}

func TestTheUsersOtherValuesStay(t *testing.T) {
	p := planned()
	objects, found, err := open(t, "").Build(Input{
		Plan: p, Tree: generated(t), Pos: position,
		Values: []ValuesFile{{"user.yaml", []byte("env:\n  PILOT_TRACE: \"1\"\nautoscaleMin: 3\nreplicaCount: 7\n")}},
	})
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	i := slices.IndexFunc(objects, func(o Object) bool { return o.kind() == "Deployment" })
	text, err := judged([]map[string]any{objects[i].Object})
	if err != nil || !strings.Contains(text, "PILOT_TRACE") || strings.Contains(text, `"replicas"`) {
		t.Errorf("the Deployment is %s, %v", text, err)
	}
}

func TestAChartOfAnotherMinorIsAWarning(t *testing.T) {
	p := planned()
	p.Istiod.Version = "1.24"
	_, found, err := open(t, "").Build(Input{Plan: p, Tree: generated(t), Pos: position})
	if err != nil || len(found) != 1 || found[0].ID != "manifests/chart-version" || found[0].Severity != diag.Warning {
		t.Errorf("findings %v, error %v", found, err)
	}
}

// An old chart renders a budget of its own whatever scales istiod: the guard key
// is what switches it off.
func TestAChartWithItsOwnBudget(t *testing.T) {
	folder := oldChart(t)
	p := planned()
	tree := generated(t)
	_, found, err := open(t, folder).Build(Input{Plan: p, Tree: tree, Pos: position})
	if err != nil || len(found) > 0 {
		t.Fatalf("findings %v, error %v", found, err)
	}
	_, found, err = open(t, folder).Build(Input{Plan: p, Tree: edited(t, tree, "enabled: false", "enabled: true"), Pos: position})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, found, []string{"manifests/budgets 2 PodDisruptionBudgets"})
}

// oldChart is the embedded chart with the budget template's condition of Istio
// 1.27 and before, which asked only whether budgets are wanted.
func oldChart(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	chart := open(t, "").chart
	for _, f := range chart.Raw {
		data := string(f.Data)
		if f.Name == "templates/poddisruptionbudget.yaml" {
			condition := regexp.MustCompile(`(?m)^\{\{- if or \(and \.Values\.autoscaleEnabled.*$`)
			if !condition.MatchString(data) {
				t.Fatal("the budget template has changed")
			}
			data = condition.ReplaceAllString(data, "{{- if true }}")
		}
		if f.Name == "Chart.yaml" {
			data = strings.ReplaceAll(data, "1.0.0", embeddedMinor+".0")
		}
		at := filepath.Join(folder, f.Name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The embedded chart's minor is known by its commit alone: whoever moves the pin
// reads the chart again, and says which minor it is of.
func TestThePinOfTheEmbeddedChart(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "istio.io/istio v0.0.0-20260827124520-eed52ebb66ad") {
		t.Errorf("istio.io/istio has moved in go.mod: is its chart still of Istio %s?", embeddedMinor)
	}
}

func TestWhatWasGeneratedWrongIsOurFailure(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stray}\n"
	for name, c := range map[string]struct{ path, old, new, want string }{
		"an object outside the kustomization":  {path: "mesh/istiod/stray.yaml", new: object, want: "stray.yaml (v1 ConfigMap  stray) is not in the kustomization"},
		"a resource that is not there":         {path: "mesh/istiod/kustomization.yaml", old: "- scaled", new: "- scald", want: "scaldobject-istiod.yaml was not generated"},
		"a resource on the network":            {path: "mesh/istiod/kustomization.yaml", old: "- scaled", new: "- https://example.com/scaled", want: "https://example.com/scaledobject-istiod.yaml was not generated"},
		"a misspelt field of a kustomization":  {path: "mesh/istiod/kustomization.yaml", old: "resources:", new: "resource:", want: "unknown field"},
		"a resource that is not YAML":          {path: "mesh/istiod/scaledobject-istiod.yaml", old: "spec:", new: "spec: [", want: "scaledobject-istiod.yaml"},
		"a transformer that renames an object": {path: "mesh/istiod/kustomization.yaml", old: "kind: Kustomization\n", new: "kind: Kustomization\nnamePrefix: a-\n", want: "comes from no file"},
		"values that are no map":               {path: "mesh/istiod/values.yaml", old: "autoscaleEnabled: false", new: "- a", want: "values.yaml"},
		"another folder that is never built":   {path: "mesh/mesh/kustomization.yaml", new: "resources: [a.yaml]\n", want: "mesh/mesh: a.yaml was not generated"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := replaced(t, generated(t), c.path, func(data string) string {
				if !strings.Contains(data, c.old) {
					t.Fatalf("%q is not in\n%s", c.old, data)
				}
				return strings.Replace(data, c.old, c.new, 1)
			})
			_, found, err := open(t, "").Build(Input{Plan: planned(), Tree: tree, Pos: position})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(found) > 0 {
				t.Errorf("findings %v, error %v", found, err)
			}
		})
	}
}

func TestFilesOfAnotherClusterAreNotBuilt(t *testing.T) {
	tree := generated(t)
	if err := tree.Add(artifact.File{Path: "mesh-2/istiod/kustomization.yaml", Data: []byte("resources: [none.yaml]\n")}); err != nil {
		t.Fatal(err)
	}
	if _, found, err := open(t, "").Build(Input{Plan: planned(), Tree: tree, Pos: position}); err != nil || len(found) > 0 {
		t.Errorf("findings %v, error %v", found, err)
	}
}

func TestOpenRefusesOtherCharts(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "Chart.yaml"), []byte("apiVersion: v2\nname: other\nversion: 1.2.3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{folder: `"other", not istiod`, filepath.Join(folder, "none"): "no such file"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	p := planned()
	tree := generated(b)
	for name, fresh := range map[string]bool{"first": true, "proven": false} {
		b.Run(name, func(b *testing.B) {
			builder := open(b, "")
			for b.Loop() {
				if fresh {
					builder = open(b, "")
				}
				if _, _, err := builder.Build(Input{Plan: p, Tree: tree, Pos: position}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestAPackedChartIsReadLikeItsFolder(t *testing.T) {
	packed, err := chartutil.Save(open(t, oldChart(t)).chart, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, found, err := open(t, packed).Build(Input{Plan: planned(), Tree: generated(t), Pos: position})
	if err != nil || len(found) > 0 {
		t.Errorf("findings %v, error %v", found, err)
	}
}

func TestTheMinorThatAChartSaysItIsOf(t *testing.T) {
	for name, c := range map[string]struct{ version, appVersion, want string }{
		"a release":                     {"1.26.2", "1.26.2", "1.26"},
		"a release with a v":            {"v1.29.0", "", "1.29"},
		"the application over the pack": {"7.0.1", "1.30.0-rc.1", "1.30"},
		"the placeholder of a branch":   {"1.0.0", "1.0.0", ""},
		"nothing":                       {"", "", ""},
	} {
		got := minorOf(&chart.Chart{Metadata: &chart.Metadata{Version: c.version, AppVersion: c.appVersion}})
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A guard is let pass only where the chart has it.
func TestAGuardThatTheChartDoesNotKnow(t *testing.T) {
	b := open(t, "")
	delete(b.defaultsOf(t, "global"), "defaultPodDisruptionBudget")
	_, found, err := b.Build(Input{Plan: planned(), Tree: generated(t), Pos: position})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, found, []string{"manifests/no-effect global.defaultPodDisruptionBudget.enabled"})
}

// defaultsOf is a map among the chart's own values.
func (b *Builder) defaultsOf(t *testing.T, key string) map[string]any {
	t.Helper()
	value, ok := get(b.chart.Values, []any{wrapper, key})
	if !ok {
		t.Fatalf("the chart has no %s", key)
	}
	return value.(map[string]any)
}

func TestDocumentsOfAText(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []document
	}{
		"one":                        {"a: 1\n", []document{{1, "a: 1\n"}}},
		"a marker first and last":    {"---\na: 1\n---\n", []document{{1, ""}, {1, "\na: 1\n"}, {3, "\n"}}},
		"two, one after a comment":   {"a: 1\n--- # next\nb: 2\n", []document{{1, "a: 1\n"}, {2, " # next\nb: 2\n"}}},
		"a value beside the marker":  {"a: 1\n--- {b: 2}\n", []document{{1, "a: 1\n"}, {2, " {b: 2}\n"}}},
		"a marker inside of a block": {"a: |\n  x\n  ---\n  y\n", []document{{1, "a: |\n  x\n  ---\n  y\n"}}},
		"a name with dashes":         {"---a: 1\n", []document{{1, "---a: 1\n"}}},
		"lines of another system":    {"a: 1\r\n---\r\nb: 2\r\n", []document{{1, "a: 1\r\n"}, {2, "\r\nb: 2\r\n"}}},
		"a mark of the encoding":     {"\ufeffa: 1\n", []document{{1, "a: 1\n"}}},
		"nothing":                    {"", []document{{1, ""}}},
	} {
		if diff := cmp.Diff(c.want, cut(c.text), cmp.AllowUnexported(document{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
