package hints

import (
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/endpointslice/trafficdist"
)

// Writer is what decides the hints of a Service.
type Writer string

// The annotation wins over the field, also where it comes to no hints.
const (
	Annotation Writer = "annotation"
	Field      Writer = "field"
	Nobody     Writer = "nobody"
)

// WrittenBy says what decides the hints of a Service with those annotations and
// that spec.trafficDistribution. Of the two annotations the older one wins, and
// only Auto and auto count (k8s.io/endpointslice v0.37.2, hintsEnabled and
// canUseTrafficDistribution, both in a package that needs a client).
func WrittenBy(annotations map[string]string, field string) Writer {
	mode, ok := annotations[core.DeprecatedAnnotationTopologyAwareHints]
	if !ok {
		mode = annotations[core.AnnotationTopologyMode]
	}
	switch {
	case mode == "Auto" || mode == "auto":
		return Annotation
	case len(byField(field, []int64{1})[0].ForZones) > 0:
		return Field
	}
	return Nobody
}

// byField is the hint of each Ready endpoint under a value of the field, zone
// by zone; an empty one where Kubernetes gives none.
func byField(value string, ready []int64) []discovery.EndpointHints {
	slice := &discovery.EndpointSlice{Endpoints: endpoints(ready)}
	trafficdist.ReconcileHints(&value, []*discovery.EndpointSlice{slice}, nil, nil)
	var hints []discovery.EndpointHints
	for _, e := range slice.Endpoints {
		if e.Hints == nil {
			e.Hints = &discovery.EndpointHints{}
		}
		hints = append(hints, *e.Hints)
	}
	return hints
}
