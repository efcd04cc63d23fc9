module github.com/meshgen/meshgen/e2e/helm/charts/1.26

go 1.26

// The charts and the sources of Istio 1.26.
require istio.io/istio v0.0.0-20250506181944-c2e9871f340c
