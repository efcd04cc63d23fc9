package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The call graph of Online Boutique is public (GoogleCloudPlatform/microservices-demo).
func TestWorkedScopes(t *testing.T) {
	pl := exampleOf(t, "boutique")
	for subject, want := range map[string]string{
		"sidecar/boutique/frontend.hosts":        "adservice cartservice checkoutservice currencyservice frontend productcatalogservice recommendationservice shippingservice",
		"sidecar/boutique/checkoutservice.hosts": "cartservice checkoutservice currencyservice emailservice paymentservice productcatalogservice shippingservice",
		"sidecar/boutique/adservice.hosts":       "adservice",
		"sidecar/boutique/loadgenerator.hosts":   "frontend", // it has no Service
	} {
		var hosts []string
		for _, name := range strings.Fields(want) {
			hosts = append(hosts, "./"+name+".boutique.svc.cluster.local")
		}
		d, _ := pl.Decision(subject)
		if diff := cmp.Diff(any(append(hosts, "istio-system/*")), d.Value); diff != "" {
			t.Errorf("%s (-want +got):\n%s", subject, diff)
		}
	}
	if len(pl.Scopes) != 12 {
		t.Errorf("%d scopes, want one for each of 12 workloads", len(pl.Scopes))
	}
}

// bigsale lists the 16 endpoints of 3 Services; shop sees them all, and platform
// the 6 of its own.
func TestWorkedScopesThatAreReported(t *testing.T) {
	pl := exampleOf(t, "bigsale")
	for subject, want := range map[string]string{
		"sidecar/shop.hosts":     "reported, not written: 16 of 1,700 endpoints are listed; the scope would leave 16 of them visible",
		"sidecar/platform.hosts": "reported, not written: 16 of 1,700 endpoints are listed; the scope would leave 6 of them visible",
	} {
		d, ok := pl.Decision(subject)
		if !ok || d.Value != nil || d.Reason != want {
			t.Errorf("%s is %v, for %s", subject, d.Value, d.Reason)
		}
	}
}
