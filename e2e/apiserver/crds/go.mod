// Where the CRDs of Argo CD and of prometheus-operator are read from: later
// releases need a later Go, or are not to be had as modules. Nothing is compiled.
module github.com/meshgen/meshgen/e2e/apiserver/crds

go 1.26.7

require (
	github.com/argoproj/argo-cd/v3 v3.5.7
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
