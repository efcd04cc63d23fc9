package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/generators"
	"github.com/meshgen/meshgen/internal/artifact"
	"github.com/meshgen/meshgen/internal/diag"
	"github.com/meshgen/meshgen/internal/plan"
)

// planned is a plan with what the istiod generator needs.
func planned() *plan.Plan {
	p := &plan.Plan{Cluster: "mesh", Istiod: plan.Istiod{
		Deployment: "istiod", Namespace: "istio-system", Version: embeddedMinor, KubernetesVersion: "1.31",
		CPU: "2", Memory: "800Mi", Zones: 2, HardZoneSpread: true, PriorityClass: "system-cluster-critical",
		DedicatedPools: []plan.DedicatedPool{{Name: "edge", Labels: map[string]string{"pool": "edge"}}},
		ServerAddress:  "http://prometheus:9090",
		Triggers:       []plan.Trigger{{Name: "connections", Query: "sum(pilot_xds)", Threshold: 80, Reason: "a reason"}},
	}}
	for subject, value := range map[string]any{
		"istiod.rollout.maxSurge": "25%", "istiod.keepaliveMaxServerConnectionAge": "15m", "istiod.scaleUp.stabilizationWindow": "75s",
		"istiod.replicas.min": int64(24), "istiod.replicas.max": int64(92), "istiod.fallback.replicas": int64(46),
		"istiod.podDisruptionBudget.maxUnavailable": int64(2), "istiod.cpu": int64(2), "istiod.topologySpreadConstraints": []string{},
	} {
		p.Decisions = append(p.Decisions, plan.Decision{Subject: subject, Value: value, Reason: "a reason"})
	}
	return p
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

func treeOf(t testing.TB, p *plan.Plan) *artifact.Tree {
	t.Helper()
	tree, err := generators.Render(p)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// edited is the tree with our values file changed.
func edited(t testing.TB, tree *artifact.Tree, old, new string) *artifact.Tree {
	t.Helper()
	changed := &artifact.Tree{}
	for _, f := range tree.Files() {
		if strings.HasSuffix(f.Path, "values.yaml") {
			if !strings.Contains(string(f.Data), old) {
				t.Fatalf("%q is not in\n%s", old, f.Data)
			}
			f.Data = []byte(strings.Replace(string(f.Data), old, new, 1))
		}
		if err := changed.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

func TestACleanPlanIsProven(t *testing.T) {
	p := planned()
	objects, found, err := open(t, "").Build(Input{Plan: p, Tree: treeOf(t, p), Pos: position})
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
			want: []string{"manifests/overridden pilot.autoscaleEnabled", "manifests/overridden replicaCount"},
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
			user: "tolerations:\n- key: dedicated\n  operator: Exists\n",
			want: []string{`manifests/toleration "dedicated"`},
		},
		"at replicas that the values bring back": {
			old: "replicaCount: 0", new: "replicaCount: 24",
			want: []string{"manifests/replicas 24"},
		},
		"at an HPA that the values bring back": {
			old: "autoscaleEnabled: false\n# 0 leaves spec.replicas out: the autoscaler owns it, and each sync would reset it\nreplicaCount: 0", new: "autoscaleEnabled: true",
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
			want: []string{"manifests/chart-fails cannot be rendered"},
		},
		"at a values file that is no map": {
			user: "- a\n- b\n",
			want: []string{"manifests/values-invalid user.yaml"},
		},
		"at a values file that is not YAML": {
			user: "a: [\n",
			want: []string{"manifests/values-invalid user.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned()
			in := Input{Plan: p, Tree: treeOf(t, p), Pos: position}
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

func TestAnOverriddenKeyIsShownWhereItStands(t *testing.T) {
	p := planned()
	_, found, err := open(t, "").Build(Input{
		Plan: p, Tree: treeOf(t, p), Pos: position,
		Values: []ValuesFile{{"first.yaml", []byte("pilot: {}\n")}, {"second.yaml", []byte("pilot:\n  # old\n  replicaCount: 3\n")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(f diag.Finding) bool { return f.ID == "manifests/overridden" })
	if i < 0 || found[i].Pos != (diag.Pos{File: "second.yaml", Line: 3, Column: 3}) {
		t.Errorf("got %v", found)
	}
}

func TestTheUsersOtherValuesStay(t *testing.T) {
	p := planned()
	objects, found, err := open(t, "").Build(Input{
		Plan: p, Tree: treeOf(t, p), Pos: position,
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
	_, found, err := open(t, "").Build(Input{Plan: p, Tree: treeOf(t, p), Pos: position})
	if err != nil || len(found) != 1 || found[0].ID != "manifests/chart-version" || found[0].Severity != diag.Warning {
		t.Errorf("findings %v, error %v", found, err)
	}
}

// An old chart renders a budget of its own whatever scales istiod: the guard key
// is what switches it off.
func TestAChartWithItsOwnBudget(t *testing.T) {
	folder := oldChart(t)
	p := planned()
	tree := treeOf(t, p)
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

func TestAnObjectOutsideTheKustomizationIsOurFailure(t *testing.T) {
	p := planned()
	tree := treeOf(t, p)
	if err := tree.Add(artifact.File{Path: "mesh/istiod/stray.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stray}\n")}); err != nil {
		t.Fatal(err)
	}
	_, _, err := open(t, "").Build(Input{Plan: p, Tree: tree, Pos: position})
	if err == nil || !strings.Contains(err.Error(), "stray.yaml") {
		t.Errorf("got %v", err)
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
	tree := treeOf(b, p)
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
