package helm_test

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/meshgen/meshgen/e2e/cluster"
)

// Every version of the chart makes of the written values, over the user's own,
// the istiod that was planned.
func TestChartsInstallThePlannedIstiod(t *testing.T) {
	all := releases(t)
	for _, m := range meshes(t) {
		for _, r := range all {
			t.Run(m.name+"/"+r.minor, func(t *testing.T) {
				if found := m.judge(m.install(t, r, m.values(t))); len(found) > 0 {
					t.Errorf("Istio %s:\n%s", r.minor, lines(found))
				}
			})
		}
	}
}

// Each key of the written values is there for something: without it some version
// of the chart installs another istiod, and the checks named here, and no others,
// say so. The chart's own budget comes only up to Istio 1.27.
func TestEveryWrittenValueCounts(t *testing.T) {
	m := canary(t)
	all := releases(t)
	without := map[string][]string{
		"revision":                                  {"deployment"},
		"autoscaleEnabled":                          {"autoscaler"},
		"replicaCount":                              {"replicas"},
		"rollingMaxSurge":                           {"rollout"},
		"rollingMaxUnavailable":                     {"rollout"},
		"keepaliveMaxServerConnectionAge":           {"connection age"},
		"resources":                                 {"resources"},
		"resources.requests":                        {"resources"},
		"resources.requests.cpu":                    {"resources"},
		"resources.requests.memory":                 {"resources"},
		"resources.limits":                          {"resources"},
		"resources.limits.cpu":                      {"resources"},
		"resources.limits.memory":                   {"resources"},
		"affinity":                                  {"placement"},
		"tolerations":                               {"placement"},
		"topologySpreadConstraints":                 {"spread"},
		"global":                                    {"budget", "priority"},
		"global.priorityClassName":                  {"priority"},
		"global.defaultPodDisruptionBudget":         {"budget"},
		"global.defaultPodDisruptionBudget.enabled": {"budget"},
	}
	written := m.values(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(without)), slices.Sorted(keys("", written))); diff != "" {
		t.Errorf("keys that are judged, and those that are written (-want +got):\n%s", diff)
	}
	for key, want := range without {
		t.Run(key, func(t *testing.T) {
			for _, r := range all {
				if r.minor != "1.26" {
					want = slices.DeleteFunc(want, func(check string) bool { return check == "budget" })
				}
				found := m.judge(m.install(t, r, drop(written, key)))
				if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
					t.Errorf("Istio %s: complaints by %v, want %v:\n%s", r.minor, got, want, lines(found))
				}
			}
		})
	}
}

// Values that break one thing are complained of by the check for it.
func TestChecksSeeWhatIsWrong(t *testing.T) {
	m := canary(t)
	all := releases(t)
	newest := all[len(all)-1]
	for name, c := range map[string]struct {
		values string
		want   []string
	}{
		"replicas that a sync resets":                   {"replicaCount: 24", []string{"replicas"}},
		"an age without a unit":                         {`keepaliveMaxServerConnectionAge: "900"`, []string{"connection age"}},
		"a fraction of a core":                          {`resources: {limits: {cpu: 2500m}, requests: {cpu: 2500m}}`, []string{"resources"}},
		"a request above its limit":                     {`resources: {requests: {memory: 6Gi}}`, []string{"resources"}},
		"a toleration of a closed pool":                 {`tolerations: [{operator: Exists}]`, []string{"placement"}},
		"a node selector that leaves no open pool":      {`nodeSelector: {tier: edge}`, []string{"placement"}},
		"a constraint that counts other pods":           {`topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: other}}}]`, []string{"spread"}},
		"the legacy block, which wins over ours":        {`pilot: {keepaliveMaxServerConnectionAge: 30m}`, []string{"connection age"}},
		"the legacy block, which brings the HPA back":   {`pilot: {autoscaleEnabled: true}`, []string{"autoscaler"}},
		"the HPA and with it a second budget":           {`{autoscaleEnabled: true, autoscaleMin: 2, global: {defaultPodDisruptionBudget: {enabled: true}}}`, []string{"autoscaler", "budget"}},
		"a second budget beside fixed replicas":         {`{replicaCount: 3, global: {defaultPodDisruptionBudget: {enabled: true}}}`, []string{"budget", "replicas"}},
		"another revision, which the budget leaves out": {`revision: 1-31`, []string{"deployment"}},
	} {
		t.Run(name, func(t *testing.T) {
			over, err := chartutil.ReadValues([]byte(c.values))
			if err != nil {
				t.Fatal(err)
			}
			found := m.judge(m.install(t, newest, chartutil.CoalesceTables(over, m.values(t))))
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.want) {
				t.Errorf("complaints by %v, want %v:\n%s", got, c.want, lines(found))
			}
		})
	}
}

// meshgen refuses the values file whose legacy block wins over what it computes,
// and each chart shows that it is right: the user's age would hold.
func TestTheLegacyBlockIsRefusedForGoodReason(t *testing.T) {
	file := "testdata/overridden/profile.yaml"
	if findings := cluster.Refuse(t, file); !strings.Contains(findings, "[manifests/overridden]") {
		t.Errorf("meshgen says\n%s", findings)
	}
	m := newMesh(t, "overridden", file, cluster.Render(t, "testdata/own-values/profile.yaml"))
	for _, r := range releases(t) {
		found := m.judge(m.install(t, r, m.values(t)))
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"connection age"}) {
			t.Errorf("Istio %s: complaints by %v:\n%s", r.minor, got, lines(found))
		}
	}
}

// canary is the profile that makes meshgen write every value that it knows.
func canary(t *testing.T) mesh {
	t.Helper()
	file := "testdata/canary/profile.yaml"
	return newMesh(t, "canary", file, cluster.Render(t, file))
}

// keys are the paths of all maps' keys, as far as the chart tells them apart:
// affinity is taken as a whole.
func keys(below string, of map[string]any) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key, value := range of {
			if !yield(below + key) {
				return
			}
			if inner, ok := value.(map[string]any); ok && key != "affinity" {
				keys(below+key+".", inner)(yield)
			}
		}
	}
}

// drop is the values without a key.
func drop(values map[string]any, key string) map[string]any {
	all := maps.Clone(values)
	first, rest, nested := strings.Cut(key, ".")
	if !nested {
		delete(all, first)
		return all
	}
	all[first] = drop(all[first].(map[string]any), rest)
	return all
}

// No example has values for the gateway chart; one that has must be judged here.
func TestNoGatewayIsWritten(t *testing.T) {
	for _, name := range cluster.Names(t) {
		if files := cluster.Rendered(t, name, "gateways/*"); len(files) > 0 {
			t.Errorf("%s is not judged", files[0].Path)
		}
	}
}
