package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshgen/meshgen/internal/plan"
)

func TestWorkedRoutes(t *testing.T) {
	pl := exampleOf(t, "featureflag")
	var routes []string
	for _, r := range pl.Routes {
		routes = append(routes, r.Subject()+" "+r.TrafficDistribution)
	}
	want := []string{"service/platform/featureflag.trafficDistribution ", "service/web/storefront.trafficDistribution PreferSameZone"}
	if diff := cmp.Diff(want, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	for subject, want := range map[string]map[string]string{
		"service/platform/featureflag.trafficDistribution": {
			"hints": "2/2", "FTAR": "2 × the mean", "strandedTAR": "2 endpoints", "FSplit": "4 × the mean", "strandedSplit": "3 endpoints",
			"failed": "S3, S4, S5, S6, S8", "unproven": "none",
		},
		"service/web/storefront.trafficDistribution": {
			"m": "4 pods", "FNow": "1 × the mean", "FWorst": "1.167 × the mean", "failed": "none", "unproven": "none",
		},
	} {
		d, _ := pl.Decision(subject)
		got := map[string]string{}
		for _, term := range d.Terms {
			if _, asked := want[term.Name]; asked {
				got[term.Name] = term.Short()
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", subject, diff)
		}
	}
	d, _ := pl.Decision("service/platform/featureflag.trafficDistribution")
	if d.Value != nil || d.Running == nil || d.Running.Verdict != plan.Unsafe {
		t.Errorf("value %v, running %+v", d.Value, d.Running)
	}
}
