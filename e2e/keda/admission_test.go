package keda_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"github.com/meshgen/meshgen/e2e/apiserver"
	"github.com/meshgen/meshgen/e2e/cluster"
)

// admission is a real API server that asks KEDA's admission webhook about every
// ScaledObject, and refuses those about which it gets no answer.
type admission struct {
	server client.Client // decodes strictly
	seen   client.Reader // what the webhook has seen of the server
	said   *warnings
	stop   func()
	used   map[string]bool // namespaces in which something was made
}

func startAdmission(t *testing.T) *admission {
	t.Helper()
	config, at := apiserver.Start(t, webhooks(t))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kedav1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	a := &admission{said: &warnings{}, used: map[string]bool{}}
	a.serve(t, config, at, scheme)
	own := rest.CopyConfig(config)
	own.WarningHandler = a.said
	server, err := client.New(own, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	a.server = client.WithFieldValidation(server, metav1.FieldValidationStrict)
	return a
}

// webhooks is KEDA's own registration of its webhooks, but for one thing: it lets
// an object pass when the webhook does not answer.
func webhooks(t *testing.T) string {
	t.Helper()
	module := apiserver.ModuleDir(t, "..", "github.com/kedacore/keda/v2")
	text, err := os.ReadFile(filepath.Join(module, "config/webhooks/validation_webhooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "webhooks.yaml")
	if err := os.WriteFile(path, replaced(t, text, "failurePolicy: Ignore", "failurePolicy: Fail"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serve runs KEDA's webhook as its main program does.
func (a *admission) serve(t *testing.T, config *rest.Config, at envtest.WebhookInstallOptions, scheme *runtime.Scheme) {
	t.Helper()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: at.LocalServingHost, Port: at.LocalServingPort, CertDir: at.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&kedav1alpha1.ScaledObject{}).SetupWebhookWithManager(manager, false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := manager.Start(ctx); err != nil {
			t.Errorf("KEDA's webhook: %v", err)
		}
	})
	a.seen = manager.GetCache()
	a.stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(a.stop)
	ready := manager.GetWebhookServer().StartedChecker()
	until(t, "KEDA's webhook listens", func() bool { return ready(nil) == nil })
}

// until waits for what takes a moment.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// warnings are those that came with an answer of the API server.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader keeps a warning.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// take gives the warnings since it was last called.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

// create sends an object as it was rendered, and gives the warnings that came
// back.
func (a *admission) create(t *testing.T, text []byte) ([]string, error) {
	t.Helper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		t.Fatal(err)
	}
	a.said.take()
	err := a.server.Create(context.Background(), &object)
	return a.said.take(), err
}

// prepare makes what is there before the ScaledObjects of a mesh come: their
// targets, and the HPAs that the profile says run today. The webhook has seen all
// of it when prepare returns.
func (a *admission) prepare(t *testing.T, m mesh) {
	t.Helper()
	var before []client.Object
	for _, object := range m.objects {
		before = append(before, target(object, requested()))
	}
	for _, service := range cluster.ReadProfile(t, m.profile).Services {
		if name := service.Autoscaling.Running.HPA; name != "" {
			before = append(before, running(name, service))
		}
	}
	for _, object := range before {
		a.make(t, object)
	}
}

func (a *admission) make(t *testing.T, object client.Object) {
	t.Helper()
	a.used[object.GetNamespace()] = true
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.GetNamespace()}}
	if err := a.server.Create(context.Background(), namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if err := a.server.Create(context.Background(), object); err != nil {
		t.Fatalf("%s/%s: %v", object.GetNamespace(), object.GetName(), err)
	}
	a.notice(t, object)
}

// notice waits until the webhook has seen an object.
func (a *admission) notice(t *testing.T, object client.Object) {
	t.Helper()
	key, copied := client.ObjectKeyFromObject(object), object.DeepCopyObject().(client.Object)
	until(t, "KEDA's webhook sees "+key.String(), func() bool {
		return a.seen.Get(context.Background(), key, copied) == nil
	})
}

func requested() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
}

// target is the workload that a ScaledObject aims at, with a container beside the
// one that it may name.
func target(of rendered, requests corev1.ResourceList) client.Object {
	names := []string{"proxy"}
	for _, trigger := range of.Spec.Triggers {
		if name := trigger.Metadata["containerName"]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	labels := map[string]string{"app": "any"}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	for _, name := range names {
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{
			Name: name, Image: "image", Resources: corev1.ResourceRequirements{Requests: requests},
		})
	}
	name := metav1.ObjectMeta{Name: of.Spec.ScaleTargetRef.Name, Namespace: of.Namespace}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	if of.Spec.ScaleTargetRef.Kind == "StatefulSet" {
		return &appsv1.StatefulSet{ObjectMeta: name, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}}
	}
	return &appsv1.Deployment{ObjectMeta: name, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
}

// running is the HPA that scales the workload of a service today.
func running(name string, s cluster.Service) *autoscalingv2.HorizontalPodAutoscaler {
	kind := s.Workload.Kind
	if kind == "" {
		kind = "Deployment"
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.Namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: kind, Name: s.Workload.Name},
			MaxReplicas:    100,
		},
	}
}

// clear takes everything away that prepare and create made, so that the next mesh
// may have the same names.
func (a *admission) clear(t *testing.T) {
	t.Helper()
	kinds := map[client.Object]client.ObjectList{
		&kedav1alpha1.ScaledObject{}:             &kedav1alpha1.ScaledObjectList{},
		&autoscalingv2.HorizontalPodAutoscaler{}: &autoscalingv2.HorizontalPodAutoscalerList{},
		&appsv1.Deployment{}:                     &appsv1.DeploymentList{},
		&appsv1.StatefulSet{}:                    &appsv1.StatefulSetList{},
	}
	for kind, list := range kinds {
		for namespace := range a.used {
			if err := a.server.DeleteAllOf(context.Background(), kind, client.InNamespace(namespace)); err != nil {
				t.Fatal(err)
			}
		}
		until(t, fmt.Sprintf("KEDA's webhook sees that every %T has gone", kind), func() bool {
			err := a.seen.List(context.Background(), list)
			return err == nil && meta.LenList(list) == 0
		})
	}
}

// KEDA's webhook accepts every ScaledObject, beside the HPAs that run today, and
// warns of nothing; it refuses damaged ones; and it was asked about each.
func TestAdmission(t *testing.T) {
	t.Parallel()
	a := startAdmission(t)
	accepted := map[string]int{}
	for _, m := range meshes(t) {
		a.prepare(t, m)
		for _, object := range m.objects {
			said, err := a.create(t, object.text)
			if err != nil || len(said) > 0 {
				t.Errorf("%s: %v, warnings %q", object.path, err, said)
				continue
			}
			accepted[m.name]++
		}
		a.clear(t)
	}
	if diff := cmp.Diff(map[string]int{"bigsale": 4, "boutique": 1, "featureflag": 1, "thousand": 309, "worldwide": 4}, accepted); diff != "" {
		t.Errorf("ScaledObjects accepted, by cluster (-want +got):\n%s", diff)
	}

	m := example(t, "bigsale")
	a.prepare(t, m)
	cart := m.objects[slices.IndexFunc(m.objects, func(r rendered) bool { return r.Name == "cart" })]
	a.refuses(t, cart)
	a.stop()
	if _, err := a.create(t, cart.text); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("with the webhook gone: %v", err)
	}
}

// refuses damages a ScaledObject that takes over an HPA.
func (a *admission) refuses(t *testing.T, cart rendered) {
	bare := cart
	bare.Spec.ScaleTargetRef = &kedav1alpha1.ScaleTarget{Name: "bare"}
	a.make(t, target(bare, nil))
	for name, c := range map[string]struct{ old, new, want string }{
		"more replicas at least than at most":              {"minReplicaCount: 6", "minReplicaCount: 61", "minReplicaCount must be less than or equal to maxReplicaCount"},
		"a name for two triggers":                          {"name: event_big_sale", "name: cpu", `triggerName "cpu" is defined multiple times`},
		"an HPA that is not taken over":                    {`transfer-hpa-ownership: "true"`, `transfer-hpa-ownership: "false"`, "is already managed by the hpa 'cart'"},
		"an HPA that is taken over by another name":        {"horizontalPodAutoscalerConfig:\n      name: cart", "horizontalPodAutoscalerConfig:\n      name: carts", "the existing hpa 'cart' for workload 'cart'"},
		"a fallback where nothing but resources are asked": {"type: prometheus", "type: memory", "has to have the `AverageValue` type for the fallback"},
		"a share of a request that is not made":            {"scaleTargetRef:\n    name: cart", "scaleTargetRef:\n    name: bare", "doesn't have the cpu request defined"},
		"a field that KEDA does not have":                  {"minReplicaCount: 6", "minReplicas: 6", "unknown field"},
		"a number where KEDA has text":                     {`value: "60"`, "value: 60", "must be of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := a.create(t, replaced(t, cart.text, c.old, c.new)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
	said, err := a.create(t, replaced(t, cart.text, "minReplicaCount: 6", "pollingInterval: 30\n  minReplicaCount: 6"))
	if err != nil || len(said) != 1 || !strings.Contains(said[0], "PollingInterval") {
		t.Errorf("an interval that means nothing: %v, warnings %q, want one", err, said)
	}
	a.notice(t, &cart.ScaledObject)
	twin := replaced(t, cart.text, "  name: cart\n  namespace", "  name: cart-too\n  namespace")
	if _, err := a.create(t, twin); err == nil || !strings.Contains(err.Error(), "is already managed by the ScaledObject 'cart'") {
		t.Errorf("two on one target: %v", err)
	}
}

// replaced is a text with some of it replaced, which must be there.
func replaced(t *testing.T, text []byte, old, with string) []byte {
	t.Helper()
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("no %q in:\n%s", old, text)
	}
	return bytes.ReplaceAll(text, []byte(old), []byte(with))
}
