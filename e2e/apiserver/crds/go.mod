// Where the CRDs of prometheus-operator are read from: its later releases are
// not to be had as modules. Nothing of it is compiled.
module github.com/meshgen/meshgen/e2e/apiserver/crds

go 1.26.7

require github.com/prometheus-operator/prometheus-operator v0.85.0
