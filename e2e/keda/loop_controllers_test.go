package keda_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	hpametrics "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/external_metrics"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	eventingv1alpha1 "github.com/kedacore/keda/v2/apis/eventing/v1alpha1"
	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	kedacontrollers "github.com/kedacore/keda/v2/controllers/keda"
	"github.com/kedacore/keda/v2/pkg/eventemitter"
	kedak8s "github.com/kedacore/keda/v2/pkg/k8s"
	"github.com/kedacore/keda/v2/pkg/scalers/authentication"
	"github.com/kedacore/keda/v2/pkg/scaling"
	kedautil "github.com/kedacore/keda/v2/pkg/util"

	"github.com/meshgen/meshgen/e2e/apiserver"
)

// The controllers as kube-controller-manager starts them; the HPA's durations
// run with the scripts.
const (
	hpaSync              = 15 * time.Second
	hpaDownscale         = 5 * time.Minute
	hpaTolerance         = 0.1
	hpaCPUInitialization = 5 * time.Minute
	hpaInitialReadiness  = 30 * time.Second
	replicaSetBurst      = 500
	concurrentSyncs      = 5
)

// KEDA waits longer for Prometheus than by default, 3 s: a machine that is busy
// with other tests is no outage.
const kedaHTTPTimeout = 20 * time.Second

// What a pod requests of CPU, in millicores, and how much of it is used.
const cpuRequest, cpuPercent = 1000, 60

// controlPlane are the controllers that move replicas, all of them in this
// process and on a real API server: KEDA's operator, and of Kubernetes the HPA,
// Deployment and ReplicaSet controllers. Stand-ins are: the aggregated metrics
// APIs, which are asked directly, and scheduler and kubelet, for which a pod is
// ready some time after it is made.
type controlPlane struct {
	ctx    context.Context
	client client.Client
	kube   kubernetes.Interface
	pods   cache.SharedIndexInformer

	mu   sync.Mutex
	runs map[string]*scriptRun // by namespace
}

func startControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	config, _ := apiserver.Start(t)
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	kube := kubernetes.NewForConfigOrDie(config)
	shared := informers.NewSharedInformerFactory(kube, 0)
	c := &controlPlane{ctx: ctx, kube: kube, pods: shared.Core().V1().Pods().Informer(), runs: map[string]*scriptRun{}}
	manager, handler := c.startKEDA(t, config)
	c.client = manager.GetClient()

	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		if err := manager.Start(ctx); err != nil {
			t.Errorf("KEDA's operator: %v", err)
		}
	})
	for _, run := range []func(context.Context, int){
		c.deployments(t, shared).Run,
		replicaset.NewReplicaSetController(ctx, shared.Apps().V1().ReplicaSets(), shared.Core().V1().Pods(), kube, replicaSetBurst).Run,
		c.autoscaler(t, config, manager, handler, shared).Run,
	} {
		running.Go(func() { run(ctx, concurrentSyncs) })
	}
	c.watch(t, shared)
	shared.Start(ctx.Done())
	shared.WaitForCacheSync(ctx.Done())
	return c
}

// startKEDA sets KEDA's operator up as its main program does.
func (c *controlPlane) startKEDA(t *testing.T, config *rest.Config) (ctrl.Manager, scaling.ScaleHandler) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kedav1alpha1.AddToScheme, eventingv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      ctrlcache.Options{DefaultTransform: kedautil.CacheObjectTransform},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	scales, _, err := kedak8s.InitScaleClient(manager)
	if err != nil {
		t.Fatal(err)
	}
	scales = watchedScales{scales, c.scaled}
	recorder := manager.GetEventRecorder("keda-operator")
	secrets := &authentication.AuthClientSet{CoreV1Interface: c.kube.CoreV1()}
	handler := scaling.NewScaleHandler(manager.GetClient(), scales, scheme, kedaHTTPTimeout, 0, recorder, secrets)
	reconciler := &kedacontrollers.ScaledObjectReconciler{
		Client: manager.GetClient(), Scheme: scheme, ScaleClient: scales, ScaleHandler: handler,
		EventEmitter: eventemitter.NewEventEmitter(manager.GetClient(), recorder, "kubernetes-default", secrets),
	}
	if err := reconciler.SetupWithManager(manager, controller.Options{MaxConcurrentReconciles: concurrentSyncs}); err != nil {
		t.Fatal(err)
	}
	return manager, handler
}

func (c *controlPlane) deployments(t *testing.T, shared informers.SharedInformerFactory) *deployment.DeploymentController {
	t.Helper()
	found, err := deployment.NewDeploymentController(c.ctx, shared.Apps().V1().Deployments(), shared.Apps().V1().ReplicaSets(), shared.Core().V1().Pods(), c.kube)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (c *controlPlane) autoscaler(t *testing.T, config *rest.Config, manager ctrl.Manager, handler scaling.ScaleHandler, shared informers.SharedInformerFactory) *podautoscaler.HorizontalController {
	t.Helper()
	scales, err := scale.NewForConfig(config, manager.GetRESTMapper(), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(c.kube.Discovery()))
	if err != nil {
		t.Fatal(err)
	}
	return podautoscaler.NewHorizontalController(
		c.ctx, c.kube.CoreV1(), watchedScales{scales, c.scaled}, c.kube.AutoscalingV2(), manager.GetRESTMapper(),
		hpametrics.NewRESTMetricsClient(cpuMetrics{c: c}, nil, kedaMetrics{c, handler, ""}),
		shared.Autoscaling().V2().HorizontalPodAutoscalers(), shared.Core().V1().Pods(),
		onWall(hpaSync), onWall(hpaDownscale), hpaTolerance, onWall(hpaCPUInitialization), onWall(hpaInitialReadiness),
	)
}

// run is the script that a namespace belongs to; nil where it has none.
func (c *controlPlane) run(namespace string) *scriptRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[namespace]
}

func (c *controlPlane) add(r *scriptRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[r.namespace] = r
}

// scaled notes that someone has set a number of replicas.
func (c *controlPlane) scaled(namespace string, replicas int) {
	if r := c.run(namespace); r != nil {
		r.scaled(replicas)
	}
}

// watch notes which pods are ready, and makes new ones ready in their time.
func (c *controlPlane) watch(t *testing.T, shared informers.SharedInformerFactory) {
	t.Helper()
	_, err := c.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		pod, isPod := object.(*corev1.Pod)
		if !isPod || podIsReady(pod) {
			return
		}
		var delay time.Duration
		if r := c.run(pod.Namespace); r != nil {
			delay = time.Duration(r.podDelay.Load())
		}
		time.AfterFunc(onWall(delay), func() { c.makeReady(t, pod.DeepCopy()) })
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = shared.Apps().V1().Deployments().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		if d, isDeployment := object.(*appsv1.Deployment); isDeployment {
			if r := c.run(d.Namespace); r != nil {
				r.readied(int(d.Status.ReadyReplicas))
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// makeReady does what a kubelet would report of a pod, unless it is gone by then.
func (c *controlPlane) makeReady(t *testing.T, pod *corev1.Pod) {
	now := metav1.Now()
	pod.ResourceVersion = ""
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	_, err := c.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(c.ctx, pod, metav1.UpdateOptions{})
	if client.IgnoreNotFound(err) != nil && c.ctx.Err() == nil {
		t.Errorf("pod %s/%s: %v", pod.Namespace, pod.Name, err)
	}
}

// readyPods are the names of a namespace's ready pods.
func (c *controlPlane) readyPods(namespace string) ([]string, error) {
	objects, err := c.pods.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, object := range objects {
		if pod, isPod := object.(*corev1.Pod); isPod && podIsReady(pod) {
			names = append(names, pod.Name)
		}
	}
	return names, nil
}

func podIsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// watchedScales tells who sets a number of replicas, once the API server has it:
// the HPA controller and KEDA both scale through one.
type watchedScales struct {
	scale.ScalesGetter
	scaled func(namespace string, replicas int)
}

func (w watchedScales) Scales(namespace string) scale.ScaleInterface {
	return watchedScale{w.ScalesGetter.Scales(namespace), func(replicas int) { w.scaled(namespace, replicas) }}
}

type watchedScale struct {
	scale.ScaleInterface
	scaled func(replicas int)
}

func (w watchedScale) Update(ctx context.Context, resource schema.GroupResource, target *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	set, err := w.ScaleInterface.Update(ctx, resource, target, opts)
	if err == nil {
		w.scaled(int(set.Spec.Replicas))
	}
	return set, err
}

// kedaMetrics answers the HPA controller as KEDA's metrics adapter does: by the
// scale handler, for the ScaledObject that the selector names.
type kedaMetrics struct {
	c         *controlPlane
	handler   scaling.ScaleHandler
	namespace string
}

func (k kedaMetrics) NamespacedMetrics(namespace string) external_metrics.MetricsInterface {
	k.namespace = namespace
	return k
}

func (k kedaMetrics) List(metric string, selector labels.Selector) (*v1beta1.ExternalMetricValueList, error) {
	name, named := selector.RequiresExactMatch(kedav1alpha1.ScaledObjectOwnerAnnotation)
	if !named {
		return nil, fmt.Errorf("metric %s: the selector %q names no ScaledObject", metric, selector)
	}
	values, err := k.handler.GetScaledObjectMetrics(k.c.ctx, name, k.namespace, metric)
	if err != nil {
		return nil, err
	}
	var answer v1beta1.ExternalMetricValueList
	if err := v1beta1.Convert_external_metrics_ExternalMetricValueList_To_v1beta1_ExternalMetricValueList(values, &answer, nil); err != nil {
		return nil, err
	}
	if r := k.c.run(k.namespace); r != nil {
		for _, value := range answer.Items {
			r.answered(metric, value.Value.AsApproximateFloat64())
		}
	}
	return &answer, nil
}

// cpuMetrics says of every ready pod that it uses as much CPU as its HPA aims at.
type cpuMetrics struct {
	resourceclient.PodMetricsInterface // only List is ever called
	c                                  *controlPlane
	namespace                          string
}

func (m cpuMetrics) PodMetricses(namespace string) resourceclient.PodMetricsInterface {
	m.namespace = namespace
	return m
}

func (m cpuMetrics) List(context.Context, metav1.ListOptions) (*metricsv1beta1.PodMetricsList, error) {
	names, err := m.c.readyPods(m.namespace)
	if err != nil {
		return nil, err
	}
	var all metricsv1beta1.PodMetricsList
	for _, name := range names {
		all.Items = append(all.Items, metricsv1beta1.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: m.namespace},
			Timestamp:  metav1.Now(),
			Window:     metav1.Duration{Duration: onWall(hpaSync)},
			Containers: []metricsv1beta1.ContainerMetrics{{Name: podContainer, Usage: millicores(cpuRequest * cpuPercent / 100)}},
		})
	}
	return &all, nil
}
