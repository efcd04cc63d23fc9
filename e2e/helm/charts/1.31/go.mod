module github.com/meshgen/meshgen/e2e/helm/charts/1.31

go 1.26

// The charts and the sources of Istio 1.31.
require istio.io/istio v0.0.0-20260827124520-eed52ebb66ad
