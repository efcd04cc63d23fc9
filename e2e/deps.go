//go:build deps

package deps

import (
	_ "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	_ "github.com/kedacore/keda/v2/controllers/keda"
	_ "github.com/kedacore/keda/v2/pkg/scalers"
	_ "github.com/kedacore/keda/v2/pkg/scaling"
	_ "helm.sh/helm/v3/pkg/engine"
	_ "sigs.k8s.io/kustomize/api/krusty"
	_ "istio.io/istio/manifests"
	_ "istio.io/istio/pilot/pkg/features"
	_ "istio.io/istio/pilot/pkg/bootstrap"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/kubernetes/pkg/controller/podautoscaler"
	_ "k8s.io/kubernetes/pkg/controller/deployment"
	_ "k8s.io/kubernetes/pkg/controller/replicaset"
	_ "k8s.io/metrics/pkg/client/external_metrics"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/controller-runtime/pkg/manager"
	_ "github.com/prometheus/prometheus/promql"
	_ "github.com/prometheus/prometheus/web/api/v1"
)
