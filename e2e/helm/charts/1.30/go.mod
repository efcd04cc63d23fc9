module github.com/meshgen/meshgen/e2e/helm/charts/1.30

go 1.26

// The charts and the sources of Istio 1.30.
require istio.io/istio v0.0.0-20260826214018-9739e10eb9d7
